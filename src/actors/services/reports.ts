/** What hosts say, carried to the actors it concerns. Every message is idempotent by its id; an error means "say it again later". */
import type { InventoryReport, OrderResult, Report } from '../../wire/reports.ts'
import { inventoryDigest } from '../../wire/message.ts'
import { type Arq, arq, arqKey } from '../arq/decider.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Deployable } from '../deployable/state.ts'
import type { Draft } from '../runtime/draft.ts'
import type { Liveness } from './liveness.ts'
import type { Bond } from '../arq/messages.ts'
import { commandIdOf } from '../runtime/commandId.ts'
import { reportPrepared } from './conclude.ts'
import { recordInventory } from './inventory.ts'
import type { Kernel } from './kernel.ts'
import { traceField, within } from '../../trace.ts'
import { storable } from '../../text.ts'

/** A release that failed is ordered again within this time. */
const RELEASE_FOR_MS = 600_000

export type Reports = {
  /** Throws when it could not be recorded now: the message has to come again. */
  readonly take: (report: Report, messageId: string) => Promise<void>
  /** One compare: true when this picture of this boot was taken already and would change nothing. */
  readonly unchanged: (sighting: {
    readonly host: string
    readonly boot: string
    readonly number: number
    readonly digest: string
  }) => boolean
}

/** `settled`: the same picture again would change nothing, unless what is recorded of the host has changed since. */
type Known = {
  readonly boot: string
  readonly number: number
  readonly digest: string
  readonly settled: boolean
  readonly changedAt: number | null
}
const HOSTS_MAX = 100_000

const failedOf = ({ result }: OrderResult) => (result.status === 'failed' ? storable(result.reason) : null)

/** A release on the host concerns the ARQ that gave the handle up, as long as it is there to be told. */
const releaseAnswered = (draft: Draft, uuid: string, lastArq: string | null, slot: string, result: OrderResult) => {
  const key = deployableKey(uuid)
  const answer = {
    type: 'Answer',
    slot,
    number: result.number,
    failed: failedOf(result),
    retryBy: draft.at + RELEASE_FOR_MS,
  } as const
  const final = result.result.status === 'failed' && result.result.final
  const [event] = draft.decide(deployable, key, { ...answer, final })
  if (!event || !lastArq) return null
  const { status } = draft.state(arq, arqKey(lastArq))
  if (event.type === 'OrderFailed' && event.again === null && status === 'Unbound')
    draft.decide(arq, arqKey(lastArq), { type: 'ReportReleaseFailed', handle: slot, reason: event.reason })
  if (event.type === 'OrderDone' && status === 'UnbindFailed')
    draft.decide(arq, arqKey(lastArq), { type: 'ReportReleased', handle: slot })
  return null
}

/** The bond that waits for the answer to this order; what is remembered will do when it shows one. */
const bondOf = async ({ region }: Kernel, uuid: string, number: number): Promise<Bond | null> => {
  for (const ask of [region.readCached, region.readCurrent]) {
    const looked = await ask(arqKey(uuid))
    if (!looked.ok) throw new Error(looked.fault.kind)
    const { bond } = looked.value.state as Arq
    if (bond?.order === number) return bond
  }
  return null
}

const takeResult = async (kernel: Kernel, result: OrderResult, messageId: string) => {
  const { region, units, clock } = kernel
  const { deployableUuid: uuid, slot, number } = result
  const commandId = commandIdOf(messageId)
  const cause = { by: `host ${result.host}`, ...traceField(result.trace) }
  const bond = result.order === 'PrepareSlot' && result.arq ? await bondOf(kernel, result.arq, number) : null
  if (bond) {
    const workMs = Math.max(0, result.finishedAt - result.startedAt)
    const report = { arq: result.arq!, deployable: uuid, slot, number, failed: failedOf(result), workMs }
    return void (await reportPrepared(kernel, bond.instanceUuid, commandId, report, cause))
  }
  const looked = await region.readCurrent(deployableKey(uuid))
  if (!looked.ok) throw new Error(looked.fault.kind)
  const { lastArq = null } = (looked.value.state as Deployable).handles[slot] ?? {}
  const keys = [deployableKey(uuid), ...(lastArq ? [arqKey(lastArq)] : [])]
  const done = await units.together(keys, {
    commandId,
    at: clock.now(),
    cause,
    plan: (draft) => releaseAnswered(draft, uuid, lastArq, slot, result),
  })
  if (!done.ok && done.fault.kind === 'unavailable') throw new Error(done.fault.reason)
}

export const createReports = (kernel: Kernel, liveness: Liveness): Reports => {
  /** The last picture that was taken of each host; a cache. Reports that said nothing new are known only here. */
  const pictures = new Map<string, Known>()
  const remember = (name: string, known: Known) => {
    if (pictures.size < HOSTS_MAX || pictures.has(name)) pictures.set(name, known)
  }
  const takeInventory = async (report: InventoryReport, messageId: string) => {
    const { host, bootId: boot, number } = report
    const known = pictures.get(host)
    if (known && known.boot === boot && number < known.number) return
    const digest = inventoryDigest(report)
    const changedAt = liveness.changedAt(host)
    const settled = await recordInventory(kernel, { report, digest, commandId: commandIdOf(messageId) })
    if (settled !== null) remember(host, { boot, number, digest, settled, changedAt })
  }
  return {
    unchanged: ({ host, boot, number, digest }) => {
      liveness.seen(host)
      const known = pictures.get(host)
      if (!known?.settled || known.boot !== boot || known.digest !== digest) return false
      if (known.changedAt !== liveness.changedAt(host)) return false
      // one in between was taken by another process, and may have said something else
      if (number > known.number + 1) return false
      remember(host, { ...known, number: Math.max(number, known.number) })
      return true
    },
    take: async (report, messageId) => {
      liveness.seen(report.host)
      if (report.type === 'Inventory') await takeInventory(report, messageId)
      if (report.type !== 'OrderResult') return
      const span = kernel.tracer.part('consumer', 'result taken', report.trace)
      await within(span, (trace) => takeResult(kernel, { ...report, ...traceField(trace) }, messageId))
    },
  }
}
