/**
 * Decides whether a host may answer an order.
 *
 * PROVENANCE-1 a result counts only if it comes from the host that has the deployable;
 * PROVENANCE-2 a result of a former boot changes nothing: its order is sent again, and the present boot answers that
 *    from its ledger;
 * PROVENANCE-3 a report of a host of another cloud, or with a wrong signature, is ignored, and nothing of it is
 *    recorded (`admission.ts`);
 * PROVENANCE-4 if a start still reports after a later start has reported, two programs run under one name: the older
 *    one is told to stop;
 * PROVENANCE-5 a refused report goes to the dead letters with the reason and is counted; for a host of this cloud it is
 *    recorded once an hour;
 * PROVENANCE-6 the number of a start is at least the time at which it began. One that lies further ahead than the
 *    clocks of a cloud differ says nothing: starts are told apart by their ids then. A host whose clock was wrong once,
 *    and that has lost its folder since, is not kept out until that time has come.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import { stopRecord } from '../../wire/message.ts'
import type { Heartbeat, OrderResult } from '../../wire/reports.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type Deployable, handleOf } from '../../actors/deployable/state.ts'
import { bootAge } from '../../actors/host/boots.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import type { Refusal } from '../../actors/runtime/refusals.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'

export type Refused = {
  readonly host: HostName
  readonly reason: Refusal
  /** For the dead letter: the wrong field, and the problem. */
  readonly field: string
  readonly rule: string
}

/** Counts the refusal and records it in the host's journal. */
export const noteRefusal = async (kernel: Kernel, { host: name, reason, field, rule }: Refused): Promise<void> => {
  kernel.counts.refusedReports[reason]++
  kernel.counts.lastAt.refusedReports = kernel.clock.now()
  kernel.log.warn({ host: name, reason, field, rule }, 'report.refused')
  const key = hostKey(name)
  const work = newWork(kernel, { by: 'provenance' }, (draft) => {
    draft.decide(host, key, { type: 'RefuseReport', reason, detail: `${field}: ${rule}`, at: draft.at })
    return null
  })
  const recorded = await kernel.region.tell(key, work)
  if (!recorded.ok) kernel.log.warn({ host: name, fault: recorded.fault }, 'report.refusalUnrecorded')
}
/** The refusal is final: the message goes to the dead letters. */
const refuseReport = async (kernel: Kernel, refused: Refused) => {
  await noteRefusal(kernel, refused)
  return refuse({ kind: 'invalid', field: refused.field, rule: refused.rule })
}

const BOOT_AHEAD_MS = 24 * 3_600_000
/** PROVENANCE-6 */
export const withoutWrongBoot = <Report extends { readonly bootNumber?: number | undefined }>(
  report: Report,
  now: number,
): Report => {
  const { bootNumber = 0, ...rest } = report
  // all that is left out is optional
  return bootNumber > now + BOOT_AHEAD_MS ? (rest as Report) : report
}

const waitsFor = (held: Deployable, { slot, number }: OrderResult): boolean =>
  handleOf(held, slot)?.pending?.number === number || held.program?.order.number === number

/** `ignored`: a former boot answered an order that waits for no answer. */
export const judgeResult = async (kernel: Kernel, result: OrderResult): Promise<Outcome<'counts' | 'ignored'>> => {
  const { region } = kernel
  const key = deployableKey(result.deployableUuid)
  const cached = await region.readCached(deployable, key)
  const place = cached.ok && !cached.value.state.exists ? await region.readCurrent(deployable, key) : cached
  if (!place.ok) return place
  const held = place.value.state
  if (held.exists && held.host !== result.host)
    return refuseReport(kernel, {
      host: held.host,
      reason: 'foreign_host',
      field: 'data.host',
      rule: `deployable ${held.uuid} is on host ${held.host}, and host ${result.host} (boot ${result.bootId}) answers for it`,
    })
  return judgeBoot(kernel, result)
}

const judgeBoot = async (kernel: Kernel, result: OrderResult): Promise<Outcome<'counts' | 'ignored'>> => {
  const { region } = kernel
  const key = hostKey(result.host)
  // a cached host may be out of date: if the boot differs from the cached one, the journal is read
  for (const read of [region.readCached, region.readCurrent]) {
    const known = await read(host, key)
    if (!known.ok) return known
    const age = bootAge(known.value.state, result)
    if (age === 'present' || (age === 'newer' && read === region.readCurrent)) return done('counts')
  }
  const place = await region.readCurrent(deployable, deployableKey(result.deployableUuid))
  if (!place.ok) return place
  if (!waitsFor(place.value.state, result)) return done('ignored')
  return refuseReport(kernel, {
    host: result.host,
    reason: 'former_boot',
    field: 'data.bootId',
    rule: `boot ${result.bootId} of host ${result.host} is over: a later one has reported`,
  })
}

/**
 * A heartbeat sent before the present start began comes from a start that has ended; it was delivered late or twice.
 */
const SKEW_MS = 2000
/** Returns a final fault if this heartbeat shows a second program under the name of the host; otherwise null. */
export const judgeHeartbeat = async (kernel: Kernel, beat: Heartbeat): Promise<Outcome<null>> => {
  const { region, clock, ids, publish, log } = kernel
  const { host: name, bootId, bootNumber, observedAt } = beat
  const known = await region.readCached(host, hostKey(name))
  if (!known.ok || bootNumber === undefined) return done(null)
  const held = known.value.state
  if (bootAge(held, beat) !== 'former' || observedAt < (held.bootNumber ?? Infinity) + SKEW_MS) return done(null)
  const stop = { type: 'Stop', host: name, bootId, by: held.bootId } as const
  try {
    await publish([stopRecord(stop, `${bootId}.stop.${ids.uuid()}`, clock.now())])
  } catch (error) {
    log.warn({ host: name, reason: textOf(error) }, 'host.stopUnsent')
  }
  return refuseReport(kernel, {
    host: name,
    reason: 'doubled_host',
    field: 'data.bootId',
    rule: `two programs run under the name ${name}: boot ${bootId}, which is told to stop, and the later boot ${held.bootId}`,
  })
}
