import { describe, expect, it } from 'vitest'
import { type Said, specOf } from '../spec.ts'
import * as say from './samples.ts'
import { ARQ, handle, OTHER, recorded, REQUEST } from './samples.ts'

const { given, after: afterwards, decide } = specOf('deployable')
const HANDLE = handle(1).uuid
const alone = { handles: [handle(1)] }

/** A deployable whose only handle is in that state, as it gets there. */
const facts: Readonly<Record<string, readonly Said[]>> = {
  free: [],
  held: [{ type: 'Granted', handle: HANDLE, arq: ARQ, order: say.prepareOrder(1, 1) }],
  releasing: [{ type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: say.releaseOrder(1, 2) }],
  quarantined: [{ type: 'OrderFailed', slot: HANDLE, number: 2, reason: 'stuck', again: null }],
  missing: [{ type: 'DeployableDescribed', description: say.describing({ handles: [] }) }],
}
const STATES = Object.keys(facts)
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  free: [],
  held: ['held'],
  releasing: ['held', 'releasing'],
  quarantined: ['held', 'releasing', 'quarantined'],
  missing: ['missing'],
}
const inState = (state: string, hostWork: boolean) =>
  given(recorded({ ...alone, hostWork }), ...BEFORE[state]!.flatMap((one) => facts[one]!)).state

const answer = (number: number, failed: string | null): Said => ({
  type: 'Answer',
  slot: HANDLE,
  number,
  failed,
  final: true,
  retryBy: 1,
})
const described = (handles: readonly object[]): Said => ({
  type: 'Describe',
  description: say.describing({ handles }),
})
const grant: Said = { type: 'Grant', arq: OTHER, bitstream: null, deadline: 1, requestId: REQUEST }
const release: Said = { type: 'Release', arq: ARQ, deadline: 1 }

/** What asks for each move. `done` and `failed` answer the order in hand, so they ask nothing where there is none. */
const asks = {
  grant: { command: grant, hostWork: true },
  release: { command: release, hostWork: false },
  releaseWithWork: { command: release, hostWork: true },
  done: { command: answer(2, null), hostWork: true },
  failed: { command: answer(2, 'stuck'), hostWork: true },
  quarantine: { command: { type: 'Quarantine', handle: HANDLE, ...say.WORD }, hostWork: true },
  clear: { command: { type: 'Clear', handle: HANDLE, deadline: 9000, ...say.WORD }, hostWork: true },
  vanish: { command: described([]), hostWork: true },
  return: { command: described([handle(1)]), hostWork: true },
}
const MOVES = Object.keys(asks) as readonly (keyof typeof asks)[]
// oxlint-disable-next-line typescript/no-explicit-any -- a state is looked into freely
const after = (before: any, command: Said) => {
  const decision = decide(before, command)
  return afterwards(before, ...(decision.ok ? decision.events : [])).handles[HANDLE]
}

/** Whatever is not named leaves the state as it is. */
const REACHES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  free: { grant: 'held', quarantine: 'quarantined', vanish: 'missing' },
  held: { release: 'releasing', releaseWithWork: 'releasing' },
  releasing: { done: 'free', failed: 'quarantined', quarantine: 'quarantined' },
  // its host is told to release it first (SLOT-3), and until then has not proved that it is clean (HANDLE-1)
  quarantined: { release: 'releasing', releaseWithWork: 'releasing', clear: 'releasing' },
  missing: { return: 'free' },
}

describe('every state of an attach handle by every move', () => {
  const pairs = STATES.flatMap((state) => MOVES.map((move) => [state, move, REACHES[state]![move] ?? state] as const))
  it.each(pairs)('%s, %s: %s', (state, move, target) => {
    const { command, hostWork } = asks[move]
    expect(after(inState(state, hostWork), command).state).toBe(target)
  })
  it('held, release of a device without host work: free', () => {
    const granted: Said = { type: 'Granted', handle: HANDLE, arq: ARQ, order: null }
    const held = given(recorded({ ...alone, hostWork: false }), granted).state
    expect(after(held, release)).toMatchObject({ state: 'free', arq: null })
  })
  it('given up while no report shows it: missing, and free again when it returns', () => {
    const gone: Said = {
      type: 'DeployableDescribed',
      description: say.describing({ handles: [], hostWork: false }),
    }
    const facts: Said[] = [
      recorded({ ...alone, hostWork: false }),
      { type: 'Granted', handle: HANDLE, arq: ARQ, order: null },
      gone,
    ]
    const { state } = given(...facts)
    expect(state.handles[HANDLE]).toMatchObject({ state: 'held', unseen: true })
    const back: Said = { type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: null }
    expect(given(...facts, back).state.handles[HANDLE]).toMatchObject({
      state: 'missing',
      arq: null,
    })
    expect(given(...facts, back, recorded(alone)).state.handles[HANDLE]).toMatchObject({
      state: 'free',
    })
  })
  it('quarantined because its release failed: stays so while it is not shown and when it returns, until an operator releases it', () => {
    const started = given(
      recorded({ ...alone, hostWork: true }),
      ...[...BEFORE['releasing']!, 'quarantined' as const].flatMap((one) => facts[one]!),
    ).state
    const [gone, back] = [described([]), described([handle(1)])]
    const through = (...commands: readonly Said[]) =>
      commands.reduce((held, command) => {
        const decision = decide(held, command)
        if (!decision.ok) throw new Error(JSON.stringify(decision.fault))
        return afterwards(held, ...decision.events)
      }, started)
    expect(through(gone).handles[HANDLE]).toMatchObject({ state: 'quarantined', unseen: true })
    expect(through(gone, back).handles[HANDLE]).toMatchObject({ state: 'quarantined', unseen: false })
    expect(decide(through(gone, back), grant).ok).toBe(false)
    // an operator can say that it is clean, also while it is not shown, and by hand also where its host does not answer
    expect(through(gone, asks.clear.command, answer(3, null)).handles[HANDLE]).toMatchObject({ state: 'missing' })
    const cleared = through(gone, asks.quarantine.command, asks.clear.command).handles[HANDLE]
    expect(cleared).toMatchObject({ state: 'missing' })
    expect(cleared).not.toHaveProperty('prepared')
    expect(through(gone, asks.quarantine.command, asks.clear.command, back).handles[HANDLE]).toMatchObject({
      state: 'free',
    })
  })
  it('of a release before 0.3.0, quarantined and not shown: missing, as it was recorded then', () => {
    const vanished: Said = { type: 'DeployableDescribed', description: say.describing({ handles: [] }) }
    const facts_ = [recorded({ ...alone, hostWork: true }), ...BEFORE['releasing']!.flatMap((one) => facts[one]!)]
    const { state } = given(...facts_, ...facts['quarantined']!, vanished)
    expect(state.handles[HANDLE]).toMatchObject({ state: 'missing' })
  })
  it('of three handles the middle one vanishes: the others keep their UUIDs (C3)', () => {
    const three = recorded({ handles: [handle(1), handle(2), handle(3)] })
    const two: Said = {
      type: 'DeployableDescribed',
      description: say.describing({ handles: [handle(1), handle(3)] }),
    }
    const { handles } = given(three, two).state
    expect(Object.values<Record<string, unknown>>(handles).map(({ uuid, state }) => [uuid, state])).toEqual([
      [handle(1).uuid, 'free'],
      [handle(3).uuid, 'free'],
      [handle(2).uuid, 'missing'],
    ])
  })
})
