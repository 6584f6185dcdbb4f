/**
 * The function that does the due work of an entity, by kind of row. A kind of deadline (`dueKinds.ts`) without a
 * function is a type error.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Fault } from '../../vocabulary/fault.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'
import type { DeadlineKind } from '../../actors/runtime/dueKinds.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { Read } from '../../actors/runtime/region.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { conclude } from '../arqs/conclude.ts'
import { type Kernel, RELEASE_FOR_MS, newWork } from '../kernel/kernel.ts'
import { shed } from '../retirement/retirement.ts'

/**
 * Returns the fault that prevented the work, or null; after a fault the entity stays due and is claimed again.
 * `at`: the recorded moment, which has come; it may be ahead of the clock, if that was set back (`clockSteps.ts`) or
 * another clock was wrong (TERMS-1).
 */
type Attendant = (kernel: Kernel, id: string, read: Read, at: number) => Promise<Fault | null>

/**
 * Ends the bind if its deadline has passed. Events for Nova are passed to the notifier without waiting for Nova.
 * Releases before 0.3.0 record the moments of the next notification as rows of this kind too.
 */
const attendInstance: Attendant = async (kernel, uuid, read, at) => {
  const key = instanceKey(uuid)
  const known = await read(instance, key)
  if (!known.ok) return known.fault
  const { open, telling } = known.value.state
  if (!open) {
    if (telling) kernel.notifyNova(key)
    return null
  }
  const concluded = await conclude(kernel, uuid, at > kernel.clock.now())
  return concluded.ok ? null : concluded.fault
}

const SWEEPER = { by: 'sweeper' } as const
/**
 * Repeats a failed release, or ends a programming whose deadline has passed; then the device may leave if its host is
 * out of service.
 */
const attendDeployable: Attendant = async (kernel, uuid, _read, at) => {
  const key = deployableKey(uuid)
  const work = newWork(kernel, SWEEPER, (draft) => {
    const due = { type: 'Due', at: Math.max(at, draft.at), deadline: draft.at + RELEASE_FOR_MS } as const
    const events = draft.decide(deployable, key, due)
    return { ended: events.some(({ type }) => type === 'ProgramFailed'), host: draft.state(deployable, key).host }
  })
  const recorded = await kernel.region.tell(key, work)
  if (!recorded.ok) return recorded.fault
  if (!recorded.value?.ended) return null
  kernel.log.warn({ deployable: uuid, host: recorded.value.host }, 'program.notInTime')
  const left = await shed(kernel, recorded.value.host, SWEEPER)
  return left.ok ? null : left.fault
}

const ATTENDANTS: Readonly<Record<DeadlineKind, Attendant>> = {
  instance: attendInstance,
  deployable: attendDeployable,
}

/** Throws for a kind without a function, because recording a deadline of that kind is a bug. */
export const attend = (kernel: Kernel, key: EntityKey, read: Read, at: number): Promise<Fault | null> => {
  const attendant = ownValue<Attendant>(ATTENDANTS, kindOf(key))
  if (!attendant) throw new Error(`nobody attends to entities of the kind of ${key}`)
  return attendant(kernel, idOf(key), read, at)
}
