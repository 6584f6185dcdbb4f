/**
 * The rows that the database had acknowledged and has lost, as far as they are known. Answers that told of such rows
 * are no violation of the program, and messages that such rows caused count as explained. Two guests with one handle
 * are a violation in any case.
 */
import { idOf } from '../actors/runtime/memory.ts'
import type { ClientRequest, Heard, Loss, LostRow } from './evidence.ts'

/** The ids of all entities that have lost rows. */
const namedIn = ({ rows }: Loss): ReadonlySet<string> => new Set(rows.map(({ key }) => idOf(key)))
const overlaps = ({ fromMs, toMs }: Loss, asked: ClientRequest): boolean =>
  (asked.toMs ?? toMs) >= fromMs && (asked.fromMs ?? fromMs) <= toMs

export type Excuses = {
  /** Whether the answer may tell of lost rows of that ARQ, device or instance. */
  readonly answer: (asked: ClientRequest, id: string) => boolean
  /** Whether the event may have been on its way to Nova when the rows that caused it were lost. */
  readonly event: (heard: Heard) => boolean
}
export const excusesOf = (lost: readonly Loss[] = []): Excuses => {
  const losses = lost.map((loss) => ({ loss, named: namedIn(loss) }))
  return {
    answer: (asked, id) => losses.some(({ loss, named }) => named.has(id) && overlaps(loss, asked)),
    event: ({ tag }) => losses.some(({ named }) => named.has(tag)),
  }
}

/** Rows of an ARQ were lost after `since` and before `until`, in ms by the clients' own clock. */
export type Gone = { readonly since: number; readonly until: number }
/** The losses of each ARQ that has lost rows. */
export const lostArqs = (lost: readonly Loss[]): ReadonlyMap<string, readonly Gone[]> => {
  const times = new Map<string, Gone[]>()
  for (const loss of lost)
    for (const id of namedIn(loss))
      times.set(id, [...(times.get(id) ?? []), { since: loss.goneMs ?? loss.toMs, until: loss.toMs }])
  return times
}

/** Whether the entity has lost rows and got no new row since then. `version`: that of its last row in the journal. */
export const untoldSince = (lost: readonly Loss[]): ((key: string, version: number) => boolean) => {
  const first = new Map<string, number>()
  for (const { rows } of lost) {
    const own = Map.groupBy(rows, ({ key }) => key)
    for (const [key, some] of own) first.set(key, Math.min(...some.map(({ version }) => version)))
  }
  return (key, version) => version < (first.get(key) ?? 0)
}

/**
 * A lost row as the database keeps it after a control has missed it. Times are in ms since the epoch, by the clock of
 * the database.
 */
export type Declared = LostRow & { readonly foundAt: number; readonly adoptedAt: number | null }

const lossOf = (rows: readonly Declared[], skewMs: number): Loss => {
  const of = (pick: (row: Declared) => number) => rows.map(pick)
  const adoptions = rows.flatMap(({ adoptedAt }) => adoptedAt ?? [])
  const last = Math.max(...of(({ at }) => at))
  const found = Math.min(...of(({ foundAt }) => foundAt))
  return {
    rows,
    fromMs: Math.min(...of(({ at }) => at)) - skewMs,
    toMs: found + skewMs,
    // the rows were lost after the last of them was decided, and before a control missed one of them
    goneMs: Math.min(last, found) - skewMs,
    adoptedAt: adoptions.length < rows.length ? null : Math.max(...adoptions),
  }
}
/**
 * The losses that a database declares, oldest first. Rows belong to one loss if they were found before any of them was
 * adopted. `skewMs`: how far the clocks of clients, controls and the database may differ.
 */
export const lossesOf = (declared: readonly Declared[], skewMs: number): readonly Loss[] => {
  const groups: Declared[][] = []
  let adopted = -Infinity
  for (const row of declared.toSorted((one, other) => one.foundAt - other.foundAt)) {
    if (row.foundAt > adopted) {
      groups.push([])
      adopted = Infinity
    }
    groups.at(-1)!.push(row)
    adopted = Math.min(adopted, row.adoptedAt ?? Infinity)
  }
  return groups.map((rows) => lossOf(rows, skewMs))
}
