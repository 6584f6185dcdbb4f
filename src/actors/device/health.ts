/** The API's answer about the health of a device. */
import type { Health } from '../../vocabulary/health.ts'
import type { ArqUuid, DeployableUuid, HandleUuid, InstanceUuid } from '../../vocabulary/identifiers.ts'
import type { HandleState } from '../deployable/states.ts'
import type { Failing } from './decider.ts'
import type { Standing } from './standing.ts'

export type DeviceHealth = {
  readonly standing: Standing
  /** Why the device counts as failing, and since when, as recorded; null: it does not. */
  readonly failing: Failing | null
  /** The last measurement of its driver; null: none is known. */
  readonly measured: {
    readonly at: number
    readonly health: Health
    readonly reasons: readonly string[]
    readonly numbers: Readonly<Record<string, number>>
  } | null
  /**
   * The attach handles of the device that are not free; `arq` is null also when the caller may not see the ARQ, and
   * `instance` with it.
   */
  readonly held: readonly {
    readonly deployable: DeployableUuid
    readonly handle: HandleUuid
    readonly state: HandleState
    readonly arq: ArqUuid | null
    readonly instance: InstanceUuid | null
  }[]
}
