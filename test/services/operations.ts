/** Every question and every command of the control port, with something for it to do in the cloud of `livedIn.ts`. */
import type { Caller, Control } from '../../src/actors/control.ts'
import { type Outcome, done } from '../../src/vocabulary/fault.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { InventoryReport, Report } from '../../src/wire/reports.ts'
import type { ControlPlane } from '../../src/services/controlPlane.ts'
import { shown, slot } from '../actors/cards.ts'
import { NOVA, TENANT } from '../support/plane.ts'
import { heartbeatOf, inventoryOf } from '../support/reports.ts'
import { ADMIN, DEVICES, GPU, IMAGE, RETURNING, type LivedIn, NOTE, flat } from './livedIn.ts'

type Names = LivedIn['names']
/** `caller`: an administrator, whose command has an id. */
export type Operation = (
  control: Control,
  names: Names,
  caller: Caller,
  plane: ControlPlane,
) => Promise<Outcome<unknown>>

const INSTANCE = '80000000-0000-4000-8000-000000000001'
const FORMER_BOOT = '80000000-0000-4000-8000-000000000002'
const UNUSED = 'unused'
const GROUPS = [{ 'resources:PGPU': '1' }]
const tenant = (caller: Caller): Caller => ({ ...caller, ...TENANT, commandId: caller.commandId! })
const service = (caller: Caller): Caller => ({ ...NOVA, commandId: caller.commandId! })
const update = { ifVersion: null, groups: [{ 'resources:FPGA': '2' }], enabled: true, versions: [] }
const ended = (names: Names) => names.drift.entries.find(({ kind }) => kind === 'arq_without_allocation')!.uuid

/** Each step with the event behind it, as it is read on demand. */
export const withEvents = async (asked: ReturnType<Control['arqs']['timeline']>): Promise<Outcome<unknown>> => {
  const told = await asked
  return told.ok ? done(told.value.steps.map((step) => ({ ...step, event: step.event() }))) : told
}

export const QUESTIONS: Readonly<Record<string, Operation>> = {
  'the profiles': ({ profiles }) => profiles.list(null, {}),
  'a profile by its name': ({ profiles }) => profiles.byName('f'),
  'the versions of a profile': async ({ profiles }, { profile }) => profiles.versions(profile),
  'whom an update of a profile concerns': ({ profiles }, { profile }, caller) =>
    profiles.updateImpact(caller, profile, update, 'why'),
  'whom the removal of profiles concerns': ({ profiles }) => profiles.impact(['f', UNUSED]),
  'which hosts fit': ({ profiles }) => profiles.check({ groups: GROUPS, host: null, limit: 20 }),
  'which hosts fit an image': ({ profiles }) =>
    profiles.check({
      groups: [{ 'resources:FPGA': '1', 'accel:function_id': 'none' }],
      host: 'h1',
      limit: 20,
    }),
  'the requests': ({ arqs }) => arqs.list(ADMIN, {}, {}),
  'the resolved requests of an instance': ({ arqs }, { bound }) =>
    arqs.list(NOVA, { instance: bound.instance, resolvedOnly: true }, {}),
  'the requests of an instance': ({ arqs }, { bound }) => arqs.list(NOVA, { instance: bound.instance }, {}),
  'a request': ({ arqs }, { bound }) => arqs.get(TENANT, bound.arq),
  'the timeline of a request': ({ arqs }, { bound }) => withEvents(arqs.timeline(TENANT, bound.arq)),
  'the orphans': ({ orphans }) => orphans.list(null),
  'the devices': ({ devices }) => devices.list({ failing: false }, {}),
  'a device': ({ devices }, { named }) => devices.get(named('worked').device_uuid),
  'the health of a device': ({ devices }, { named }) => devices.health(TENANT, named('worked').device_uuid),
  'whom a device concerns': ({ devices }, { named }) => devices.impact(named('worked').device_uuid),
  'the deployables': ({ deployables }) => deployables.list({}, {}),
  'a deployable': ({ deployables }, { named }) => deployables.get(named('worked').uuid),
  'deployables in Placement': ({ deployables }, { named }) => deployables.inPlacement([named('gpu'), named('silent')]),
  'what is programmed': ({ deployables }) => deployables.programming({}),
  'what can be programmed': ({ deployables }, { named }, caller) =>
    deployables.programDetail(caller, named('tree').uuid),
  'the attributes': ({ attributes }) => attributes.list({}, {}),
  'an attribute': ({ attributes }, { attribute }) => attributes.get(attribute),
  'the hosts': ({ hosts }) => hosts.list({}),
  'a host': ({ hosts }) => hosts.get(TENANT, 'h1'),
  'whom the retirement of a host concerns': ({ hosts }, _, caller) => hosts.impact(caller, 'h1', 'retire'),
  'whom the removal of a host concerns': ({ hosts }, _, caller) => hosts.impact(caller, 'h2', 'remove'),
  'whom a forced removal concerns': ({ hosts }, _, caller) => hosts.impact(caller, 'h2', 'remove by force'),
  'the handles': ({ handles }) => handles.list(TENANT, {}, {}),
  'a handle': ({ handles }, { held }) => handles.get(TENANT, held),
  'the differences': ({ drift }) => drift.list(null, {}),
  'the differences of the servers': ({ drift }) => drift.list('h1', {}, true),
  'the ignored differences': ({ drift }) => drift.ignored(null, {}),
  'an ignored difference': ({ drift }, { ignored }) => drift.ignoredOne(ignored),
  'the usage': ({ usage }, { at }) => usage(ADMIN, { from: null, until: at, period: 'day', project: null }),
  'the capacity': ({ capacity }) => capacity(),
  'the overview': ({ overview }) => overview(),
  'what Nova is not told': ({ deliveries }) => deliveries({ state: 'waiting', limit: 10 }),
}

/** The same questions about an earlier moment. */
export const OF_THE_PAST: Readonly<Record<string, Operation>> = Object.fromEntries(
  (
    [
      ['the profiles', (past) => past.profiles.list(null, {})],
      ['a profile', (past) => past.profiles.byName('f')],
      ['the requests', (past) => past.arqs.list(NOVA, {}, {})],
      ['a request', (past, { bound }) => past.arqs.get(TENANT, bound.arq)],
      ['a timeline', (past, { bound }) => withEvents(past.arqs.timeline(TENANT, bound.arq))],
      ['the devices', (past) => past.devices.list({}, {})],
      ['the health of a device', (past, { named }) => past.devices.health(TENANT, named('worked').device_uuid)],
      ['the deployables', (past) => past.deployables.list({}, {})],
      ['a deployable', (past, { named }) => past.deployables.get(named('worked').uuid)],
      ['the hosts', (past) => past.hosts.list({})],
      ['a host', (past) => past.hosts.get(TENANT, 'h1')],
    ] as readonly (readonly [string, (past: ReturnType<Control['asOf']>, names: Names) => Promise<Outcome<unknown>>])[]
  ).map(
    ([name, ask]) => [name, ({ asOf }, names) => ask(asOf(names.at), names)] as const satisfies [string, Operation],
  ),
)

/** Commands that a client repeats with the id of the first, where they take one. */
export const COMMANDS: Readonly<Record<string, Operation>> = {
  'a profile is created': ({ profiles }, _, caller) =>
    profiles.create(caller, { name: 'new', description: 'd', groups: GROUPS }),
  'a profile is updated': ({ profiles }, { profile }, caller) => profiles.update(caller, profile, update, 'why'),
  'a profile is removed by its name': ({ profiles }, _, caller) => profiles.remove(caller, [UNUSED]),
  'a profile is removed by its UUID': ({ profiles }, { unused }, caller) => profiles.remove(caller, [unused]),
  'requests are bound': ({ arqs }, { bindingOf, left }, caller) =>
    arqs.bind(service(caller), [bindingOf(left, 'spare', INSTANCE)]),
  'requests are unbound': ({ arqs }, { bound }, caller) => arqs.unbind(service(caller), [bound.arq]),
  'a request is deleted by its project': ({ arqs }, { left }, caller) => arqs.remove(tenant(caller), [left]),
  'bound requests are deleted': ({ arqs }, { bound, onGpu }, caller) =>
    arqs.remove(service(caller), [bound.arq, onGpu.arq]),
  'the requests of an instance are deleted': ({ arqs }, { bound }, caller) =>
    arqs.removeByInstance(service(caller), bound.instance),
  'a request on a silent host is unbound by force': ({ arqs }, { onSilent }, caller) =>
    arqs.forceUnbind(caller, onSilent.arq, NOTE),
  'a request on a retired host is unbound by force': ({ arqs }, { onRetired }, caller) =>
    arqs.forceUnbind(caller, onRetired.arq, NOTE),
  'a device is disabled': ({ devices }, { named }, caller) =>
    devices.setStatus(caller, named('worked').device_uuid, 'maintaining'),
  'a region is programmed': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('tree').uuid, IMAGE),
  'a host is retired': ({ hosts }, _, caller) => hosts.retire(caller, 'h1', NOTE),
  'a host is restored': ({ hosts }, _, caller) => hosts.restore(caller, 'h3', NOTE),
  'a host is asked': ({ hosts }, _, caller) => hosts.probe(caller, 'h1'),
  'a key is replaced': ({ hosts }, _, caller) => hosts.rekey(caller, 'h1', NOTE, 'a key'),
  'a host is removed by force': ({ hosts }, _, caller) => hosts.remove(caller, 'h2', NOTE, true),
  'a handle is put in quarantine': ({ handles }, { free }, caller) => handles.quarantine(caller, free, NOTE),
  'a handle is released': ({ handles }, { withheld }, caller) => handles.release(caller, withheld, NOTE),
  'a difference is ignored': ({ drift }, names, caller) =>
    drift.ignore(caller, { host: 'h1', difference: ended(names), until: names.at + 20 * 86_400_000 }, NOTE),
  'a difference is not ignored any more': ({ drift }, { ignored }, caller) => drift.unignore(caller, ignored, NOTE),
  'Nova is told again': ({ resendDelivery }, { bound }, caller) => resendDelivery(caller, bound.instance, NOTE),
}

/** What is refused for good, and not done while nobody can know whether it must be refused. */
export const REFUSALS: Readonly<Record<string, Operation>> = {
  'the requests of an instance that is being bound': ({ arqs }, { pending }) =>
    arqs.list(NOVA, { instance: pending.instance, resolvedOnly: true }, {}),
  'the requests of an instance whose bind failed': ({ arqs }, { failed }) =>
    arqs.list(NOVA, { instance: failed.instance }, {}),
  'the removal of a profile that is used': ({ profiles }, _, caller) => profiles.remove(caller, [UNUSED, 'f']),
  'the removal of a host that is used': ({ hosts }, _, caller) => hosts.remove(caller, 'h1', NOTE, false),
  'the deletion of a bound request by its project': ({ arqs }, { bound }, caller) =>
    arqs.remove(tenant(caller), [bound.arq]),
  'a bind of a bound request': ({ arqs }, { bindingOf, bound }, caller) =>
    arqs.bind(service(caller), [bindingOf(bound.arq, 'spare', INSTANCE)]),
  'a bind on another host': ({ arqs }, { bindingOf, left }, caller) =>
    arqs.bind(service(caller), [{ ...bindingOf(left, 'spare', INSTANCE), hostname: 'h2' }]),
  'the programming of a card in use': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('worked').uuid, IMAGE),
  'the programming of a card on a silent host': ({ deployables }, { named }, caller) =>
    deployables.program(caller, named('silent').uuid, IMAGE),
  'the quarantine of a held handle': ({ handles }, { held }, caller) => handles.quarantine(caller, held, NOTE),
  'a delivery of an instance whose bind is under way': ({ resendDelivery }, { pending }, caller) =>
    resendDelivery(caller, pending.instance, NOTE),
}

/** Commands without an id: repeated, each is another one. */
export const MAKINGS: Readonly<Record<string, Operation>> = {
  'requests are created': ({ arqs }) => arqs.create(TENANT, 'f'),
  'an attribute is removed': ({ attributes }, { attribute }, caller) => attributes.remove(caller, attribute),
  'orphans are collected': ({ orphans }, { onGpu }, caller) => orphans.collect(service(caller), [onGpu.instance]),
  'an attribute is made': ({ attributes }, { named }, caller) =>
    attributes.create(caller, named('spare').uuid, 'site', 'x'),
  'profiles are regrouped': ({ profiles }, { profile }, caller) =>
    profiles.regroup(
      caller,
      [{ uuid: profile, name: 'f', was: [{ 'resources:FPGA': '1' }], groups: [{ 'resources:FPGA': '3' }] }],
      'why',
    ),
}

const BEAT = { ...heartbeatOf('h1'), bootNumber: 1 }
const HOT = {
  driver: 'some_driver',
  at: 1,
  devices: [{ controlPath: JSON.stringify(slot(1)), health: 'bad', reasons: ['too hot'], numbers: { fans: 2 } }],
} as const
const inventory = (host: string, devices: readonly ReportedDevice[], more: Partial<InventoryReport> = {}) =>
  inventoryOf(host, 100, { bootNumber: 1, aliases: [], drivers: [shown(...devices)], ...more })
const [WORKED, GPUS, , TREE] = DEVICES['h1']!

/** What hosts report. A message that was not taken is delivered again, with the same id. */
export const REPORTS: Readonly<Record<string, (names: Names) => Report>> = {
  'a heartbeat': () => BEAT,
  'a card that is missing, one that is new, and one that has changed': () =>
    inventory('h1', [WORKED!, flat(9, 'h1_new'), flat(2, 'h1_gpu', { ...GPU, hostWork: true }), RETURNING, TREE!]),
  'an inventory of a retired host': () => inventory('h3', [GPUS!]),
  'an inventory of a new host': () => inventory('h4', [flat(1, 'h4_other')]),
  'an inventory of a host without a ledger': () =>
    inventory('h1', DEVICES['h1']!, { ledger: 'new', slots: { prepared: [] } }),
  'the answer to an order that prepares': ({ preparing }) => preparing,
  'the failure of an order that prepares': ({ preparing }) => ({
    ...preparing,
    result: { status: 'failed', reason: 'no', final: true },
  }),
  'the answer to an order that releases': ({ releasing }) => releasing,
  'the failure of an order that releases': ({ releasing }) => ({
    ...releasing,
    result: { status: 'failed', reason: 'no', final: true },
  }),
  'an answer for a deployable of another host': ({ preparing }) => ({ ...preparing, host: 'h2' }),
  'an answer of a former start': ({ preparing }) => ({ ...preparing, bootId: FORMER_BOOT, bootNumber: 0 }),
}
/** What is measured is compared again with the next reading, whatever became of this one. */
export const MEASURED: Report = { ...BEAT, measured: [HOT] }
