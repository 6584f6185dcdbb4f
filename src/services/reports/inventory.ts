/**
 * Records a host's full inventory report: one append for the host, its devices and its deployables.
 *
 * RECORD-1 every inventory change has a row of the host, so that each report of a host is recorded by one process only
 *    (Q1);
 * RECORD-2 a report that could not be recorded completely is not remembered as known, so the next report tries again;
 * RECORD-3 the append that records a device marks every device with the same hardware as missing, and nothing of a
 *    missing device is granted (R7). If a request was granted such hardware after the steps were computed, they are
 *    computed again.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { PlaybookRun } from '../../wire/playbooks.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { arqKey } from '../../actors/arq/decider.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { functionOf } from '../../vocabulary/attachedFunctions.ts'
import { isTaken, takenHandles } from '../../actors/deployable/state.ts'
import { deviceKey } from '../../actors/device/decider.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { type HeldDevice, type Host, type InventorySnapshot, host, hostKey, isNews } from '../../actors/host/decider.ts'
import { type Outcome, allOf, done, refuse } from '../../vocabulary/fault.ts'
import { transact } from '../../actors/runtime/transact.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { storable } from '../../vocabulary/text.ts'
import { carryOut } from '../../actors/inventory/carryOut.ts'
import { poolSizes } from '../../actors/inventory/describe.ts'
import type { Tools } from '../../actors/inventory/grow.ts'
import { NUMBERS_KEY, numbers } from '../../actors/inventory/numbers.ts'
import { type Agreement, type Step, reconcile } from '../../actors/inventory/reconcile.ts'
import { type Handles, NO_HANDLES, type RecordedHandles, attachedBy } from '../../actors/inventory/rivalry.ts'
import { isChange, keyOf, sizeOf, tellRefused, withinLimit, withOwnNames } from './inventoryRefused.ts'
import type { NewDevices } from './newDevices.ts'
import { withReturning } from './returning.ts'

const handlesOf = async (
  { region }: Kernel,
  devices: readonly (readonly [canonical: string, device: HeldDevice])[],
): Promise<Outcome<Handles>> => {
  const read = devices.flatMap(([canonical, { deployables }]) =>
    Object.values(deployables).map(async (uuid) => {
      const known = await region.readCurrent(deployable, deployableKey(uuid))
      return known.ok ? done({ canonical, handles: Object.values(known.value.state.handles) }) : known
    }),
  )
  const all = await allOf(read)
  if (!all.ok) return all
  const byDevice = Map.groupBy(all.value, ({ canonical }) => canonical)
  return done(new Map([...byDevice].map(([canonical, parts]) => [canonical, parts.flatMap(({ handles }) => handles)])))
}

/** The recorded attach handles of all present and former devices of this host. */
const recordedHandles = async (kernel: Kernel, { devices, departed }: Host): Promise<Outcome<RecordedHandles>> => {
  const [present, away] = await Promise.all([
    handlesOf(kernel, Object.entries(devices)),
    handlesOf(
      kernel,
      departed.map(({ canonical, device }) => [canonical, device]),
    ),
  ])
  if (!present.ok) return present
  return away.ok ? done({ present: present.value, departed: away.value }) : away
}

type Taking = {
  readonly report: InventoryReport
  readonly digest: string
  readonly commandId: string
  readonly newDevices: NewDevices
}
const countOf = ({ devices }: Host): number => Object.keys(devices).length

type Agreed = {
  readonly agreement: Agreement
  /** The recorded handles when the steps were computed; empty when the steps do not depend on them. */
  readonly handles: Handles
}
/**
 * Compares a report with the recorded host. Handles are read only if the report shows something new, because otherwise
 * they do not matter.
 */
const agree = async (kernel: Kernel, held: Host, { report, newDevices }: Taking): Promise<Outcome<Agreed>> => {
  const first = reconcile(held, report)
  const isNews = first.steps.some((step) => 'shown' in step || ('moved' in step && step.moved))
  const matters = isNews || first.refused.some(({ canonical }) => ownValue(held.devices, canonical))
  const handles = matters && !held.retired ? await recordedHandles(kernel, held) : done(NO_HANDLES)
  if (!handles.ok) return handles
  const agreed = handles.value === NO_HANDLES ? first : reconcile(held, report, handles.value)
  const untaken = await withOwnNames(kernel, report.host, agreed)
  if (!untaken.ok) return untaken
  const returning = await withReturning(kernel, held, untaken.value)
  if (!returning.ok) return returning
  const count = countOf(held)
  const changes = newDevices.changesLeft(report.host, count)
  const room = { left: newDevices.left(report.host, count), changes }
  const agreement = withinLimit(returning.value, room, handles.value.present)
  return done({ agreement, handles: handles.value.present })
}

/**
 * Whether a handle that was free when the steps were computed, and that the step removes from its device, is in use
 * now.
 */
const usedSince = (draft: Draft, handles: Handles, step: Step): boolean => {
  if (!('held' in step)) return false
  const shown = 'shown' in step ? [step.shown.device] : []
  const free = new Set((handles.get(keyOf(step)) ?? []).flatMap((one) => (isTaken(one) ? [] : [one.uuid])))
  if (free.size === 0) return false
  const kept = new Set(shown.flatMap(attachedBy).map(functionOf))
  return Object.values(step.held.deployables).some((uuid) =>
    takenHandles(draft.state(deployable, deployableKey(uuid))).some(
      (one) => free.has(one.uuid) && !kept.has(functionOf(one)),
    ),
  )
}
/** Whether a handle that moves was granted since the steps were computed, to a request that takes no part. */
const grantedSince = (draft: Draft, keys: readonly EntityKey[], step: Step): boolean => {
  if (!('moved' in step) || !step.moved || !('held' in step)) return false
  const lent = new Set(keys)
  const all = [...Object.values(step.held.deployables), ...Object.values(step.held.away ?? {})]
  return all.some((uuid) =>
    takenHandles(draft.state(deployable, deployableKey(uuid))).some(
      ({ arq }) => arq !== null && !lent.has(arqKey(arq)),
    ),
  )
}
/** The keys of all existing entities that the step may change. */
const keysOf = (step: Step, handles: Handles): readonly string[] => {
  if (!('held' in step)) return []
  const holders = 'moved' in step && step.moved ? (handles.get(step.moved.was) ?? []) : []
  const { uuid, deployables, away = {} } = step.held
  // a card that moves takes all its parts with it, also those that are away
  const back =
    'moved' in step && step.moved
      ? Object.values(away)
      : 'shown' in step
        ? step.shown.device.deployables.flatMap(({ name }) => ownValue(away, name) ?? [])
        : []
  return [
    deviceKey(uuid),
    ...[...Object.values(deployables), ...back].map(deployableKey),
    ...holders.flatMap((handle) => (handle.arq === null ? [] : [arqKey(handle.arq)])),
  ]
}

const inStorableWords = (run: PlaybookRun): PlaybookRun => ({
  ...run,
  driver: storable(run.driver),
  reason: run.reason === null ? null : storable(run.reason),
  output: storable(run.output),
})
const snapshotOf = (report: InventoryReport, digest: string): InventorySnapshot => ({
  bootId: report.bootId,
  ...(report.bootNumber === undefined ? {} : { bootNumber: report.bootNumber }),
  number: report.number,
  digest,
  ...(report.playbooks === undefined ? {} : { playbooks: report.playbooks.map(inStorableWords) }),
  aliases: report.aliases.map(storable),
  drivers: Object.fromEntries(
    report.drivers.map((section) => [
      storable(section.driver),
      { status: section.status, error: section.status === 'failed' ? storable(section.error) : null },
    ]),
  ),
})
const sameSnapshot = (held: Host, { bootId, aliases, drivers, playbooks = [] }: InventorySnapshot) =>
  held.bootId === bootId &&
  canonicalJson([held.aliases, held.drivers, held.playbooks ?? []]) === canonicalJson([aliases, drivers, playbooks])

type Guess = {
  readonly keys: readonly EntityKey[]
  readonly fresh: readonly EntityKey[]
  /** The host as it was when the steps were computed. */
  readonly held: Host
  readonly agreed: Agreed
  /** UUIDs for new devices and deployables and their parts, made beforehand, because a plan makes none itself. */
  readonly entities: readonly string[]
  readonly parts: readonly string[]
}

const NOTHING: Agreed = { agreement: { steps: [], refused: [] }, handles: new Map() }
const guessOf = async (kernel: Kernel, taking: Taking): Promise<Outcome<Guess>> => {
  const { region, ids } = kernel
  const { report } = taking
  const key = hostKey(report.host)
  const known = await region.readCurrent(host, key)
  if (!known.ok) return known
  const held = known.value.state
  const agreed = isNews(held, report) ? await agree(kernel, held, taking) : done(NOTHING)
  if (!agreed.ok) return agreed
  const { steps } = agreed.value.agreement
  const sizes = poolSizes(steps.flatMap((step) => ('shown' in step ? [step.shown.device] : [])))
  const uuids = (count: number) => Array.from({ length: count }, () => ids.ordered())
  const [entities, parts] = [uuids(sizes.entities), uuids(sizes.parts)]
  const keys = [
    key,
    ...(entities.length > 0 ? [NUMBERS_KEY] : []),
    ...steps.flatMap((step) => keysOf(step, agreed.value.handles)),
  ]
  const fresh = entities.flatMap((uuid) => [deviceKey(uuid), deployableKey(uuid)])
  return done({ keys, fresh, held, agreed: agreed.value, entities, parts })
}

type Planned = Agreement & { readonly before: number; readonly changes: number }
const record =
  ({ options }: Kernel, { report, digest }: Taking) =>
  (draft: Draft, { keys, held, agreed, entities, parts }: Guess): 'old' | Planned | typeof MOVED => {
    const { agreement, handles } = agreed
    const key = hostKey(report.host)
    const now = draft.state(host, key)
    if (!isNews(now, report)) return 'old'
    if (now.devices !== held.devices || now.retired !== held.retired) return MOVED
    if (agreement.steps.some((step) => usedSince(draft, handles, step) || grantedSince(draft, keys, step))) return MOVED
    const { last } = entities.length > 0 ? draft.state(numbers, NUMBERS_KEY) : { last: 0 }
    let [made, taken, numbered] = [0, 0, last]
    const tools: Tools = {
      entity: () => entities[made++]!,
      part: () => parts[taken++]!,
      number: () => ++numbered,
      hostname: report.host,
      missingRounds: options.missingRounds,
    }
    // what is at the former address of a device that has been away is another device
    const isItsOwn = (step: Step) => 'held' in step && ownValue(held.devices, keyOf(step))?.uuid === step.held.uuid
    const left = agreement.steps.filter(isItsOwn).map((step) => [keyOf(step), null] as const)
    const reached = new Map<string, HeldDevice | null>([
      ...left,
      ...agreement.steps.map((step) => carryOut(draft, step, tools)),
    ])
    const changed = [...reached].filter(
      ([canonical, one]) => canonicalJson(one) !== canonicalJson(ownValue(held.devices, canonical)),
    )
    if (numbered > last) draft.decide(numbers, NUMBERS_KEY, { type: 'Take', count: numbered - last })
    const snapshot = snapshotOf(report, agreement.refused.length > 0 ? '' : digest)
    if (changed.length > 0 || !sameSnapshot(now, snapshot))
      draft.decide(host, key, {
        type: 'RecordInventory',
        name: report.host,
        picture: snapshot,
        devices: Object.fromEntries(changed),
      })
    const altered = new Set(changed.map(([canonical]) => canonical))
    const changes = agreement.steps.filter((step) => isChange(step) && altered.has(step.shown.canonical)).length
    return { ...agreement, before: countOf(held), changes }
  }

/** `complete`: the same inventory again would change nothing. `old`: a later report of the host is already recorded. */
export type Recorded = 'old' | 'complete' | 'incomplete'

/** Records one report in one append. Fault `unavailable`: the report has to be delivered again. */
export const recordInventory = async (kernel: Kernel, taking: Taking): Promise<Outcome<Recorded>> => {
  const { region, log } = kernel
  const { report, commandId } = taking
  const recorded = await transact(kernel, {
    subject: `the inventory of host ${report.host}`,
    cause: { by: `report ${report.number} of ${report.host}` },
    commandId,
    guess: () => guessOf(kernel, taking),
    plan: record(kernel, taking),
  })
  // another host recorded the same name meanwhile: the next attempt finds the name taken
  if (!recorded.ok && recorded.fault.kind === 'conflict')
    return refuse({ kind: 'unavailable', reason: recorded.fault.reason, retryAfterSeconds: 1 })
  if (!recorded.ok) return recorded
  // null: this message was already recorded
  if (recorded.value === 'old' || recorded.value === null) return done('old')
  const { steps, refused, before, changes } = recorded.value
  const added = steps.reduce((sum, step) => sum + sizeOf(step), 0)
  taking.newDevices.add(report.host, before, added, changes)
  await tellRefused(kernel, report.host, refused)
  if (steps.length > 0)
    log.info({ host: report.host, steps: steps.length, refused: refused.length }, 'inventory.recorded')
  const now = await region.readCurrent(host, hostKey(report.host))
  if (!now.ok) return now
  return done(refused.length === 0 && reconcile(now.value.state, report).steps.length === 0 ? 'complete' : 'incomplete')
}
