/**
 * A retired device that is shown again is the same device: it keeps its UUIDs and ids, and an operator's decisions
 * about it hold until an operator changes them (data-model 11.4, decision 0131). It is recognised by the marks of its
 * card, wherever it is shown, and without them by its control path and its kind of card.
 */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { device as deviceDecider, deviceKey } from '../../actors/device/decider.ts'
import type { HeldDevice, Host } from '../../actors/host/decider.ts'
import type { Agreement, Step } from '../../actors/inventory/reconcile.ts'
import { addressOf } from '../../actors/host/held.ts'
import { candidatesAmong, isSameCard, movedDevice } from '../../actors/inventory/sameCard.ts'
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

/** A new device may be one that has left; two new ones are not the same. */
const returning = async (
  kernel: Kernel,
  candidates: ReturnType<typeof candidatesAmong>,
  step: Step,
  back: Set<string>,
): Promise<Outcome<Step>> => {
  if (step.do !== 'record') return done(step)
  const { shown } = step
  for (const one of candidates(shown)) {
    const { canonical, device } = one
    if (back.has(device.uuid)) continue
    const read = await kernel.region.readCurrent(deviceDecider, deviceKey(device.uuid))
    if (!read.ok) return read
    const { exists, presence, facts } = read.value.state
    if (!exists || presence !== 'retired' || !isSameCard(one, facts, shown)) continue
    back.add(device.uuid)
    const away = await partsOf(kernel, device)
    if (!away.ok) return away
    const held = { ...device, deployables: {}, away: away.value }
    const [was, is] = [canonical, shown.canonical]
    const moved = { device: device.uuid, from: addressOf(canonical, device), to: is, was, is }
    return was === is
      ? done({ do: 'return', shown, held })
      : done({ do: 'return', shown, held: movedDevice(held, was, moved), moved })
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
  const [back, candidates] = [new Set<string>(), candidatesAmong(departed)]
  const judged: Step[] = []
  for (const step of steps) {
    const one = await returning(kernel, candidates, step, back)
    if (!one.ok) return one
    judged.push(one.value)
  }
  return done({ steps: judged, refused })
}
