/**
 * A retired device that is shown again is the same device: it keeps its UUIDs and ids, and an operator's decisions
 * about it hold until an operator changes them (data-model 11.4, decision 0032). It is recognised by its control path
 * and its kind of card.
 */
import { type Outcome, allOf, done } from '../../fault.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { device as deviceDecider, deviceKey } from '../../actors/device/decider.ts'
import type { Departed, HeldDevice, Host } from '../../actors/host/decider.ts'
import type { Agreement, Step } from '../../actors/inventory/reconcile.ts'
import { isSameCard } from '../../actors/inventory/sameCard.ts'
import type { Kernel } from '../kernel/kernel.ts'

const NAMES_MAX = 1000
type Parts = Readonly<Record<string, string>>

/** The parts that may return with the device: those it had when it was retired and that have not returned yet. */
const partsOf = async ({ region }: Kernel, { deployables, away = {} }: HeldDevice): Promise<Outcome<Parts>> => {
  const all = Object.entries({ ...away, ...deployables })
  const names = all.length > NAMES_MAX ? Object.entries(deployables) : all
  const read = names.map(async ([name, uuid]) => {
    const known = await region.readCurrent(deployable, deployableKey(uuid))
    if (!known.ok) return known
    const { exists, presence } = known.value.state
    return done(exists && presence === 'retired' ? [[name, uuid] as const] : [])
  })
  const found = await allOf(read)
  return found.ok ? done(Object.fromEntries(found.value.flat())) : found
}

const returning = async (kernel: Kernel, departed: readonly Departed[], step: Step): Promise<Outcome<Step>> => {
  if (step.do !== 'record') return done(step)
  const { shown } = step
  for (const { canonical, device } of departed.toReversed()) {
    if (canonical !== shown.canonical) continue
    const read = await kernel.region.readCurrent(deviceDecider, deviceKey(device.uuid))
    if (!read.ok) return read
    const { exists, presence, facts } = read.value.state
    if (!exists || presence !== 'retired' || !isSameCard(facts, shown.device)) continue
    const away = await partsOf(kernel, device)
    return away.ok ? done({ do: 'return', shown, held: { ...device, deployables: {}, away: away.value } }) : away
  }
  return done(step)
}

/** Turns a device that would be recorded as new, but was here before, into a returning one. */
export const withReturning = async (
  kernel: Kernel,
  { departed }: Host,
  { steps, refused }: Agreement,
): Promise<Outcome<Agreement>> => {
  if (departed.length === 0) return done({ steps, refused })
  const judged = await allOf(steps.map((step) => returning(kernel, departed, step)))
  return judged.ok ? done({ steps: judged.value, refused }) : judged
}
