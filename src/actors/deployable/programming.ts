/** How the programming of a deployable stands. */
import type { DeployableUuid, DeviceUuid, HostName } from '../../identifiers.ts'

/** `loaded`: the UUID of the image. `failed`: why the last programming failed; null: it did not, or another one is under way. */
export type Programming = {
  readonly deployable: DeployableUuid
  readonly device: DeviceUuid
  readonly host: HostName
  readonly name: string
  readonly programmable: boolean
  readonly loaded: string | null
  readonly running: { readonly image: string; readonly since: number } | null
  readonly failed: string | null
}
