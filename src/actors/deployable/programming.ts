/** The state of the programming of a deployable. */
import type { ArqUuid, DeployableUuid, DeviceUuid, HostName, ImageUuid } from '../../vocabulary/identifiers.ts'
import type { Image } from '../../vocabulary/images.ts'

/**
 * `loaded`: UUID of the loaded image. `failed`: why the last programming failed; null: it did not fail, or another one
 * is under way.
 */
export type Programming = {
  readonly deployable: DeployableUuid
  readonly device: DeviceUuid
  readonly host: HostName
  readonly name: string
  readonly programmable: boolean
  readonly loaded: ImageUuid | null
  /** The image that it held before, as far as is recorded. */
  readonly former: ImageUuid | null
  readonly running: { readonly image: ImageUuid; readonly since: number } | null
  readonly failed: string | null
}

/** How many requests, and how many images, an answer names. */
export const USERS_SHOWN = 100
export const IMAGES_SHOWN = 200
export type ProgramDetail = Programming & {
  /** Why it cannot be programmed now, whatever the image; null: it can. */
  readonly refusal: string | null
  /** The requests that have attach handles of it, or of a part of it. */
  readonly users: readonly ArqUuid[]
  /** The loaded image in the image store; null: none is recorded. */
  readonly inStore: { readonly image: Image | null; readonly problem: string | null } | null
  /** The images of the store that fit its hardware. `problem`: why they cannot be listed. */
  readonly choices: { readonly images: readonly Image[]; readonly problem: string | null }
}
