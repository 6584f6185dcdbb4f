/** What of a row of a view follows from the journal. The rest is moved by statements of its own (`Sharing`), and whoever makes the views anew begins with the recorded one. */
import { placement } from './placement/decider.ts'
import { kindOf } from './runtime/memory.ts'
import type { ViewName } from './runtime/views.ts'

type Cells = Readonly<Record<string, unknown>>
const isPlacement = (entity: unknown): boolean => typeof entity === 'string' && kindOf(entity) === placement.kind

/** Without the time at which an order was last sent, and the moment to which a comparison with Placement was put off. */
export const recordedPart = (view: ViewName, row: Cells): Cells => {
  if (view === 'pending_orders') return { ...row, sent_at: undefined }
  return view === 'due' && isPlacement(row['entity']) ? { ...row, at: undefined } : row
}
