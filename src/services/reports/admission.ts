/**
 * Decides whether a report may be believed: first by the message alone, then by the recorded state of its host.
 *
 * ADMISSION-1 a message with a wrong signature, or from a host of another cloud, is refused before it is read, and
 *    nothing is recorded;
 * ADMISSION-2 the cached key of a host may be out of date for one sweep at most. A report is refused only by the
 *    present key;
 * ADMISSION-3 a report of a host without an approved key is ignored. At most `PENDING_MAX` such hosts are recorded;
 * ADMISSION-4 a report that shows the key of another host is refused (`hostKeys.ts`);
 * ADMISSION-5 a report that is not signed is refused: every host signs since release 0.3.0. Of a host without a key,
 *    nothing is recorded.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import type { Report } from '../../wire/reports.ts'
import { CLOUD_HEADER, cloudOf } from '../../wire/seal.ts'
import { type Host, host, hostKey } from '../../actors/host/decider.ts'
import { type Judgement, decideKey, judgeSigner } from '../../actors/host/enrollment.ts'
import type { Refusal } from '../../actors/runtime/refusals.ts'
import type { HostKeys } from '../hosts/hostKeys.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Liveness } from '../hosts/liveness.ts'
import { noteRefusal } from './provenance.ts'

/** How many hosts may wait for approval; nothing else is recorded of them. */
export const PENDING_MAX = 1000
/** After that many were counted, they are not counted again for this long. */
const FULL_FOR_MS = 10_000

/**
 * `signer`: the key that signed the message; null: the message is unsigned. `refused`: the reason to ignore the
 * message.
 */
export type Admission = { readonly signer: string | null } | { readonly refused: string }

export const createAdmit =
  ({ cloud, clock, counts, log, verify }: Kernel) =>
  (record: BusRecord): Admission => {
    const barred = (reason: Refusal, rule: string): Admission => {
      counts.refusedReports[reason]++
      counts.lastAt.refusedReports = clock.now()
      log.warn({ host: record.key, reason, rule }, 'report.refused')
      return { refused: rule }
    }
    const said = cloudOf(record)
    // checked first, because a MAC of a host of another cloud cannot be verified
    if (cloud !== null && said !== null && said !== cloud.id)
      return barred(
        'foreign_cluster',
        `${CLOUD_HEADER}: host ${record.key} belongs to cloud ${said}, and this is cloud ${cloud.id}`,
      )
    const verified = verify(record)
    return 'wrong' in verified ? barred('bad_signature', verified.wrong) : verified
  }

type Shown = Pick<Report, 'host' | 'type'> & { readonly signer: string | null }

/** Whether one more host may wait for approval. */
const createRoom = ({ reads, clock, log }: Kernel) => {
  let fullUntil = -Infinity
  return async (): Promise<boolean> => {
    if (clock.monotonic() < fullUntil) return false
    const pending = (await reads.tally('hosts', 'liveness')).get('pending') ?? 0
    if (pending < PENDING_MAX) return true
    fullUntil = clock.monotonic() + FULL_FOR_MS
    log.warn({ pending }, 'host.tooManyPending')
    return false
  }
}

/** Records the key that a host presents, if it is not recorded yet; then judges the host by its recorded keys. */
const createPresent = (kernel: Kernel, keys: HostKeys) => {
  const { options, clock, log } = kernel
  const hasRoom = createRoom(kernel)
  const waits = (name: HostName): Outcome<Judgement> =>
    done({ refusal: 'not_approved', rule: `no operator has approved the key of host ${name}` })
  return async (held: Host, { host: name, type }: Shown, signer: string): Promise<Outcome<Judgement>> => {
    const { enrollment } = options
    // of an unknown host, only an inventory report has an effect
    if (!held.exists && type !== 'Inventory') return enrollment === 'first-use' ? done('believed') : waits(name)
    const commandAt = (at: number) => ({ type: 'PresentKey', name, key: signer, enrollment, at }) as const
    if (enrollment === 'approve') {
      if (decideKey(held.keys ?? {}, commandAt(clock.now())) === null) return waits(name)
      if (!held.exists && held.keys?.offered === undefined && !(await hasRoom())) return waits(name)
    }
    const recorded = await keys.record(name, commandAt, { cause: { by: `host ${name}` } })
    if (!recorded.ok)
      return recorded.fault.kind === 'conflict'
        ? done({ refusal: 'shared_key', rule: recorded.fault.reason })
        : recorded
    if (recorded.value?.event) log.info({ host: name, key: signer, enrollment }, 'host.keyPresented')
    const now = recorded.value?.state ?? held
    const judged = judgeSigner(name, now.keys ?? {}, signer, enrollment)
    return judged === 'present' ? waits(name) : done(judged)
  }
}

/** `passed over`: the report is ignored, without a dead letter. Every fault but `unavailable` is final. */
export type JudgeSender = (shown: Shown) => Promise<Outcome<'believed' | 'passed over'>>

export const createJudgeSender = (kernel: Kernel, liveness: Liveness, keys: HostKeys): JudgeSender => {
  const { options, region, counts, clock, log, cloud } = kernel
  const present = createPresent(kernel, keys)
  // without an identity of its own, a control has nothing by which hosts could know it either
  const judge = ({ keys: held = {} }: Host, { host: name, signer }: Shown): Judgement =>
    cloud !== null && signer === null && held.key === undefined
      ? { refusal: 'unsigned', rule: `this is not signed: host ${name} has to be upgraded to release 0.3.0 first` }
      : judgeSigner(name, held, signer, options.enrollment)
  const note = async ({ host: name }: Shown, reason: Refusal, rule: string, hasKey: boolean): Promise<void> => {
    if (hasKey) return noteRefusal(kernel, { host: name, reason, field: 'signer', rule })
    counts.refusedReports[reason]++
    counts.lastAt.refusedReports = clock.now()
    log.warn({ host: name, reason, rule }, 'report.refused')
  }
  const refused = async (held: Host, shown: Shown, refusal: Refusal, rule: string): ReturnType<JudgeSender> => {
    if (refusal === 'not_approved') {
      counts.refusedReports.not_approved++
      return done('passed over')
    }
    await note(shown, refusal, rule, refusal !== 'unsigned' || held.keys?.key !== undefined)
    // a refused heartbeat is ignored, because it is not worth a dead letter
    return shown.type === 'Heartbeat' ? done('passed over') : refuse({ kind: 'forbidden', rule: `signer: ${rule}` })
  }
  return async (shown) => {
    const { host: name, signer } = shown
    const cached = await region.readCached(host, hostKey(name))
    if (!cached.ok) return cached
    const isFresh = cached.value.state.updatedAt === liveness.changedAt(name)
    if (isFresh && judge(cached.value.state, shown) === 'believed') return done('believed')
    const current = await region.readCurrent(host, hostKey(name))
    if (!current.ok) return current
    const judged = judge(current.value.state, shown)
    const decided =
      judged === 'present' && signer !== null ? await present(current.value.state, shown, signer) : done(judged)
    if (!decided.ok) return decided
    if (typeof decided.value === 'object')
      return refused(current.value.state, shown, decided.value.refusal, decided.value.rule)
    return done('believed')
  }
}
