/** Refuses devices of a report that are not the host's to show, or more than it may add, and says so. */
import { type Outcome, done } from '../../vocabulary/fault.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Agreement, Refused, Step } from '../../actors/inventory/reconcile.ts'
import { canonicalHandle } from '../../actors/inventory/digest.ts'
import type { Handles } from '../../actors/inventory/rivalry.ts'
import { ownValue } from '../../vocabulary/record.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { noteRefusal } from './provenance.ts'

/** The names of the deployables that a step adds, as its host reports them. */
const newNames = (step: Step): readonly string[] => {
  if (!('shown' in step)) return []
  const names = step.shown.device.deployables.map(({ name }) => name)
  const known = 'held' in step ? { ...step.held.away, ...step.held.deployables } : {}
  return names.filter((name) => !ownValue(known, name))
}
/** Those that are recorded as they are reported, without an end of their own. */
const plainNames = (step: Step): readonly string[] => ('shown' in step && step.shown.taken ? [] : newNames(step))

/** The driver of simulated cards writes other characters of the host's name as `_`, as upstream's does. */
const isOwn = (host: HostName, name: string): boolean =>
  [host, host.replaceAll(/[^A-Za-z0-9_-]/g, '_')].some((each) => name.startsWith(`${each}_`))

/** Hosts whose name and `_` begin this name, other than by the name of the host that reports it: longer names. */
const longerHosts = (host: HostName, name: string): readonly HostName[] =>
  [...name.matchAll(/_/g)].flatMap(({ index }) => (index > host.length ? [name.slice(0, index)] : []))

/**
 * Refuses steps that add a deployable name which is not the host's to give: the provider's UUID follows from the name,
 * so a name can exist only once, and a host that takes names of another one keeps its devices out. A name begins with
 * the name of its host and `_`; where several known hosts are such a beginning, it belongs to the one with the longest
 * name.
 */
export const withOwnNames = async (
  { readers }: Kernel,
  host: HostName,
  { steps, refused }: Agreement,
): Promise<Outcome<Agreement>> => {
  const names = steps.flatMap(newNames)
  if (names.length === 0) return done({ steps, refused })
  const found = await readers.list('deployables', { name: names }, {})
  if (!found.ok) return found
  const plain = new Set(steps.flatMap(plainNames))
  const holders = new Map(found.value.items.map((row) => [row.name, row.hostname]))
  const longer = [...new Set(names.flatMap((name) => longerHosts(host, name)))]
  const known = longer.length === 0 ? done({ items: [] }) : await readers.list('hosts', { name: longer }, {})
  if (!known.ok) return known
  const others = new Set(known.value.items.map((row) => row.name))
  const reasonAgainst = (name: string): string | null => {
    if (!isOwn(host, name)) return `deployable name ${name} does not begin with ${host}_`
    const other = longerHosts(host, name).findLast((longerName) => others.has(longerName))
    if (other !== undefined) return `deployable name ${name} begins with the name of host ${other}`
    return plain.has(name) && holders.has(name) ? `deployable name ${name} is held by host ${holders.get(name)}` : null
  }
  const judged = steps.map((step) => ({
    step,
    reason: newNames(step)
      .map(reasonAgainst)
      .find((one) => one !== null),
  }))
  const foreign = judged.flatMap(({ step, reason }): Refused[] =>
    !reason || !('shown' in step) ? [] : [{ canonical: step.shown.canonical, reason, refusal: 'foreign_name' }],
  )
  return done({
    steps: judged.flatMap(({ step, reason }) => (reason ? [] : [step])),
    refused: [...refused, ...foreign],
  })
}

const TOO_MANY = 'the host has shown more devices or deployables that were not known than a host may within an hour'
const TOO_OFTEN = 'the host has described its devices otherwise more often than a host may within an hour'
/** Twice as many as a report may show: those that are shown no more stay recorded as long as the device is there. */
const NAMES_MAX = 2000
const FULL = `the device has had ${NAMES_MAX} deployables of other names`
/** Several times as many as one message has room for: these too stay recorded as long as the device is there. */
const HANDLES_MAX = 10_000
const FULL_OF_HANDLES = `the device has had ${HANDLES_MAX} other attach handles`
/** The key under which its device is recorded. */
export const keyOf = (step: Step): string => {
  if ('moved' in step && step.moved) return step.moved.was
  return 'shown' in step ? step.shown.canonical : step.canonical
}
const isFullOfHandles = (step: Step, recorded: Handles): boolean => {
  const held = recorded.get(keyOf(step)) ?? []
  if (held.length < HANDLES_MAX || !('shown' in step)) return false
  const known = new Set(held.map(({ canonical }) => canonical))
  return step.shown.device.deployables.some((one) => one.handles.some((handle) => !known.has(canonicalHandle(handle))))
}
/** How many deployables the step adds; a new device without any counts as one. */
export const sizeOf = (step: Step): number => Math.max(newNames(step).length, step.do === 'record' ? 1 : 0)
/** Whether the step describes a known device otherwise, or brings it back. */
export const isChange = (step: Step): step is Extract<Step, { do: 'describe' | 'return' }> =>
  step.do === 'describe' || step.do === 'return'
export type Room = { readonly left: number; readonly changes: number }
const problemOf = (step: Step, { left, changes }: Room, recorded: Handles): string | null => {
  const size = sizeOf(step)
  if (isChange(step) && changes < 1) return TOO_OFTEN
  if (size > 0 && 'held' in step && Object.keys(step.held.deployables).length + size > NAMES_MAX) return FULL
  if (isFullOfHandles(step, recorded)) return FULL_OF_HANDLES
  return size > left ? TOO_MANY : null
}
/** Refuses the devices with which the host would add or change more than it may now (`newDevices.ts`). */
export const withinLimit = ({ steps, refused }: Agreement, given: Room, recorded: Handles): Agreement => {
  const kept: Step[] = []
  const over: Refused[] = []
  let room = given
  for (const step of steps) {
    const reason = problemOf(step, room, recorded)
    if (reason !== null && 'shown' in step)
      over.push({ canonical: step.shown.canonical, reason, refusal: 'too_many_devices' })
    else {
      kept.push(step)
      room = { left: room.left - sizeOf(step), changes: room.changes - (isChange(step) ? 1 : 0) }
    }
  }
  return { steps: kept, refused: [...refused, ...over] }
}

/** Devices may be many: those of one kind of refusal are told as one. */
const TOLD_MAX = 20
export const tellRefused = async (kernel: Kernel, host: HostName, refused: readonly Refused[]): Promise<void> => {
  for (const one of refused.slice(0, TOLD_MAX)) kernel.log.warn({ host, ...one }, 'inventory.refused')
  if (refused.length > TOLD_MAX) kernel.log.warn({ host, refused: refused.length }, 'inventory.moreRefused')
  for (const [reason, devices] of Map.groupBy(refused, ({ refusal }) => refusal)) {
    if (reason === undefined) continue
    const rule = devices.length > 1 ? `${devices[0]!.reason}, and ${devices.length - 1} more` : devices[0]!.reason
    await noteRefusal(kernel, { host, reason, field: 'data.drivers', rule })
  }
}
