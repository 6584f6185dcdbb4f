/**
 * Answers a host that has lost its ledger with the slots that the journal holds prepared on it, so that the host
 * prepares none of that hardware for another slot, and executes no order that was given before.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import { ledgerAnswerRecord } from '../../wire/message.ts'
import type { LedgerAnswer } from '../../wire/orders.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { type Deployable, localNameOf, takenHandles } from '../../actors/deployable/state.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { createHolders } from '../retirement/retirement.ts'

/** About 350 KiB for each message. */
const SLOTS_MAX = 500

type Held = LedgerAnswer['slots'][number]
const heldOn = (held: Deployable): readonly Held[] =>
  takenHandles(held).flatMap(({ uuid: slot, type, info, arq, pending }) => {
    const number = pending?.number ?? held.orders
    // the deployable has given no order yet, so its host has nothing prepared
    if (number < 1) return []
    const unanswered =
      pending?.type === 'PrepareSlot' || pending?.type === 'ReleaseSlot' ? { pending: pending.type } : {}
    const { driver, uuid: deployableUuid } = held
    const card = held.card ? { card: held.card } : {}
    const place = { driver, deployable: localNameOf(held), deployableUuid, handle: { type, info }, ...card }
    return [{ slot, number, ...unanswered, ...place, ...(arq === null ? {} : { arq }) }]
  })

/** Fault `unavailable`: the report has to be delivered again. An answer that a host gets twice changes nothing. */
export const answerLedger = async (kernel: Kernel, report: InventoryReport): Promise<Outcome<null>> => {
  const { region, clock, publish, log } = kernel
  const name: HostName = report.host
  const known = await region.readCurrent(host, hostKey(name))
  if (!known.ok) return known
  // the host was started again since, and its new start asks too
  if (known.value.state.bootId !== report.bootId) return done(null)
  const places = await createHolders(kernel)(name)
  if (!places.ok) return places
  const slots = places.value.flatMap(heldOn)
  const parts = Array.from({ length: Math.max(1, Math.ceil(slots.length / SLOTS_MAX)) }, (_, n) =>
    slots.slice(n * SLOTS_MAX, (n + 1) * SLOTS_MAX),
  )
  log.info({ host: name, bootId: report.bootId, slots: slots.length }, 'host.ledgerAnswered')
  const answers = parts.map((part, n) =>
    ledgerAnswerRecord(
      { type: 'LedgerAnswer', host: name, bootId: report.bootId, slots: part, last: n === parts.length - 1 },
      `${report.bootId}.ledger.${report.number}.${n}`,
      clock.now(),
    ),
  )
  try {
    await publish(answers)
    return done(null)
  } catch (error) {
    return refuse({ kind: 'unavailable', reason: `the bus: ${textOf(error)}`, retryAfterSeconds: 1 })
  }
}
