/** What this process has met since it started: how often it wrote, was overtaken, and looked again. Read by the metrics. */
export type Counts = {
  /** Appends that were written. */
  appends: number
  /** Appends that another process had overtaken: nothing was written, and it was decided again. */
  fences: number
  /** Works that were written after a fence. */
  retries: number
  /** Works that were refused when they were decided again after a fence. */
  refusedAfterFence: number
  /** Refusals from memory that the journal's tail confirmed. */
  refusedAfterLook: number
  /** Refusals from memory that were none by the journal's tail: without the look somebody would have been refused wrongly. */
  savedByLook: number
  /** Appends of which the store did not say whether they were written. */
  unknown: number
  /** Works that met so many fences that they were given up. */
  givenUp: number
  /** Entities whose view rows were compared with the fold of their journal, and those that differed. */
  viewsChecked: number
  viewsDiffer: number
  /** Handles that are held for an ARQ that does not hold them. */
  orphans: number
}
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
})
