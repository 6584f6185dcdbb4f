/** The state of the programming of a deployable. */
import type { DeployableUuid, DeviceUuid, HostName, ImageUuid } from '../../identifiers.ts'

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
  readonly running: { readonly image: ImageUuid; readonly since: number } | null
  readonly failed: string | null
}
