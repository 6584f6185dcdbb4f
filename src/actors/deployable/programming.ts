/** The state of the programming of a deployable. */
import type { DeployableUuid, DeviceUuid, HostName } from '../../identifiers.ts'

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
  readonly loaded: string | null
  readonly running: { readonly image: string; readonly since: number } | null
  readonly failed: string | null
}
