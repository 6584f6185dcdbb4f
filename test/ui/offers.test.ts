/** What the console offers for a thing agrees with what its decider accepts, state by state. */
import { describe, expect, test } from 'vitest'
import { arq } from '../../src/actors/arq/decider.ts'
import type { ArqCommand, ArqEvent } from '../../src/actors/arq/messages.ts'
import { ARQ_STATES, type ArqState } from '../../src/actors/arq/states.ts'
import { deployable } from '../../src/actors/deployable/decider.ts'
import type { DeployableCommand, DeployableEvent, Description } from '../../src/actors/deployable/messages.ts'
import { HANDLE_STATES, type HandleState } from '../../src/actors/deployable/states.ts'
import { device } from '../../src/actors/device/decider.ts'
import { type Host, type HostCommand, host, hostRow } from '../../src/actors/host/decider.ts'
import { type ProfileCommand, profile } from '../../src/actors/profile/decider.ts'
import { actionOf, hindrance } from '../../src/ui/actions.ts'
import { profileStand } from '../../src/ui/profileActions.ts'
import type { Overview } from '../../src/ui/shapes.ts'
import {
  AT_WORK,
  UNCLEANED,
  handleActionState,
  hostActionState,
  instanceActionState,
} from '../../src/ui/actionStates.ts'
import { type Loaded, loaded, pageError } from '../../src/ui/loaded.ts'
import {
  ARQ,
  WORD,
  bond,
  created,
  describing,
  handle,
  prepareOrder,
  recorded,
  releaseOrder,
} from '../actors/samples.ts'
import { specOf } from '../spec.ts'

const HANDLE = handle(1).uuid
/** Whether the command would change anything. */
const changes = ({ ok, ...decision }: { readonly ok: boolean; readonly events?: readonly unknown[] }): boolean =>
  ok && (decision.events ?? []).length > 0
const isOffered = (kind: string, name: string, state: string): boolean =>
  hindrance(actionOf(kind, name)!, state, {}) === null

const GIVEN_UP: readonly DeployableEvent[] = [
  { type: 'Granted', handle: HANDLE, arq: ARQ, order: prepareOrder(1, 1) },
  { type: 'HandleReleased', handle: HANDLE, arq: ARQ, order: releaseOrder(1, 2) },
]
const HANDLE_FACTS: Record<HandleState, readonly DeployableEvent[]> = {
  free: [],
  held: GIVEN_UP.slice(0, 1),
  releasing: GIVEN_UP,
  quarantined: [...GIVEN_UP, { type: 'OrderFailed', slot: HANDLE, number: 2, reason: 'stuck', again: null }],
  missing: [{ type: 'DeployableDescribed', description: describing({ handles: [] }) }],
}
const CLEANED = { cleaning: 'by_host' } as const
const handleIn = (events: readonly DeployableEvent[], cleaning: Pick<Description, 'cleaning'> = CLEANED) => {
  const shown = recorded({ handles: [handle(1)], hostWork: true, ...cleaning })
  const { state: held } = specOf(deployable).given(shown, ...events)
  const { state, pending } = held.handles[HANDLE]!
  const stand = handleActionState({
    state,
    order: pending?.number ?? null,
    cleaning: { policy: held.hostCleaning ?? null },
  })
  return { held, stand }
}

const STARTED: ArqEvent = { type: 'BindStarted', bond, projectId: null }
const UNBOUND: ArqEvent = { type: 'Unbound', was: bond }
const ARQ_FACTS: Partial<Record<ArqState, readonly ArqEvent[]>> = {
  Initial: [],
  BindStarted: [STARTED],
  Bound: [STARTED, { type: 'Bound', workMs: 1 }],
  BindFailed: [STARTED, { type: 'BindFailed', reason: 'stuck' }],
  Unbound: [STARTED, UNBOUND],
  UnbindFailed: [STARTED, UNBOUND, { type: 'ReleaseFailed', reason: 'stuck' }],
}
const arqChanges = (state: ArqState, command: ArqCommand): boolean =>
  changes(arq.decide(specOf(arq).given(created, ...(ARQ_FACTS[state] ?? [])).state, command))

/** What the service would do, and the console does not offer, with the reason. */
const NOT_OFFERED: Readonly<Record<string, readonly string[]>> = {
  // it is withheld already; who wants to record a reason of his own uses the command
  'handles quarantine': ['quarantined', AT_WORK, UNCLEANED],
  // Nova deletes what an instance has, with the instance; an operator ends it by force
  'arqs delete': ['BindStarted', 'Bound', 'BindFailed', 'UnbindFailed'],
  // it was never in service, and is refused by not accepting its key
  'hosts retire': ['pending, a key waits'],
  // there is nothing to unbind
  'arqs force-unbind': ['Initial'],
  // a handle that nobody has is clean already
  'handles clean': ['free'],
}
const agrees = (kind: string, name: string, state: string, wouldChange: boolean): void => {
  const kept = NOT_OFFERED[`${kind} ${name}`]?.includes(state) === true
  expect([isOffered(kind, name, state), kept && !wouldChange]).toEqual([wouldChange && !kept, false])
}

describe('of attach handles', () => {
  const commands: Readonly<Record<string, DeployableCommand>> = {
    quarantine: { type: 'Quarantine', handle: HANDLE, ...WORD },
    release: { type: 'Clear', handle: HANDLE, deadline: 9000, ...WORD },
    clean: { type: 'Clean', handle: HANDLE, deadline: 9000, ...WORD },
  }
  const standing = [
    ...HANDLE_STATES.map((state) => handleIn(HANDLE_FACTS[state])),
    handleIn(HANDLE_FACTS.quarantined, {}),
    handleIn(HANDLE_FACTS.quarantined, { cleaning: 'by_operator' }),
    handleIn([...GIVEN_UP, { type: 'HandleQuarantined', handle: HANDLE, until: 'confirmed', ...WORD }]),
  ]
  const cases = Object.entries(commands).flatMap(([name, command]) =>
    standing.map(({ stand, held }) => [name, stand, deployable.decide(held, command)] as const),
  )
  test.each(cases)('%s of one that is %s', (name, stand, decision) => agrees('handles', name, stand, changes(decision)))
  test('all states have been met', () => {
    expect(standing.map(({ stand }) => stand)).toEqual([...HANDLE_STATES, UNCLEANED, UNCLEANED, AT_WORK])
  })
})

describe('of accelerator requests', () => {
  const commands: Readonly<Record<string, ArqCommand>> = {
    'force-unbind': { type: 'Unbind', forced: WORD },
    delete: { type: 'Remove' },
  }
  const cases = Object.entries(commands).flatMap(([name, command]) =>
    ARQ_STATES.filter((state) => ARQ_FACTS[state]).map((state) => [name, state, command] as const),
  )
  test.each(cases)('%s of one that is %s', (name, state, command) =>
    agrees('arqs', name, state, arqChanges(state, command)),
  )
})

describe('of hosts', () => {
  const known = { ...host.initial, exists: true, name: 'h1' }
  const retired = { ...WORD, at: 1 }
  const offered = { offered: { key: 'k', at: 1 } }
  const hosts = [
    ...(['up', 'stale', 'down'] as const).map((liveness) => ({ ...known, liveness })),
    { ...known, retired },
    { ...known, liveness: 'removed' as const, retired },
    { ...known, keys: { key: 'k' } },
  ]
  const waiting = [...hosts.slice(0, 5), { ...known, exists: false }].map((held) => ({ ...held, keys: offered }))
  const standOf = (held: Host) =>
    hostActionState({
      liveness: hostRow(held).liveness,
      retired: held.retired === undefined ? null : { ...held.retired, at: '' },
      public_key: held.keys?.key ?? null,
      offered_key: held.keys?.offered?.key ?? null,
    })
  const commands: Readonly<Record<string, HostCommand>> = {
    retire: { type: 'Retire', devices: {}, ...WORD },
    restore: { type: 'Restore', ...WORD },
    approve: { type: 'ApproveKey', name: 'h1', named: null, ...WORD },
  }
  const cases = Object.entries(commands).flatMap(([name, command]) =>
    [...hosts, ...waiting].map((held) => [name, standOf(held), host.decide(held, command)] as const),
  )
  test.each(cases)('%s of one that is %s', (name, stand, decision) => agrees('hosts', name, stand, changes(decision)))
})

describe('of profiles', () => {
  const facts = { uuid: ARQ, name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }
  const versions = (...enabled: readonly boolean[]) =>
    enabled.map((on, at) => ({ ...facts, version: at + 1, enabled: on, createdAt: 1 }))
  const held = (...enabled: readonly boolean[]) => ({ ...profile.initial, facts, versions: versions(...enabled) })
  const states = [held(true), held(true, false), held(false, true), held(false), held(false, false)]
  test.each(states.map((state) => [state.versions.map(({ enabled }) => enabled).join(), state] as const))(
    'with versions that are enabled: %s',
    (_, state) => {
      const listed = state.versions.map(({ createdAt: _created, ...one }) => ({ ...one, created_at: '' }))
      const shown = { ...facts, version: 1, enabled: true, projects: null, created_at: '', updated_at: null }
      const { state: stand, known } = profileStand(shown, listed)
      const update = { type: 'Update', ifVersion: null, enabled: true, versions: [], ...WORD } as const
      const switched = (version: string | undefined, enabled: boolean) =>
        ({ ...update, versions: version ? [{ version: Number(version), enabled }] : [] }) as const
      const commands: Readonly<Record<string, ProfileCommand>> = {
        version: { ...update, groups: [{ 'resources:FPGA': '2' }] },
        disable: switched(known['enabled'], false),
        enable: switched(known['disabled'], true),
        delete: { type: 'Remove' },
      }
      for (const [name, command] of Object.entries(commands))
        agrees('profiles', name, stand, changes(profile.decide(state, command)))
    },
  )
})

test('of instances: Nova is told once more only where there is a Nova, and when no bind is under way', () => {
  const overview = (nova: string) => loaded({ program: { nova } } as unknown as Overview)
  const members = (...states: readonly string[]) => states.map((state) => ({ state }))
  const offered = (states: readonly string[], loadedOverview: Loaded<Overview>) => {
    const stand = instanceActionState(members(...states), loadedOverview)
    return hindrance(actionOf('instances', 'resend')!, stand, {})
  }
  expect(offered(['Bound', 'BindFailed'], overview('in use'))).toBe(null)
  expect(offered(['Bound', 'BindStarted'], overview('in use'))).toBe('no bind of it has ended')
  expect(offered(['Bound'], overview('absent'))).toBe('no Nova is configured that could be told')
  // who may not read the overview is not kept from asking
  expect(offered(['Bound'], pageError('forbidden', 'no'))).toBe(null)
})

describe('of devices', () => {
  test.each([
    ['disable', 'enabled', 'maintaining'],
    ['disable', 'maintaining', 'maintaining'],
    ['enable', 'enabled', 'enabled'],
    ['enable', 'maintaining', 'enabled'],
  ] as const)('%s of one that is %s', (name, state, status) => {
    const held = { ...device.initial, exists: true, status: state }
    agrees('devices', name, state, changes(device.decide(held, { type: 'SetStatus', status })))
  })
})
