/** What a refusal names when work is given up because the entities that it needs change again and again. */
import { expect, test } from 'vitest'
import { arq } from '../../src/actors/arq/decider.ts'
import { deployable } from '../../src/actors/deployable/decider.ts'
import { device } from '../../src/actors/device/decider.ts'
import { host } from '../../src/actors/host/decider.ts'
import { instance } from '../../src/actors/instance/decider.ts'
import { placement } from '../../src/actors/placement/decider.ts'
import { MOVED } from '../../src/actors/runtime/draft.ts'
import { kindOf } from '../../src/actors/runtime/memory.ts'
import { systemClock, systemIds } from '../../src/clock.ts'
import { type Outcome, done } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { silent } from '../../src/log.ts'
import { createBind } from '../../src/services/arqs/bind.ts'
import { conclude } from '../../src/services/arqs/conclude.ts'
import { createForceUnbind } from '../../src/services/arqs/forceUnbind.ts'
import { createAdmission } from '../../src/services/arqs/quota.ts'
import { createUnbind } from '../../src/services/arqs/unbind.ts'
import { createAdoption } from '../../src/services/deployables/adoption.ts'
import { createHandles } from '../../src/services/deployables/handles.ts'
import { createProgram } from '../../src/services/deployables/program.ts'
import { createProgramDetail } from '../../src/services/deployables/programDetail.ts'
import { createDevices } from '../../src/services/devices/devices.ts'
import { createIgnored } from '../../src/services/drift/ignored.ts'
import { CONTROL_DEFAULTS, type Kernel } from '../../src/services/kernel/kernel.ts'
import { createDeliveryResend } from '../../src/services/nova/resendDelivery.ts'
import { createNewDevices } from '../../src/services/reports/newDevices.ts'
import { recordInventory } from '../../src/services/reports/inventory.ts'
import { createHostKeys } from '../../src/services/hosts/hostKeys.ts'
import { createReports } from '../../src/services/reports/reports.ts'
import { createRetirement } from '../../src/services/retirement/retirement.ts'
import { untraced } from '../../src/trace.ts'
import { catalogueOf } from '../support/images.ts'
import { NOVA, TENANT } from '../support/plane.ts'
import { BOOT, inventoryOf, resultOf } from '../support/reports.ts'

const NOTE = { by: 'kim', reason: 'why' }
const HANDLE = { type: 'PCI', info: {} }
const BOND = { hostname: 'h1', deployable: 'd1', instanceUuid: 'i1', handle: { uuid: 's1', ...HANDLE }, order: 1 }
const STATES: Readonly<Record<string, object>> = {
  arq: { ...arq.initial, uuid: 'a1', status: 'Bound', projectId: 'p1', bond: BOND },
  deployable: {
    ...deployable.initial,
    exists: true,
    uuid: 'd1',
    host: 'h1',
    programmable: true,
    handles: { s1: HANDLE },
  },
  device: { ...device.initial, exists: true, uuid: 'u1', host: 'h1' },
  host: { ...host.initial, exists: true, name: 'h1', liveness: 'up', bootId: BOOT },
  instance: { ...instance.initial, uuid: 'i1' },
  placement: { ...placement.initial, host: 'h1' },
  numbers: { last: 0 },
  quota: { admitted: 0 },
}
const ROWS: Readonly<Record<string, object>> = {
  deployables: { uuid: 'd1', hostname: 'h1', rp_uuid: 'rp' },
  handles: { uuid: 's1', deployable_uuid: 'd1' },
  ignored_drift: { uuid: 'x1', hostname: 'h1' },
}
const read = async (_: unknown, key: EntityKey) => done({ key, state: STATES[kindOf(key)], version: 1, recent: [] })
/** Whatever is decided has moved meanwhile. */
const kernel = {
  ...{ clock: systemClock, ids: systemIds, log: silent, tracer: untraced, nova: {}, images: catalogueOf() },
  options: { ...CONTROL_DEFAULTS, arqsPerProject: 5 },
  region: { readCurrent: read, readCached: read, has: () => true, tell: async () => done(null) },
  readers: {
    list: async () => done({ items: [], next: null }),
    first: async (view: string) => done(ROWS[view] ?? null),
  },
  units: { together: async () => done(MOVED) },
} as unknown as Kernel
const retirement = createRetirement(kernel)
const liveness = { changedAt: () => host.initial.updatedAt, seen: () => {} } as never

const binding = { arq: 'a1', hostname: 'h1', deviceRpUuid: 'rp', instanceUuid: 'i1' }
const adoption = async (): Promise<Outcome<unknown>> => {
  const adopted = await createAdoption(kernel)(NOVA, [{ key: 'deployable/d1', command: 'c', events: [] }], NOTE)
  const [one] = adopted.ok ? adopted.value.deployables : []
  return one?.fault ? { ok: false, fault: one.fault } : done(one)
}
const released = () =>
  createReports({ kernel, liveness, keys: createHostKeys(kernel), measurements: { take: async () => {} } }).take(
    resultOf('h1', 1, { order: 'ReleaseSlot', slot: 's1', deployableUuid: 'd1' }),
    'the id',
  )

const newDevices = createNewDevices(systemClock)
const REPORT = { report: inventoryOf('h1', 1), digest: 'x', commandId: 'c', newDevices }
test.each<readonly [what: string, subject: string, work: () => Promise<Outcome<unknown>>]>([
  ['a bind', 'who owns the resource providers', () => createBind(kernel)(NOVA, [binding])],
  ['an unbind', 'who holds the accelerator requests', () => createUnbind(kernel).unbind(NOVA, ['a1'])],
  ['a deletion by instance', 'the binding of instance i1', () => createUnbind(kernel).removeByInstance(NOVA, 'i1')],
  ['the end of a bind', 'the binding of instance i1', () => conclude(kernel, 'i1')],
  ['an unbind by force', 'the binding of accelerator request a1', () => createForceUnbind(kernel)(NOVA, 'a1', NOTE)],
  [
    'a creation with a quota',
    'the number of accelerator requests of project p1',
    () => createAdmission(kernel)(TENANT, ['a1'], () => null),
  ],
  ['an adoption of lost rows', 'deployable d1', adoption],
  ['a programming', 'deployable d1', () => createProgram(kernel)(NOVA, 'd1', 'the image')],
  ['a look at what may be programmed', 'deployable d1', () => createProgramDetail(kernel)(NOVA, 'd1')],
  ['a quarantine', 'the release of handle s1', () => createHandles(kernel, retirement).quarantine(NOVA, 's1', NOTE)],
  ['the answer of a host', 'the release of handle s1', released],
  ['a maintenance', 'the inventory of device u1', () => createDevices(kernel).setStatus(NOVA, 'u1', 'maintaining')],
  ['a retirement', 'the inventory of host h1', () => retirement.retire(NOVA, 'h1', NOTE)],
  [
    'a decision about its key',
    'host h1 or its key',
    () =>
      createHostKeys(kernel).record('h1', () => ({ type: 'ReplaceKey', name: 'h1', named: 'k', ...NOTE }), {
        cause: {},
      }),
  ],
  ['an inventory report', 'the inventory of host h1', () => recordInventory(kernel, REPORT)],
  [
    'an end of ignoring',
    'what is ignored of host h1',
    () => createIgnored(kernel, async () => done(null)).unignore(NOVA, 'x1', NOTE),
  ],
  ['a repeated notification', 'what Nova is told of instance i1', () => createDeliveryResend(kernel)(NOVA, 'i1', NOTE)],
])('%s that is given up names %s', async (_, subject, work) => {
  const reason = `${subject} keeps changing`
  expect(await work()).toEqual({ ok: false, fault: { kind: 'unavailable', reason, retryAfterSeconds: 1 } })
})
