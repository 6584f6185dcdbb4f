/** The commands of operators about attach handles, and the events that record them. */
import type { ArqUuid, HandleUuid } from '../../vocabulary/identifiers.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { Found } from './slotMessages.ts'
export type HandleAdminCommand =
  | ({ readonly type: 'Quarantine'; readonly handle: HandleUuid } & OperatorNote)
  /**
   * An operator confirms that the handle is clean. `deadline`: of the order that the host may have to carry out first
   * (SLOT-3).
   */
  | ({ readonly type: 'Clear'; readonly handle: HandleUuid; readonly deadline: number } & OperatorNote)
  /** Orders the host to clean the handle, for the first time or again. */
  | ({ readonly type: 'Clean'; readonly handle: HandleUuid; readonly deadline: number } & OperatorNote)
  /** The ARQ gives up its handle, whether or not the host can release it now. */
  | ({
      readonly type: 'ForceRelease'
      readonly arq: ArqUuid
      readonly deadline: number
      readonly reachable: boolean
      readonly trace?: string | undefined
    } & OperatorNote)
export type HandleAdminEvent =
  /**
   * `until` says what ends the quarantine: `confirmed`, the host reports the release; `released`, an operator releases
   * the handle.
   */
  | ({
      readonly type: 'HandleQuarantined'
      readonly handle: HandleUuid
      readonly until: 'confirmed' | 'released'
      /**
       * The slot that the host has prepared. Absent: an operator decided the quarantine, or nothing has to be undone on
       * the host.
       */
      readonly found?: Found
      /** A lost journal row names the handle, so a guest that the journal does not know may use it. */
      readonly inDoubt?: true
    } & OperatorNote)
  /**
   * The next order gets a number above `to`. `imageUnknown`: a lost order programmed the region, and its image is not
   * known.
   */
  | { readonly type: 'OrdersRaised'; readonly to: number; readonly imageUnknown?: true }
  /**
   * `releasing`: its host has not released the handle yet; it is free when the host has. `by` and `reason` are absent
   * in events that release 0.1.0 wrote.
   */
  | ({ readonly type: 'HandleCleared'; readonly handle: HandleUuid; readonly releasing?: true } & Partial<OperatorNote>)
