import { type RefusalCounts, noRefusals } from './refusals.ts'

/** Counters of this process since its start: appends, fences, second reads. The metrics show them. */
export type Counts = {
  /** Appends that were written. */
  appends: number
  /**
   * Appends that were fenced because another process had written first: nothing was written, and the decision was made
   * again.
   */
  fences: number
  /** Commands that were written after a fence. */
  retries: number
  /** Commands that were refused when they were decided again after a fence. */
  refusedAfterFence: number
  /** Refusals decided on cached state that the journal's tail confirmed. */
  refusedAfterLook: number
  /**
   * Refusals decided on cached state that the journal's tail overturned: without that read the caller would have been
   * refused wrongly.
   */
  savedByLook: number
  /** Appends for which the store did not say whether they were written. */
  unknown: number
  /** Commands that were given up because they were fenced too often. */
  givenUp: number
  /** Entities whose view rows were compared with rows computed from their journal, and those that differed. */
  viewsChecked: number
  viewsDiffer: number
  /** Handles that are held for an ARQ that does not have them. */
  orphans: number
  /** Accelerator requests that were deleted because they were not bound for too long. */
  unboundDeleted: number
  /** Accelerator requests that were deleted because Nova does not know their server any more. */
  orphansDeleted: number
  /** Differences between the slots of a host and the journal, for which a handle was withheld or prepared again. */
  readonly slotDifferences: Record<SlotDifference, number>
  /** Cards whose host reported another image than the recorded one; the reported image was recorded. */
  imagesRead: number
  /** Reports that were refused because of their sender. */
  readonly refusedReports: RefusalCounts
  /** When each of these was last counted, ms since the epoch; null: never since the start. */
  readonly lastAt: Record<Alarming, number | null>
}
/**
 * Counters of events that must not happen where everything works. Reports of hosts whose key waits for an operator do
 * not count.
 */
export type Alarming = 'viewsDiffer' | 'orphans' | 'slotDifferences' | 'refusedReports'
/**
 * `unexplained`: the host has prepared a slot that the journal does not explain; `lost`: the journal says that a slot
 * is prepared, and the host does not have it; `in_use`: the hardware of a handle is in use, and no request has the
 * handle.
 */
export const SLOT_DIFFERENCES = ['unexplained', 'lost', 'in_use'] as const
export type SlotDifference = (typeof SLOT_DIFFERENCES)[number]
export const noCounts = (): Counts => ({
  appends: 0,
  fences: 0,
  retries: 0,
  refusedAfterFence: 0,
  refusedAfterLook: 0,
  savedByLook: 0,
  unknown: 0,
  givenUp: 0,
  viewsChecked: 0,
  viewsDiffer: 0,
  orphans: 0,
  unboundDeleted: 0,
  orphansDeleted: 0,
  slotDifferences: { unexplained: 0, lost: 0, in_use: 0 },
  imagesRead: 0,
  refusedReports: noRefusals(),
  lastAt: { viewsDiffer: null, orphans: null, slotDifferences: null, refusedReports: null },
})
