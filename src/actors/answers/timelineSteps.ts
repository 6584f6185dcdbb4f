/** The API's answer about the history of an accelerator request. */
import type { ArqUuid, ProjectId } from '../../vocabulary/identifiers.ts'

export type TimelineStep = {
  /** ms since the epoch. */
  readonly at: number
  /**
   * What happened, in the field's usual terms: `created`, `bind accepted`, `order sent`, `bound`, `nova told`,
   * `unbound`, `deleted`...
   */
  readonly step: string
  /** Milliseconds since the step before; null for the first. */
  readonly tookMs: number | null
  readonly cause: string | null
  readonly requestId: string | null
  readonly detail: Readonly<Record<string, unknown>>
  /** The recorded event as the stream of events sends it, a CloudEvent; null: the caller may not read it. */
  readonly event: () => string | null
}
export type Timeline = {
  readonly arq: ArqUuid
  readonly projectId: ProjectId | null
  readonly deleted: boolean
  readonly steps: readonly TimelineStep[]
}
