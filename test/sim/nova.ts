/**
 * A simulated Nova: it knows its instances, answers like the real one or as a fault demands, and records the events it
 * received.
 */
import type { Heard } from '../../src/audit/evidence.ts'
import type { Nova, NovaEvent, NovaVerdict } from '../../src/actors/neighbours.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Tap } from './tap.ts'

export type NovaMood = 'well' | 'failing' | 'picky' | 'deaf' | 'slow' | 'hung'
export type SimNova = {
  readonly heard: readonly Heard[]
  readonly instances: Set<string>
  /**
   * `failing`: 5xx to all; `picky`: some refused, some unknown; `deaf`: accepts all, but its answer is lost; `slow`:
   * takes seconds; `hung`: takes connections and gives no answer, until the caller gives up.
   */
  mood: NovaMood
  readonly seenBy: (life: Life) => Nova
  /** Resolves when something was heard of the instance, or the time is over. */
  readonly news: (life: Life, instance: string, ms: number) => Promise<void>
}
type Ports = {
  readonly schedule: Schedule
  readonly tap: Tap
  readonly random: Random
  readonly committed: () => number
  readonly onLoss: (listener: (rowCount: number) => void) => void
  readonly say: (line: string) => void
}

const SLOW_MS = 15_000
/** As long as a caller waits for an answer. */
const HUNG_MS = 30_000

export const simNova = ({ schedule, tap, random, committed, onLoss, say }: Ports): SimNova => {
  const server = schedule.life('nova')
  const heard: Heard[] = []
  onLoss((rowCount) => {
    for (const [at, one] of heard.entries()) if (one.rowCount > rowCount) heard[at] = { ...one, rowCount }
  })
  const instances = new Set<string>()
  const waiting = new Map<string, Set<() => void>>()

  const judge = (event: NovaEvent): NovaVerdict => {
    const { tag, server_uuid: instance } = event
    if (!instances.has(instance)) return { tag, outcome: 'gone', code: 404 }
    if (nova.mood === 'picky' && random.chance(0.3)) return { tag, outcome: 'refused', code: 400, note: 'not now' }
    return nova.mood === 'picky' && random.chance(0.3)
      ? { tag, outcome: 'retry', code: 422 }
      : { tag, outcome: 'delivered', code: 200 }
  }
  const take = async (events: readonly NovaEvent[]): Promise<readonly NovaVerdict[]> => {
    const failing = nova.mood === 'failing'
    const verdicts = events.map((event) =>
      failing ? { tag: event.tag, outcome: 'retry' as const, code: 503 } : judge(event),
    )
    for (const [at, event] of events.entries()) {
      const { outcome } = verdicts[at]!
      heard.push({ ...event, rowCount: committed(), outcome })
      say(`nova: ${event.status} of ${event.tag} for ${event.server_uuid}: ${outcome}`)
      if (outcome === 'delivered') for (const wake of waiting.get(event.server_uuid) ?? []) wake()
    }
    return nova.mood === 'deaf' && random.chance(0.7)
      ? events.map(({ tag }) => ({ tag, outcome: 'retry', code: 0, note: 'timed out' }))
      : verdicts
  }
  const unanswered = (life: Life): Promise<never> =>
    new Promise((_, reject) => void schedule.after(life, HUNG_MS, () => reject(new Error('no answer in time'))))
  const nova: SimNova = {
    heard,
    instances,
    mood: 'well',
    seenBy: (life) => ({
      notify: (events) =>
        tap.pass(life, 'nova', () => {
          if (nova.mood === 'hung') return unanswered(life)
          return schedule.across(
            life,
            server,
            () => random.below(nova.mood === 'slow' ? SLOW_MS : 20),
            () => take(events),
          )
        }),
    }),
    news: async (life, instance, ms) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const wake = (): void => schedule.soon(life, resolve)
      const cancel = schedule.after(life, ms, resolve)
      const mine = waiting.get(instance) ?? new Set()
      waiting.set(instance, mine.add(wake))
      await promise
      cancel()
      mine.delete(wake)
    },
  }
  return nova
}
