import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { deployable } from '../../src/actors/deployable/decider.ts'
import type { DeployableCommand, DeployableEvent, Description } from '../../src/actors/deployable/messages.ts'
import type { Deployable, SlotHandle } from '../../src/actors/deployable/state.ts'
import {
  diagram,
  HANDLE_MOVES,
  HANDLE_STATES,
  type HandleMove,
  type HandleState,
  MOVES,
  next,
} from '../../src/actors/deployable/states.ts'
import { specOf } from '../spec.ts'
import * as say from './samples.ts'
import { ARQ, handle, OTHER, recorded, REQUEST } from './samples.ts'

const HANDLE = handle(1).uuid
const alone = { handles: [handle(1)] }

/** A deployable whose only handle is in that state, as it gets there. */
const facts: Record<HandleState, readonly DeployableEvent[]> = {
  free: [],
  held: [{ type: 'Granted', handle: HANDLE, arq: ARQ, order: say.prepareOrder(1, 1) }],
  releasing: [{ type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: say.releaseOrder(1, 2) }],
  quarantined: [{ type: 'OrderFailed', slot: HANDLE, number: 2, reason: 'stuck', again: null }],
  missing: [{ type: 'DeployableDescribed', description: say.describing({ handles: [] }) }],
}
const BEFORE: Record<HandleState, readonly HandleState[]> = {
  free: [],
  held: ['held'],
  releasing: ['held', 'releasing'],
  quarantined: ['held', 'releasing', 'quarantined'],
  missing: ['missing'],
}
const inState = (state: HandleState, hostWork: boolean): Deployable =>
  specOf(deployable).given(recorded({ ...alone, hostWork }), ...BEFORE[state].flatMap((one) => facts[one])).state

const answer = (number: number, failed: string | null): DeployableCommand => ({
  type: 'Answer',
  slot: HANDLE,
  number,
  failed,
  final: true,
  retryBy: 1,
})
const described = (handles: Description['handles']): DeployableCommand => ({
  type: 'Describe',
  description: say.describing({ handles }),
})
const grant: DeployableCommand = { type: 'Grant', arq: OTHER, bitstream: null, deadline: 1, requestId: REQUEST }
const release: DeployableCommand = { type: 'Release', arq: ARQ, deadline: 1 }

/** What asks for each move. `done` and `failed` answer the order in hand, so they ask nothing where there is none. */
const asks: Record<HandleMove, { readonly command: DeployableCommand; readonly hostWork: boolean }> = {
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
const after = (before: Deployable, command: DeployableCommand): SlotHandle => {
  const decision = deployable.decide(before, command)
  const events = decision.ok ? decision.events : []
  return events.reduce((held, event) => deployable.evolve(held, event, 2), before).handles[HANDLE]!
}

/**
 * Where the actor is wiser than the move's name: nothing was ordered of a held handle that is free of host work, so
 * nothing is left to be done there; one that was ordered, or whose release failed, is released by the host whatever the
 * device says.
 */
const reaches = (state: HandleState, move: HandleMove): HandleState => {
  if (move === 'release' && state !== 'free' && state !== 'missing') return 'releasing'
  // only lost rows put a missing handle in doubt: an operator has nothing to withhold
  if (move === 'quarantine' && state === 'missing') return state
  if ((move === 'done' || move === 'failed') && state === 'quarantined') return state
  // the host whose release failed is told to release it first (SLOT-3)
  if (move === 'clear' && state === 'quarantined') return 'releasing'
  // its host has not proved that it is released and clean (HANDLE-1)
  if (move === 'vanish' && state === 'quarantined') return state
  return next(state, move) ?? state
}

describe('every state of an attach handle by every move', () => {
  const pairs = HANDLE_STATES.flatMap((state) =>
    HANDLE_MOVES.map((move) => [state, move, reaches(state, move)] as const),
  )
  it.each(pairs)('%s, %s: %s', (state, move, target) => {
    const { command, hostWork } = asks[move]
    expect(after(inState(state, hostWork), command).state).toBe(target)
  })
  it('held, release of a device without host work: free', () => {
    const granted: DeployableEvent = { type: 'Granted', handle: HANDLE, arq: ARQ, order: null }
    const held = specOf(deployable).given(recorded({ ...alone, hostWork: false }), granted).state
    expect(after(held, release)).toMatchObject({ state: 'free', arq: null })
  })
  it('given up while no report shows it: missing, and free again when it returns', () => {
    const gone: DeployableEvent = {
      type: 'DeployableDescribed',
      description: say.describing({ handles: [], hostWork: false }),
    }
    const facts: DeployableEvent[] = [
      recorded({ ...alone, hostWork: false }),
      { type: 'Granted', handle: HANDLE, arq: ARQ, order: null },
      gone,
    ]
    const { state } = specOf(deployable).given(...facts)
    expect(state.handles[HANDLE]).toMatchObject({ state: 'held', unseen: true })
    const given: DeployableEvent = { type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: null }
    expect(specOf(deployable).given(...facts, given).state.handles[HANDLE]).toMatchObject({
      state: 'missing',
      arq: null,
    })
    expect(specOf(deployable).given(...facts, given, recorded(alone)).state.handles[HANDLE]).toMatchObject({
      state: 'free',
    })
  })
  it('quarantined because its release failed: stays so while it is not shown and when it returns, until an operator releases it', () => {
    const started = specOf(deployable).given(
      recorded({ ...alone, hostWork: true }),
      ...[...BEFORE.releasing, 'quarantined' as const].flatMap((one) => facts[one]),
    ).state
    const [gone, back] = [described([]), described([handle(1)])]
    const through = (...commands: readonly DeployableCommand[]) =>
      commands.reduce((held, command) => {
        const decision = deployable.decide(held, command)
        if (!decision.ok) throw new Error(JSON.stringify(decision.fault))
        return decision.events.reduce((before, event) => deployable.evolve(before, event, 2), held)
      }, started)
    expect(through(gone).handles[HANDLE]).toMatchObject({ state: 'quarantined', unseen: true })
    expect(through(gone, back).handles[HANDLE]).toMatchObject({ state: 'quarantined', unseen: false })
    expect(deployable.decide(through(gone, back), grant).ok).toBe(false)
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
    const vanished: DeployableEvent = { type: 'DeployableDescribed', description: say.describing({ handles: [] }) }
    const facts_ = [recorded({ ...alone, hostWork: true }), ...BEFORE.releasing.flatMap((one) => facts[one])]
    const { state } = specOf(deployable).given(...facts_, ...facts.quarantined, vanished)
    expect(state.handles[HANDLE]).toMatchObject({ state: 'missing' })
  })
  it('of three handles the middle one vanishes: the others keep their UUIDs (C3)', () => {
    const three = recorded({ handles: [handle(1), handle(2), handle(3)] })
    const two: DeployableEvent = {
      type: 'DeployableDescribed',
      description: say.describing({ handles: [handle(1), handle(3)] }),
    }
    const { handles } = specOf(deployable).given(three, two).state
    expect(Object.values(handles).map(({ uuid, state }) => [uuid, state])).toEqual([
      [handle(1).uuid, 'free'],
      [handle(3).uuid, 'free'],
      [handle(2).uuid, 'missing'],
    ])
  })
  it('is drawn with every arrow of the table', () => {
    const arrows = Object.values(MOVES).flatMap((moves) => Object.keys(moves)).length
    expect(diagram().split('\n')).toHaveLength(arrows + 1)
  })
})

it('the states of a handle are those of the printed diagram', () => {
  const printed = readFileSync(new URL('../../infra/contracts/states/deployable.md', import.meta.url), 'utf8')
  expect(printed).toContain(`\n${diagram()}\n`)
  expect(diagram().split('\n')[0]).toBe('stateDiagram-v2')
  expect(diagram().match(/-->/g)).toHaveLength(17)
  expect(HANDLE_STATES).toEqual(['free', 'held', 'releasing', 'quarantined', 'missing'])
})
