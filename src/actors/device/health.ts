/** How a device is, as callers are told. */
import type { Health } from '../../health.ts'
import type { ArqUuid, DeployableUuid, HandleUuid } from '../../identifiers.ts'
import type { HandleState } from '../deployable/states.ts'
import type { Failing } from './decider.ts'

export type DeviceHealth = {
  /** Why it counts as bad, as recorded, and since when; null: it does not. */
  readonly failing: Failing | null
  /** What its driver measured last; null: nothing, as far as is known. */
  readonly measured: {
    readonly at: number
    readonly health: Health
    readonly reasons: readonly string[]
    readonly numbers: Readonly<Record<string, number>>
  } | null
  /** Its attach handles that are not free; `arq` is null also when the caller may not know of it. */
  readonly held: readonly {
    readonly deployable: DeployableUuid
    readonly handle: HandleUuid
    readonly state: HandleState
    readonly arq: ArqUuid | null
  }[]
}
