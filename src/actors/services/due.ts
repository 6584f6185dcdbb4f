/** Who attends to an entity whose recorded moment has come, by its kind. A kind that records such moments has a row here. */
import type { EntityKey } from '../../identifiers.ts'
import type { Fault } from '../../fault.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { instance, instanceKey } from '../instance/decider.ts'
import { idOf, kindOf } from '../runtime/memory.ts'
import type { Read } from '../runtime/region.ts'
import { conclude } from './conclude.ts'
import { type Kernel, RELEASE_FOR_MS, newWork } from './kernel.ts'
import { tellNova } from './notifier.ts'

/** Returns the fault that kept it from being done, if any: the entity stays due and is found again. */
type Attendant = (kernel: Kernel, id: string, read: Read) => Promise<Fault | null>

/** Ends the bind if its deadline has passed, and sends Nova the events that are due. */
const attendInstance: Attendant = async (kernel, uuid, read) => {
  const known = await read(instance, instanceKey(uuid))
  if (!known.ok) return known.fault
  if (known.value.state.open) {
    const concluded = await conclude(kernel, uuid)
    if (!concluded.ok) return concluded.fault
  }
  return tellNova(kernel, uuid)
}

/** Orders a failed release once more. */
const attendDeployable: Attendant = async (kernel, uuid) => {
  const key = deployableKey(uuid)
  const work = newWork(kernel, { by: 'sweeper' }, (draft) => {
    draft.decide(deployable, key, { type: 'Due', at: draft.at, deadline: draft.at + RELEASE_FOR_MS })
    return null
  })
  const told = await kernel.region.tell(key, work)
  return told.ok ? null : told.fault
}

const ATTENDANTS: ReadonlyMap<string, Attendant> = new Map([
  [instance.kind, attendInstance],
  [deployable.kind, attendDeployable],
])

/** Throws for a kind that nobody attends to: recording such a moment is a bug. */
export const attend = (kernel: Kernel, key: EntityKey, read: Read): Promise<Fault | null> => {
  const attendant = ATTENDANTS.get(kindOf(key))
  if (!attendant) throw new Error(`nobody attends to entities of the kind of ${key}`)
  return attendant(kernel, idOf(key), read)
}
