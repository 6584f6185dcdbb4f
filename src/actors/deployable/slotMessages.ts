/** The commands that follow when the slots that a host reports as prepared differ from the journal. */
import type { ArqUuid, HandleUuid, SlotUuid } from '../../vocabulary/identifiers.ts'

/** A slot that a host has prepared and that the journal does not explain. */
export type Found = {
  /** The slot of the handle itself, or a slot with the same hardware that the journal does not know. */
  readonly slot: SlotUuid
  /** Number of the last order for the slot that the host knows. */
  readonly number: number
  readonly arq?: ArqUuid
}
/**
 * `mark`: the mark of the handle when it was compared (`markOf`). If the handle has changed since, the command does
 * nothing.
 */
type Compared = { readonly handle: HandleUuid; readonly mark: string; readonly reason: string }
export type SlotCommand =
  /** Nobody gets the handle until an operator releases it. `found` null: nothing has to be undone on the host then. */
  | ({ readonly type: 'Withhold'; readonly found: Found | null } & Compared)
  /** The host no longer has a slot that it had reported as prepared. */
  | ({ readonly type: 'PrepareAgain'; readonly deadline: number; readonly requestId: string } & Compared)
