/** The services that the control side calls, as ports: `src/neighbours/` implements them. */
import type { ArqUuid, ImageUuid, InstanceUuid } from '../identifiers.ts'

/** Where bitstream images are. */
export type Images = {
  /** `unknown`: no such image; `none`: no image store is configured. */
  readonly find: (
    imageUuid: ImageUuid,
  ) => Promise<
    { readonly found: true; readonly path: string } | { readonly found: false; readonly why: 'unknown' | 'none' }
  >
}

export type NovaEvent = {
  readonly name: 'accelerator-request-bound'
  readonly server_uuid: InstanceUuid
  readonly tag: ArqUuid
  readonly status: 'completed' | 'failed'
}
/** Judged per element; `retry`: nobody judged it, or it may be judged differently later. */
export type NovaVerdict = {
  readonly tag: ArqUuid
  readonly outcome: 'delivered' | 'gone' | 'refused' | 'retry'
  readonly code: number
  readonly note?: string
}
export type Nova = {
  readonly notify: (
    events: readonly NovaEvent[],
    requestId: string,
    /** `traceparent` of the request, when somebody records it. */
    trace?: string,
  ) => Promise<readonly NovaVerdict[]>
}
