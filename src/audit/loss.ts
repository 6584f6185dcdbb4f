/**
 * What the database had acknowledged and has lost, as far as it is known. The answers that told of it are no violation of the program, and
 * what the lost rows sent to hosts and topics is explained by them. That no handle is given to two guests is judged in any case.
 */
import { idOf } from '../actors/runtime/memory.ts'
import type { Asked, Heard, JournalCount, Loss } from './evidence.ts'

/** The ids of all entities that have lost rows. */
const namedIn = ({ rows }: Loss): ReadonlySet<string> => new Set(rows.map(({ key }) => idOf(key)))
const overlaps = ({ fromMs, toMs }: Loss, asked: Asked): boolean =>
  (asked.toMs ?? toMs) >= fromMs && (asked.fromMs ?? fromMs) <= toMs

export type Excuses = {
  /** The answer may tell of what was lost of that ARQ, device or instance. */
  readonly answer: (asked: Asked, id: string) => boolean
  /** It may have been on its way when its rows were lost. */
  readonly event: (heard: Heard) => boolean
}
export const excusesOf = (lost: readonly Loss[] = []): Excuses => {
  const losses = lost.map((loss) => ({ loss, named: namedIn(loss) }))
  return {
    answer: (asked, id) => losses.some(({ loss, named }) => named.has(id) && overlaps(loss, asked)),
    event: ({ tag }) => losses.some(({ named }) => named.has(tag)),
  }
}

/** When clients were told of each ARQ that has lost rows for the last time before these were gone, by their own clock; the latest loss counts. */
export const lostArqs = (lost: readonly Loss[]): ReadonlyMap<string, number> =>
  new Map(lost.flatMap((loss) => [...namedIn(loss)].map((id) => [id, loss.toMs] as const)))

/** Entities whose present state no row after the loss tells; where it is not known what was left, all that have lost rows. */
export const untoldSince = (lost: readonly Loss[]): ((key: string, place: JournalCount) => boolean) => {
  const last = new Map(lost.flatMap(({ rows, place = Infinity }) => rows.map(({ key }) => [key, place] as const)))
  return (key, place) => place <= (last.get(key) ?? -1)
}
