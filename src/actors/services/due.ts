/** Who attends to an entity whose recorded moment has come, by the kind of its row. A kind of entity that records such moments has a row here. */
import type { EntityKey } from '../../identifiers.ts'
import type { Fault } from '../../fault.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { instance, instanceKey } from '../instance/decider.ts'
import { idOf, kindOf } from '../runtime/memory.ts'
import type { Read } from '../runtime/region.ts'
import { conclude } from './conclude.ts'
import { type Kernel, RELEASE_FOR_MS, newWork } from './kernel.ts'

/** Returns the fault that kept it from being done, if any: the entity stays due and is found again. */
type Attendant = (kernel: Kernel, id: string, read: Read) => Promise<Fault | null>

/**
 * Ends the bind if its deadline has passed. Events for Nova are handed over: nothing waits for Nova here. Releases before 0.3.0
 * record the moments of those events as rows of this kind too.
 */
const attendInstance: Attendant = async (kernel, uuid, read) => {
  const key = instanceKey(uuid)
  const known = await read(instance, key)
  if (!known.ok) return known.fault
  const { open, telling } = known.value.state
  if (!open) {
    if (telling) kernel.tell(key)
    return null
  }
  const concluded = await conclude(kernel, uuid)
  return concluded.ok ? null : concluded.fault
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

/** The kinds of due rows that `attend` works on. */
export const DEADLINES: readonly string[] = [...ATTENDANTS.keys()]

/** Throws for a kind that nobody attends to: recording such a moment is a bug. */
export const attend = (kernel: Kernel, key: EntityKey, read: Read): Promise<Fault | null> => {
  const attendant = ATTENDANTS.get(kindOf(key))
  if (!attendant) throw new Error(`nobody attends to entities of the kind of ${key}`)
  return attendant(kernel, idOf(key), read)
}
