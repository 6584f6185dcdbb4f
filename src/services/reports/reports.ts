/**
 * Passes the reports of hosts to the actors they concern. A message that is delivered twice has its effect once,
 * because of its id.
 */
import type { ArqUuid, DeployableUuid, HostName } from '../../vocabulary/identifiers.ts'
import type { InventoryReport, OrderResult, Report } from '../../wire/reports.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { type Admission, createAdmit, createJudgeSender } from './admission.ts'
import { inventoryDigest } from '../../wire/message.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type Deployable, handleOf } from '../../actors/deployable/state.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import type { HostKeys } from '../hosts/hostKeys.ts'
import type { Liveness } from '../hosts/liveness.ts'
import type { MeasurementsKeeper } from '../devices/measurements.ts'
import type { Bond } from '../../actors/arq/messages.ts'
import { answerLedger } from './ledgerAnswer.ts'
import { commandIdOf } from '../../actors/runtime/commandId.ts'
import { reportPrepared } from '../arqs/conclude.ts'
import { noteAnswer } from '../hosts/probe.ts'
import { recordInventory } from './inventory.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import { judgeHeartbeat, judgeResult, withoutWrongBoot } from './provenance.ts'
import type { Cause } from '../../actors/runtime/ports.ts'
import { createNewDevices } from './newDevices.ts'
import { type Shown, createInventorySnapshots } from './inventorySnapshots.ts'
import { createSlotComparison } from './slots.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, RELEASE_FOR_MS } from '../kernel/kernel.ts'
import { traceField, inSpan } from '../../vocabulary/trace.ts'
import { storable } from '../../vocabulary/text.ts'

export type Reports = {
  /**
   * Fault `unavailable`: the message has to be delivered again; other faults are final. `signer`: the key that `admit`
   * found.
   */
  readonly take: (report: Report, messageId: string, signer?: string | null) => Promise<Outcome<null>>
  /** Whether the message may be read, and who signed it. */
  readonly admit: (record: BusRecord) => Admission
  /**
   * True if the same inventory of this boot and signer was taken before, so that it would change nothing. Only
   * compares; reads no store.
   */
  readonly unchanged: (shown: Omit<Shown, 'signer'>, signer?: string | null) => boolean
}

const failedOf = ({ result }: OrderResult) => (result.status === 'failed' ? storable(result.reason) : null)

/** The inventory with texts that every store accepts. */
const cleanedOf = ({ result: { cleaned } }: OrderResult) =>
  cleaned && { ...cleaned, command: storable(cleaned.command), output: storable(cleaned.output) }

/** The end of a release also changes the ARQ that gave the handle up, if that ARQ still exists. */
const releaseAnswered = (draft: Draft, uuid: DeployableUuid, lastArq: ArqUuid | null, result: OrderResult) => {
  const key = deployableKey(uuid)
  const answer = {
    type: 'Answer',
    slot: result.slot,
    number: result.number,
    order: result.order,
    failed: failedOf(result),
    cleaned: cleanedOf(result),
    retryBy: draft.at + RELEASE_FOR_MS,
  } as const
  const final = result.result.status === 'failed' && result.result.final
  const [event] = draft.decide(deployable, key, { ...answer, final })
  if (!event || !lastArq) return null
  const { status } = draft.state(arq, arqKey(lastArq))
  if (event.type === 'OrderFailed' && event.again === null && status === 'Unbound')
    draft.decide(arq, arqKey(lastArq), { type: 'ReportReleaseFailed', handle: event.slot, reason: event.reason })
  if (event.type === 'OrderDone' && status === 'UnbindFailed')
    draft.decide(arq, arqKey(lastArq), { type: 'ReportReleased', handle: event.slot })
  return null
}

/** The bond that waits for the answer to this order; null: none does. Uses the cached state if that shows the bond. */
const bondOf = async ({ region }: Kernel, uuid: ArqUuid, number: number): Promise<Outcome<Bond | null>> => {
  for (const read of [region.readCached, region.readCurrent]) {
    const known = await read(arq, arqKey(uuid))
    if (!known.ok) return known
    const { bond } = known.value.state
    if (bond?.order === number) return { ok: true, value: bond }
  }
  return { ok: true, value: null }
}

/** Ids of messages are chosen by hosts: one host must not be able to use up those of another one. */
const commandOf = (host: HostName, messageId: string): string => commandIdOf(JSON.stringify([host, messageId]))

type Taking = { readonly result: OrderResult; readonly commandId: string; readonly cause: Cause }

/** Records the answer to any order except one that prepares a slot for an open bind. */
const takeAnswer = async (kernel: Kernel, { result, commandId, cause }: Taking): Promise<Outcome<null>> => {
  const { deployableUuid: uuid, slot } = result
  const key = deployableKey(uuid)
  const lastArqOf = (held: Deployable): ArqUuid | null => handleOf(held, slot)?.lastArq ?? null
  const taken = await transact(kernel, {
    subject: `the release of handle ${slot}`,
    cause,
    commandId,
    guess: async () => {
      const known = await kernel.region.readCurrent(deployable, key)
      if (!known.ok) return known
      const lastArq = lastArqOf(known.value.state)
      return { ok: true, value: { keys: [key, ...(lastArq ? [arqKey(lastArq)] : [])], lastArq } }
    },
    plan: (draft, { lastArq }) =>
      lastArqOf(draft.state(deployable, key)) === lastArq ? releaseAnswered(draft, uuid, lastArq, result) : MOVED,
  })
  // a host that reads its orders again also answers those for deployables that no longer exist
  if (taken.ok || taken.fault.kind !== 'not_found') return taken
  kernel.log.info({ host: result.host, deployable: uuid, slot, number: result.number }, 'result.unknownDeployable')
  return { ok: true, value: null }
}

const takeResult = async (kernel: Kernel, result: OrderResult, messageId: string): Promise<Outcome<null>> => {
  const judged = await judgeResult(kernel, result)
  if (!judged.ok) return judged
  if (judged.value === 'ignored') return { ok: true, value: null }
  const { deployableUuid: uuid, slot, number } = result
  const commandId = commandOf(result.host, messageId)
  const cause = { by: `host ${result.host}`, ...traceField(result.trace) }
  const bound = result.order === 'PrepareSlot' ? result.arq : undefined
  const bond = bound === undefined ? null : await bondOf(kernel, bound, number)
  if (bond && !bond.ok) return bond
  if (!bond?.value) return takeAnswer(kernel, { result, commandId, cause })
  const workMs = Math.max(0, result.finishedAt - result.startedAt)
  const loaded = result.result.status === 'done' ? result.result.loaded : undefined
  const report = { arq: result.arq!, deployable: uuid, slot, number, failed: failedOf(result), workMs, loaded }
  const taken = await reportPrepared(kernel, bond.value.instanceUuid, commandId, report, cause)
  return taken.ok ? { ok: true, value: null } : taken
}

type Parts = {
  readonly kernel: Kernel
  readonly liveness: Liveness
  readonly keys: HostKeys
  readonly measurements: Pick<MeasurementsKeeper, 'take'>
}
export const createReports = ({ kernel, liveness, keys, measurements }: Parts): Reports => {
  const slots = createSlotComparison(kernel)
  const snapshots = createInventorySnapshots(kernel, liveness)
  const judgeSender = createJudgeSender(kernel, liveness, keys)
  const newDevices = createNewDevices(kernel.clock)
  type Signer = string | null
  const takeInventory = async (report: InventoryReport, messageId: string, signer: Signer): Promise<Outcome<null>> => {
    const { host, bootId: boot, number } = report
    if (snapshots.isOld(report)) return noteAnswer(kernel, report)
    const digest = inventoryDigest(report)
    const before = { changedAt: liveness.changedAt(host), incarnation: snapshots.incarnation() }
    const recorded = await recordInventory(kernel, {
      report,
      digest,
      commandId: commandOf(host, messageId),
      newDevices,
    })
    if (!recorded.ok) return recorded
    const answered = report.ledger === 'new' ? await answerLedger(kernel, report) : null
    if (answered && !answered.ok) return answered
    const noted = await noteAnswer(kernel, report)
    if (!noted.ok || recorded.value === 'old') return noted
    const snapshot = { boot, number, digest, complete: recorded.value === 'complete', signer, ...before }
    await snapshots.take(report, snapshot, () => slots.compare(report))
    return { ok: true, value: null }
  }
  const takeOrderResult = async (report: OrderResult, messageId: string): Promise<Outcome<null>> => {
    const span = kernel.tracer.part('consumer', 'result taken', report.trace)
    const take = (trace: string | undefined) => takeResult(kernel, { ...report, ...traceField(trace) }, messageId)
    try {
      return await inSpan(span, take, (taken) => (taken.ok ? undefined : taken.fault.kind))
    } finally {
      // called only after the result is recorded: slots compared earlier agreed with the state before the result
      snapshots.orderEnded(report.host)
    }
  }
  return {
    admit: createAdmit(kernel),
    unchanged: (shown, signer = null) => {
      if (!snapshots.isFrom(shown.host, signer)) return false
      liveness.seen(shown.host)
      return snapshots.isKnown({ ...shown, signer })
    },
    take: async (told, messageId, signer = null) => {
      const report = withoutWrongBoot(told, kernel.clock.now())
      const judged = await judgeSender({ host: report.host, type: report.type, signer })
      if (!judged.ok) return judged
      if (judged.value === 'passed over') return { ok: true, value: null }
      if (report.type === 'Heartbeat') {
        const alone = await judgeHeartbeat(kernel, report)
        if (!alone.ok) return alone
        liveness.seen(report.host)
        await measurements.take(report)
        return alone
      }
      liveness.seen(report.host)
      return report.type === 'Inventory' ? takeInventory(report, messageId, signer) : takeOrderResult(report, messageId)
    },
  }
}
