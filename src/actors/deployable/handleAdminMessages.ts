/** What an operator may ask of attach handles, what is recorded of it, and with what words. */
import type { ArqUuid, HandleUuid } from '../../identifiers.ts'
import type { OperatorNote } from '../../operatorNote.ts'
export type HandleAdminCommand =
  | ({ readonly type: 'Quarantine'; readonly handle: HandleUuid } & OperatorNote)
  /** The handle is clean. */
  | ({ readonly type: 'Clear'; readonly handle: HandleUuid } & OperatorNote)
  /** The request gives up its handle, whether or not the host can do its part now. */
  | ({
      readonly type: 'ForceRelease'
      readonly arq: ArqUuid
      readonly deadline: number
      readonly reachable: boolean
      readonly trace?: string | undefined
    } & OperatorNote)
export type HandleAdminEvent =
  /** `until` confirmed: its host says that it is released; released: an operator does. */
  | ({
      readonly type: 'HandleQuarantined'
      readonly handle: HandleUuid
      readonly until: 'confirmed' | 'released'
    } & OperatorNote)
  /** Who and why are absent in what release 0.1.0 wrote. */
  | ({ readonly type: 'HandleCleared'; readonly handle: HandleUuid } & Partial<OperatorNote>)
