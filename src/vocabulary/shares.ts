/**
 * Places for work that is costly: how many there are in a process, and how many of them one project may have at once,
 * so that no project takes the service away from others.
 *
 * SHARES-1 a project that has its share is refused (429), or waits behind its own work, while others are still served;
 * SHARES-2 as many places as the share of one project are kept for administrators;
 * SHARES-3 a place that becomes free goes to the next project that waits, one after the other, however many pieces of
 *    work each of them has waiting;
 * SHARES-4 work that nobody waits for any more is not begun.
 */
import { type Outcome, type Refused, done, refuse } from './fault.ts'

export type Share = {
  /** What takes a place, for the refusal. */
  readonly what: string
  /** Places of the process. */
  readonly all: number
  /** Places that one project may have at once. */
  readonly project: number
  /** How many pieces of work of one project may wait for a place. */
  readonly waiting: number
  readonly retryAfterSeconds: number
}

export const SHARES = {
  longLists: { what: 'long lists', all: 64, project: 8, waiting: 0, retryAfterSeconds: 1 },
  pastLists: { what: 'lists of the past', all: 3, project: 1, waiting: 4, retryAfterSeconds: 2 },
  eventReads: { what: 'reads of recorded events', all: 6, project: 2, waiting: 16, retryAfterSeconds: 5 },
  streams: { what: 'streams of events', all: 1000, project: 200, waiting: 0, retryAfterSeconds: 5 },
  explanations: { what: 'checks of device profiles', all: 4, project: 1, waiting: 4, retryAfterSeconds: 1 },
  capacity: { what: 'answers about the capacity', all: 4, project: 1, waiting: 16, retryAfterSeconds: 1 },
  usage: { what: 'usage reports', all: 4, project: 1, waiting: 4, retryAfterSeconds: 1 },
  files: { what: 'opened files', all: 40, project: 1, waiting: 0, retryAfterSeconds: 5 },
  timelines: { what: 'timelines', all: 8, project: 2, waiting: 16, retryAfterSeconds: 1 },
} as const satisfies Readonly<Record<string, Share>>
export type ShareName = keyof typeof SHARES

/** The part of the places that one project gets where the number of places is an option. */
export const shareOf = (all: number): number => Math.ceil(all / 5)

/** For whom the work is done. */
export type Asker = {
  readonly projectId: string
  readonly isAdmin: boolean
  /** Whether nobody waits for the result any more. */
  readonly isOver?: () => boolean
}
type Leave = () => void
export type Places = {
  /** A place now, or a refusal. The function gives the place back; only its first call counts. */
  readonly take: (asker: Asker) => Outcome<Leave>
  /** Does the work in a place, as soon as there is one. */
  readonly inTurn: <Value>(asker: Asker, work: () => Promise<Value>) => Promise<Value | Refused>
  /** The same, however much waits: for work of which a project has only so many pieces anyway. */
  readonly patiently: <Value>(asker: Asker, work: () => Promise<Value>) => Promise<Value>
}

export const NOBODY_WAITS: Refused = refuse({
  kind: 'unavailable',
  reason: 'nobody waits for this answer any more',
  retryAfterSeconds: 1,
})

type Waiting = { readonly asker: Asker; readonly begin: (place: Outcome<Leave>) => void }

/** Administrators of a project do not share with the others of it. */
const holderOf = ({ projectId, isAdmin }: Asker): string => JSON.stringify([projectId, isAdmin])
/** SHARES-4. */
const isWaiting = ({ asker, begin }: Waiting): boolean => {
  const isOver = asker.isOver?.() ?? false
  if (isOver) begin(NOBODY_WAITS)
  return !isOver
}

/** The places that are taken, and by whom. */
const createCounts = ({ what, all, project: each, retryAfterSeconds }: Share) => {
  const kept = Math.min(each, all - 1)
  const held = new Map<string, number>()
  let taken = 0
  const heldBy = (asker: Asker): number => held.get(holderOf(asker)) ?? 0
  const placesFor = ({ isAdmin }: Asker): number => (isAdmin ? all : all - kept)
  return {
    isFree: (asker: Asker): boolean => heldBy(asker) < each && taken < placesFor(asker),
    enter: (asker: Asker): void => {
      taken++
      held.set(holderOf(asker), heldBy(asker) + 1)
    },
    leave: (asker: Asker): void => {
      taken--
      const others = heldBy(asker) - 1
      if (others > 0) held.set(holderOf(asker), others)
      else held.delete(holderOf(asker))
    },
    refusal: (asker: Asker): Refused =>
      heldBy(asker) >= each
        ? refuse({
            kind: 'crowded',
            reason: `The project has ${each} of the ${all} places for ${what}, which is its share.`,
            retryAfterSeconds,
          })
        : refuse({
            kind: 'unavailable',
            reason: `all ${placesFor(asker)} places for ${what} are taken`,
            retryAfterSeconds,
          }),
  }
}

export const createPlaces = (share: Share): Places => {
  const counts = createCounts(share)
  /** By holder. The first one is the next that gets a place. */
  const queues = new Map<string, Waiting[]>()

  const next = (): void => {
    // a holder that has more waiting moves to the end, where this loop comes to it again
    for (const [holder, queue] of queues) {
      const left = queue.filter(isWaiting)
      const [first, ...others] = left
      const isNext = first !== undefined && counts.isFree(first.asker)
      if (first === undefined || isNext) queues.delete(holder)
      else queues.set(holder, left)
      if (!isNext) continue
      if (others.length > 0) queues.set(holder, others)
      first.begin(done(enter(first.asker)))
    }
  }
  const enter = (asker: Asker): Leave => {
    let isLeft = false
    counts.enter(asker)
    return () => {
      if (isLeft) return
      isLeft = true
      counts.leave(asker)
      next()
    }
  }
  const turnOf = (asker: Asker, most: number): Promise<Outcome<Leave>> => {
    const holder = holderOf(asker)
    const queue = queues.get(holder) ?? []
    if (queue.length === 0 && counts.isFree(asker)) return Promise.resolve(done(enter(asker)))
    if (queue.length >= most) return Promise.resolve(counts.refusal(asker))
    const { promise, resolve } = Promise.withResolvers<Outcome<Leave>>()
    queues.set(holder, [...queue, { asker, begin: resolve }])
    return promise
  }
  return {
    take: (asker) => (counts.isFree(asker) ? done(enter(asker)) : counts.refusal(asker)),
    inTurn: async (asker, work) => {
      const place = await turnOf(asker, share.waiting)
      if (!place.ok) return place
      try {
        return asker.isOver?.() ? NOBODY_WAITS : await work()
      } finally {
        place.value()
      }
    },
    patiently: async ({ projectId, isAdmin }, work) => {
      const place = await turnOf({ projectId, isAdmin }, Infinity)
      try {
        return await work()
      } finally {
        if (place.ok) place.value()
      }
    },
  }
}

export const placesOf = <Name extends string>(shares: Readonly<Record<Name, Share>>): Readonly<Record<Name, Places>> =>
  Object.fromEntries(Object.entries<Share>(shares).map(([name, share]) => [name, createPlaces(share)])) as Record<
    Name,
    Places
  >
