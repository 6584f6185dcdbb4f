/** The commands of operators about attach handles, and the events that record them. */
import type { ArqUuid, HandleUuid } from '../../identifiers.ts'
import type { OperatorNote } from '../../operatorNote.ts'
export type HandleAdminCommand =
  | ({ readonly type: 'Quarantine'; readonly handle: HandleUuid } & OperatorNote)
  /** The handle is clean. */
  | ({ readonly type: 'Clear'; readonly handle: HandleUuid } & OperatorNote)
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
    } & OperatorNote)
  /** `by` and `reason` are absent in events that release 0.1.0 wrote. */
  | ({ readonly type: 'HandleCleared'; readonly handle: HandleUuid } & Partial<OperatorNote>)
