/**
 * Compares the prepared slots and the images of cards that a host reports with the journal, and acts on differences.
 *
 * COMPARE-1 one report alone causes no action: the host is asked, and its answer must show the same difference. From
 *    before the question until after the answer, the handle must have no order and no other holder, and the card no
 *    order that may write it. So a delayed report never causes an action;
 * COMPARE-2 a slot on the host without an explanation in the journal is withheld (SLOT-1); a slot that the host has
 *    lost is prepared again (SLOT-2); the image that a card holds is recorded (IMAGE-1);
 * COMPARE-3 a report can change only the devices of the host that sent it;
 * COMPARE-4 a process that loses its question (a restart) asks again after the next report; a comparison that fails is
 *    repeated with that report.
 */
import type { HandleUuid, HostName } from '../../vocabulary/identifiers.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { slotsQuestionRecord } from '../../wire/message.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { SlotCommand } from '../../actors/deployable/slotMessages.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { type ImageDifference, imageDifferences } from '../../actors/inventory/imageDifferences.ts'
import { type Difference, slotDifferences, usedByOthers } from '../../actors/inventory/slotDifferences.ts'
import { createForeignUse } from './foreignUse.ts'
import { recordImage } from './imagesRead.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'
import { createHolders } from '../retirement/retirement.ts'

export type SlotComparison = {
  /**
   * Compares a report of the host's present start. True: nothing differs and no order is open, so an equal report need
   * not be compared.
   */
  readonly compare: (report: InventoryReport) => Promise<boolean>
}

/** How many handles of a host are acted upon for one report; the next report shows the others. */
const AT_ONCE_MAX = 200
const HOSTS_MAX = 10_000
/** A host that reports often is not asked again within this time, because its answer may still come. */
const ANSWER_MS = 2000
const SAID = { unexplained: 'slot.unexplained', lost: 'slot.preparedAgain', in_use: 'slot.inUse' } as const
const CAUSE = { by: 'comparison of slots' } as const

type Seen = Pick<Difference, 'kind' | 'mark'>
/** The differences that were found. */
type Found = { readonly slots: readonly Difference[]; readonly images: readonly ImageDifference[] }
type Question = {
  readonly id: string
  readonly bootId: string
  /** When it was asked, by the monotonic clock. */
  readonly at: number
  readonly seen: ReadonlyMap<HandleUuid, Seen>
  readonly images: readonly ImageDifference[]
}

const seenIn = (differences: readonly Difference[]): Question['seen'] =>
  new Map(differences.map(({ handle, kind, mark }) => [handle, { kind, mark }]))
const sameImage = (one: ImageDifference, other: ImageDifference): boolean =>
  one.deployable === other.deployable && one.mark === other.mark && one.image === other.image
const sameAs = (seen: Seen | undefined, { kind, mark }: Difference): boolean =>
  seen?.kind === kind && seen.mark === mark

const commandOf = (kernel: Kernel, { kind, handle, mark, reason, found }: Difference): SlotCommand => {
  const about = { handle, mark, reason }
  if (kind !== 'lost') return { type: 'Withhold', found, ...about }
  const { clock, ids, options } = kernel
  const deadline = clock.now() + options.bindDeadlineMs
  return { type: 'PrepareAgain', deadline, requestId: `req-${ids.uuid()}`, ...about }
}

/**
 * Whether the host ever had the slot prepared: its request was bound by an order or, if it was imported from upstream,
 * has a mediated device.
 */
const wasPrepared = async ({ region }: Kernel, { deployable: uuid, handle }: Difference): Promise<boolean> => {
  const place = await region.readCurrent(deployable, deployableKey(uuid))
  const holder = place.ok ? (place.value.state.handles[handle]?.arq ?? null) : null
  if (holder === null) return false
  const known = await region.readCurrent(arq, arqKey(holder))
  const bond = known.ok ? known.value.state.bond : null
  return bond?.handle.uuid === handle && (bond.order !== null || bond.handle.type === 'MDEV')
}

const act = async (kernel: Kernel, name: HostName, found: Difference): Promise<void> => {
  const { region, counts, clock, log } = kernel
  const { kind, deployable: uuid, handle, reason } = found
  if (kind === 'lost' && !(await wasPrepared(kernel, found))) return
  const key = deployableKey(uuid)
  const work = newWork(kernel, CAUSE, (draft) => draft.decide(deployable, key, commandOf(kernel, found)).length > 0)
  const recorded = await region.tell(key, work)
  const about = { host: name, deployable: uuid, handle, reason }
  if (!recorded.ok) return log.warn({ ...about, fault: recorded.fault }, 'slot.differenceUnrecorded')
  if (!recorded.value) return
  counts.slotDifferences[kind]++
  counts.lastAt.slotDifferences = clock.now()
  log.error(about, SAID[kind])
}

const firstOf = (differences: readonly Difference[]): string =>
  differences.map(({ handle, found }) => found?.slot ?? handle).reduce((one, other) => (one < other ? one : other))

export const createSlotComparison = (kernel: Kernel): SlotComparison => {
  const { region, ids, clock, publish, log } = kernel
  /** The last question to each host. */
  const questions = new Map<HostName, Question>()
  const foreignUse = createForeignUse(clock)
  const ask = async ({ host: name, bootId }: InventoryReport, { slots, images }: Found): Promise<void> => {
    const [id, at, standing] = [ids.uuid(), clock.monotonic(), questions.get(name)]
    if (standing?.bootId === bootId && at - standing.at < ANSWER_MS) return
    if (questions.size >= HOSTS_MAX && !questions.has(name)) questions.clear()
    questions.set(name, { id, bootId, at, seen: seenIn(slots), images })
    const from = slots.length > 0 ? { from: firstOf(slots) } : {}
    const question = { type: 'TellSlots', host: name, bootId, id, ...from } as const
    await publish([slotsQuestionRecord(question, clock.now())])
  }
  const answered = async ({ host: name, slots: said }: InventoryReport, { slots, images }: Found): Promise<boolean> => {
    const question = questions.get(name)
    if (question === undefined || question.id !== said?.answers) return false
    questions.delete(name)
    for (const one of slots.filter((each) => sameAs(question.seen.get(each.handle), each))) await act(kernel, name, one)
    const read = images.filter((each) => question.images.some((other) => sameImage(each, other)))
    for (const one of read) await recordImage(kernel, name, one)
    return true
  }
  const compare = async (report: InventoryReport): Promise<boolean> => {
    const { host: name, slots, bootId } = report
    if (slots === undefined) return true
    const present = await region.readCurrent(host, hostKey(name))
    if (!present.ok) return false
    // a handle that an operator took out of service is not repaired
    if (present.value.state.bootId !== bootId || present.value.state.retired) return false
    // cached state may be older than the report, because another process may have taken this host's results
    const places = await createHolders(kernel)(name)
    if (!places.ok) return false
    const { differences, unknown, undecided } = slotDifferences(slots, places.value)
    const used = usedByOthers(slots, places.value)
    const lasting = foreignUse(name, used)
    if (unknown.length > 0)
      log.warn({ host: name, slots: unknown.slice(0, 10), count: unknown.length }, 'slots.unknown')
    for (const one of lasting.slice(0, AT_ONCE_MAX)) await act(kernel, name, one)
    const images = imageDifferences(report, places.value)
    const found = { slots: differences.slice(0, AT_ONCE_MAX), images: images.differences.slice(0, AT_ONCE_MAX) }
    const count = differences.length + images.differences.length
    if (count > 0 && !(await answered(report, found))) await ask(report, found)
    return !undecided && !images.undecided && count + used.length + unknown.length === 0
  }
  return {
    compare: async (report) => {
      try {
        return await compare(report)
      } catch (error) {
        log.warn({ host: report.host, reason: textOf(error) }, 'slots.notCompared')
        return false
      }
    },
  }
}
