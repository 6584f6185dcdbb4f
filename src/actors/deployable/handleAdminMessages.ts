/** The commands of operators about attach handles, and the events that record them. */
import type { ArqUuid, HandleUuid } from '../../identifiers.ts'
import type { OperatorNote } from '../../operatorNote.ts'
import type { Found } from './slotMessages.ts'
export type HandleAdminCommand =
  | ({ readonly type: 'Quarantine'; readonly handle: HandleUuid } & OperatorNote)
  /** The handle is clean. `deadline`: of an order that the host has to carry out for that (SLOT-3). */
  | ({ readonly type: 'Clear'; readonly handle: HandleUuid; readonly deadline: number } & OperatorNote)
  /** Its host is to clean it, again or for the first time. */
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
  /** What ends the quarantine: `confirmed`, the host reports the release; `released`, an operator does. */
  | ({
      readonly type: 'HandleQuarantined'
      readonly handle: HandleUuid
      readonly until: 'confirmed' | 'released'
      /** What the host has prepared. Absent: an operator decided it, or nothing has to be undone. */
      readonly found?: Found
      /** A row that the journal has lost names it: another guest than the journal knows may use it. */
      readonly inDoubt?: true
    } & OperatorNote)
  /** The next order has a higher number than `to`. `imageUnknown`: a region was programmed, and nobody knows with what. */
  | { readonly type: 'OrdersRaised'; readonly to: number; readonly imageUnknown?: true }
  /** `by` and `reason` are absent in events that release 0.1.0 wrote. */
  | ({ readonly type: 'HandleCleared'; readonly handle: HandleUuid } & Partial<OperatorNote>)
