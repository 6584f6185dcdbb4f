/**
 * Finds the jobs that write a card, and the image that they prove, in the events of its deployable. The decider's own
 * state is not used.
 */
import type { ImageUuid, SlotUuid } from '../vocabulary/identifiers.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'

/** `slot`: null for a job that an operator has asked for. */
type Job = { readonly number: number; readonly image: ImageUuid; readonly slot: SlotUuid | null }

const jobIn = (event: DeployableEvent): Job | null => {
  if (event.type === 'ProgramStarted') return { number: event.order.number, image: event.image, slot: null }
  if (event.type !== 'Granted' || event.order?.type !== 'PrepareSlot') return null
  const { number, bitstream: image } = event.order
  return image === undefined ? null : { number, image, slot: event.handle }
}

/**
 * Returns the image on the card according to the event; null: none or unknown. Undefined: the event does not tell it.
 */
const readIn = (event: DeployableEvent): string | null | undefined => {
  if (event.type === 'DeployableRecorded' || event.type === 'BitstreamRead') return event.bitstreamId
  return event.type === 'OrdersRaised' && event.imageUnknown ? null : undefined
}

type Facts = { readonly open: readonly Job[]; readonly held: ReadonlySet<string>; readonly image: ImageUuid | null }
/**
 * Returns why the job must not begin now: a job for another image or purpose is open, or a handle is held for which no
 * job is open.
 */
const against = (job: Job, { open, held, image }: Facts): readonly string[] => {
  if (job.slot !== null && job.image === image) return []
  const what = `order ${job.number} loads image ${job.image} while`
  const sharers = new Set(open.map(({ slot }) => slot))
  const users = [...held].filter((slot) => slot !== job.slot && !sharers.has(slot))
  return [
    ...open
      .filter((other) => job.slot === null || other.slot === null || other.image !== job.image)
      .map((other) => `${what} order ${other.number} loads ${other.image}`),
    ...users.slice(0, 1).map((user) => `${what} handle ${user} is held`),
  ]
}

export const openJobs = () => {
  const open = new Map<number, Job>()
  const held = new Set<string>()
  let [image, isAway]: [string | null, boolean] = [null, false]
  const ofSlot = (slot: SlotUuid): Job | undefined => [...open.values()].find((job) => job.slot === slot)

  const begun = (event: DeployableEvent): readonly string[] => {
    const job = jobIn(event)
    const found = job ? against(job, { open: [...open.values()], held, image }) : []
    if (job) open.set(job.number, job)
    if (event.type === 'Granted') held.add(event.handle)
    return found
  }
  const programEnded = (event: Extract<DeployableEvent, { readonly number: number; readonly image: ImageUuid }>) => {
    const job = open.get(event.number)
    const isIts = job?.slot === null && job.image === event.image
    open.delete(event.number)
    if (event.type === 'ProgramFailed') image = null
    else if (isIts) ({ image } = event)
    return isIts ? [] : [`order ${event.number} is said to have ended with image ${event.image}, and was not begun`]
  }
  const slotEnded = (slot: SlotUuid, how: 'done' | 'not done', number?: number): void => {
    const job = ofSlot(slot)
    if (!job || (number !== undefined && number !== job.number)) return
    open.delete(job.number)
    image = how === 'done' ? job.image : null
  }
  const presence = (event: Extract<DeployableEvent, { type: 'PresenceSet' }>): void => {
    if (isAway) image = event.bitstreamId ?? null
    isAway = event.presence === 'retired'
  }
  /** Returns the faults of the event. */
  const take = (event: DeployableEvent): readonly string[] => {
    const read = readIn(event)
    if (read !== undefined) image = read
    if (event.type === 'ProgramStarted' || event.type === 'Granted') return begun(event)
    if (event.type === 'Programmed' || event.type === 'ProgramFailed') return programEnded(event)
    if (event.type === 'PresenceSet') presence(event)
    if (event.type === 'OrderDone') slotEnded(event.slot, 'done', event.number)
    if (event.type === 'HandleReleased') {
      held.delete(event.handle)
      slotEnded(event.handle, 'not done')
    }
    return []
  }
  return { take, proved: () => image }
}
