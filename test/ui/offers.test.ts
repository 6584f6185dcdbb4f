/** What the console offers for a thing agrees with what its decider accepts, state by state. */
import { describe, expect, test } from 'vitest'
import { arq } from '../../src/actors/arq/decider.ts'
import type { ArqCommand, ArqEvent } from '../../src/actors/arq/messages.ts'
import { ARQ_STATES, type ArqState } from '../../src/actors/arq/states.ts'
import { deployable } from '../../src/actors/deployable/decider.ts'
import type { DeployableCommand, DeployableEvent } from '../../src/actors/deployable/messages.ts'
import { HANDLE_STATES, type HandleState } from '../../src/actors/deployable/states.ts'
import { device } from '../../src/actors/device/decider.ts'
import { actionOf, hindrance } from '../../src/ui/actions.ts'
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
const handleChanges = (state: HandleState, command: DeployableCommand): boolean => {
  const shown = recorded({ handles: [handle(1)], hostWork: true, cleaning: 'by_host' })
  return changes(deployable.decide(specOf(deployable).given(shown, ...HANDLE_FACTS[state]).state, command))
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
  'handles quarantine': ['quarantined'],
  // Nova deletes what an instance has, with the instance; an operator ends it by force
  'arqs delete': ['BindStarted', 'Bound', 'BindFailed', 'UnbindFailed'],
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
  const cases = Object.entries(commands).flatMap(([name, command]) =>
    HANDLE_STATES.map((state) => [name, state, command] as const),
  )
  test.each(cases)('%s of one that is %s', (name, state, command) =>
    agrees('handles', name, state, handleChanges(state, command)),
  )
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
