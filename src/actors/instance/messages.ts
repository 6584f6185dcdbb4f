/**
 * The commands and events of bind conversations. An instance has one at a time; it binds all its ARQs or none, and
 * sends Nova one batch of events.
 */
import type { Loaded } from '../../vocabulary/loaded.ts'
import type { ArqUuid, DeployableUuid, HostName, InstanceUuid } from '../../vocabulary/identifiers.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'

export type Part = {
  readonly arq: ArqUuid
  readonly deployable: DeployableUuid
  /** The host has finished its work for the ARQ, or had none. */
  readonly prepared: boolean
}
export type BindOutcome = 'completed' | 'failed'
/** The result of sending one event to Nova. */
export type Ending = 'delivered' | 'gone' | 'refused' | 'undeliverable'

/**
 * An event of which Nova is not notified any more, after so many attempts. `note`: its last answer. `at`: when its
 * delivery ended, ms since the epoch.
 */
export type Undelivered = {
  readonly status: BindOutcome
  readonly ending: Extract<Ending, 'refused' | 'undeliverable'>
  readonly note: string | null
  readonly attempts: number
  readonly at: number
}

export type InstanceCommand =
  | {
      readonly type: 'Bind'
      readonly instance: InstanceUuid
      readonly at: number
      readonly parts: readonly Part[]
      readonly hostname: HostName
      /** ms since the epoch; a bind that is not finished by then fails. */
      readonly deadline: number
      /** Until when events are retried, ms since the epoch; null: no Nova is configured. */
      readonly tellUntil: number | null
      readonly requestId: string
      readonly trace?: string | undefined
    }
  | {
      readonly type: 'ReportPrepared'
      readonly arq: ArqUuid
      readonly at: number
      readonly loaded?: Loaded | undefined
    }
  | { readonly type: 'Fail'; readonly reason: string; readonly at: number }
  /**
   * Ends the conversation if all ARQs are prepared or the deadline has passed. `isOver`: the deadline has passed,
   * whatever the clock says now.
   */
  | { readonly type: 'Conclude'; readonly at: number; readonly isOver?: boolean }
  | { readonly type: 'Leave'; readonly arqs: readonly ArqUuid[] }
  /** Nova is told these statuses, and those that it has not taken yet, from `at` until `until`. */
  | ({
      readonly type: 'Resend'
      readonly statuses: Readonly<Record<ArqUuid, BindOutcome>>
      readonly at: number
      readonly until: number
    } & OperatorNote)
  | {
      readonly type: 'ReportTold'
      readonly endings: Readonly<Record<ArqUuid, Ending>>
      /** How many conversations had settled when the request to Nova was made; later ones were not part of it. */
      readonly upTo: number
      readonly nextAt: number
      readonly note: string | null
    }

export type InstanceEvent =
  | {
      readonly type: 'BindAccepted'
      readonly instance: InstanceUuid
      readonly parts: readonly Part[]
      readonly hostname: HostName
      readonly deadline: number
      readonly tellUntil: number | null
      readonly requestId: string
      /** `traceparent` of the bind, passed on to Nova. */
      readonly trace?: string
    }
  /** `loaded`: the image that the host has loaded for the ARQ. */
  | { readonly type: 'PartPrepared'; readonly arq: ArqUuid; readonly loaded?: Loaded }
  /** An operator has asked to tell Nova these statuses once more. */
  | ({
      readonly type: 'ResendAsked'
      readonly statuses: Readonly<Record<ArqUuid, BindOutcome>>
      readonly nextAt: number
      readonly until: number
    } & OperatorNote)
  /** `tell` null: no Nova is configured. */
  | {
      readonly type: 'BindSettled'
      readonly outcome: BindOutcome
      readonly arqs: readonly ArqUuid[]
      readonly reason: string | null
      readonly tell: number | null
      /** When the bind was accepted, ms since the epoch; absent in rows of older releases. */
      readonly since?: number
    }
  | { readonly type: 'ArqsLeft'; readonly arqs: readonly ArqUuid[] }
  | {
      readonly type: 'NovaTold'
      readonly endings: Readonly<Record<ArqUuid, Ending>>
      readonly nextAt: number
      readonly note: string | null
      /**
       * The ARQs of the instance that wait for an operator now: Nova has not taken their event and is not notified any
       * more. Rows of 0.2.0 do not say it.
       */
      readonly undelivered?: readonly ArqUuid[]
    }
