/** One deployable as it is now; `not_found` when there is none, or it was retired. */
import type { DeployableUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import type { Kernel } from '../kernel/kernel.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'deployable', id })
export const createRead =
  ({ region }: Kernel) =>
  async (uuid: DeployableUuid): Promise<Outcome<Deployable>> => {
    const known = await region.readCurrent(deployable, deployableKey(uuid))
    if (!known.ok) return known
    const held = known.value.state
    return held.exists && held.presence !== 'retired' ? { ok: true, value: held } : missing(uuid)
  }
