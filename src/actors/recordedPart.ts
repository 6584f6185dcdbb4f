/**
 * The part of a view row that follows from the journal. Statements of `Sharing` change the rest; a rebuild of the views
 * starts with the recorded values.
 */
import { placement } from './placement/decider.ts'
import { kindOf } from './runtime/memory.ts'
import type { ViewName } from './runtime/views.ts'

type Cells = Readonly<Record<string, unknown>>
const isPlacement = (entity: unknown): boolean => typeof entity === 'string' && kindOf(entity) === placement.kind

/**
 * Leaves out the time at which an order was last sent, and the moment to which a comparison with Placement was
 * postponed.
 */
export const recordedPart = (view: ViewName, row: Cells): Cells => {
  if (view === 'pending_orders') return { ...row, sent_at: undefined }
  return view === 'due' && isPlacement(row['entity']) ? { ...row, at: undefined } : row
}
