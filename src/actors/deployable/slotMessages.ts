/** The commands that follow from what a host says to have prepared, where that differs from the journal. */
import type { ArqUuid, HandleUuid, SlotUuid } from '../../identifiers.ts'

/** A slot that a host has prepared, and that the journal does not explain. */
export type Found = {
  /** The slot of the handle itself, or one that the journal does not know, with the same hardware. */
  readonly slot: SlotUuid
  /** Of the last order for it that the host knows. */
  readonly number: number
  readonly arq?: ArqUuid
}
/** `mark`: of the handle as it was compared (`markOf`). A handle that has changed since is left alone. */
type Compared = { readonly handle: HandleUuid; readonly mark: string; readonly reason: string }
export type SlotCommand =
  /** Nobody gets the handle until an operator releases it. `found` null: nothing on the host has to be undone then. */
  | ({ readonly type: 'Withhold'; readonly found: Found | null } & Compared)
  /** The host does not have the slot that it has reported as prepared. */
  | ({ readonly type: 'PrepareAgain'; readonly deadline: number; readonly requestId: string } & Compared)
