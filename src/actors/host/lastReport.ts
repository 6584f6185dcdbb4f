/**
 * The last report of a host of which something is recorded: its inventory, or its answer to a question. Pure.
 *
 * A report that says what is recorded already leaves nothing behind, so the host may have sent later ones; when it was
 * last heard of is known apart from that.
 */
import type { Host } from './decider.ts'

/** `number`: among the reports of its start. */
export type LastReport = { readonly number: number; readonly at: number }

/** Null: none is recorded, or its moment is not known. */
export const lastReportOf = ({
  exists,
  bootId,
  number,
  reportedAt,
  probe,
}: Pick<Host, 'exists' | 'bootId' | 'number' | 'reportedAt' | 'probe'>): LastReport | null => {
  const answer = probe?.bootId === bootId ? probe.answer : null
  if (answer && answer.number > number) return { number: answer.number, at: answer.at }
  return exists && reportedAt !== undefined ? { number, at: reportedAt } : null
}
