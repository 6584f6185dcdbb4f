/** The services that the control side calls, as ports: `src/neighbours/` implements them. */
import type { ArqUuid, ImageUuid, InstanceUuid } from '../vocabulary/identifiers.ts'
import type { Image, NoImage } from '../vocabulary/images.ts'

/** Finds bitstream images. Only hosts read the bytes of images (`ImageFiles`). Never rejects. */
export type ImageCatalogue = {
  readonly find: (image: ImageUuid) => Promise<{ readonly found: true; readonly image: Image } | NoImage>
  /** All bitstreams with this name or function, or all there are, of owners that are trusted. */
  readonly search: (wish: ImageSearch | AllImages) => Promise<FoundImages | NoImage>
}
/** `among`: the images that were searched, where the store has others too. */
export type FoundImages = { readonly found: true; readonly images: readonly Image[]; readonly among?: string }
export type AllImages = { readonly by: 'all' }
/** One of the keys `accel:...` of a group of a device profile (data-model.md 9.3). */
export type ImageSearch = {
  readonly by: 'bitstream_name' | 'function_id' | 'function_name'
  readonly value: string
}

export type NovaEvent = {
  readonly name: 'accelerator-request-bound'
  readonly server_uuid: InstanceUuid
  readonly tag: ArqUuid
  readonly status: 'completed' | 'failed'
}
/** One verdict for each event; `retry`: Nova has not judged it, or may judge it differently later. */
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
    /** `traceparent` of the request; absent: its trace is not recorded. */
    trace?: string,
  ) => Promise<readonly NovaVerdict[]>
}

/** Nova's answer about a server. `unclear`: Nova did not answer, or its answer proves nothing. */
export type NovaServer =
  | { readonly is: 'known'; readonly status: string; readonly node: string | null }
  | { readonly is: 'unknown' }
  | { readonly is: 'unclear'; readonly reason: string }
/** Questions about servers. Never rejects. */
export type NovaServers = {
  readonly server: (uuid: InstanceUuid) => Promise<NovaServer>
  /**
   * Null: Nova shows this service the servers of all projects. Otherwise the reason why that is not sure; then
   * `unknown` proves nothing.
   */
  readonly blind: () => Promise<string | null>
}
