/**
 * What the database had acknowledged and has lost, as far as it is known. The answers that told of it are no violation of the program, and
 * what the lost rows sent to hosts and topics is explained by them. That no handle is given to two guests is judged in any case.
 */
import { idOf } from '../actors/runtime/memory.ts'
import type { Asked, Heard, Loss, LostRow } from './evidence.ts'

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

/** Rows of an ARQ were lost after `since` and before `until`, by the clients' own clock. */
export type Gone = { readonly since: number; readonly until: number }
/** Of each ARQ that has lost rows: each time. */
export const lostArqs = (lost: readonly Loss[]): ReadonlyMap<string, readonly Gone[]> => {
  const times = new Map<string, Gone[]>()
  for (const loss of lost)
    for (const id of namedIn(loss))
      times.set(id, [...(times.get(id) ?? []), { since: loss.goneMs ?? loss.toMs, until: loss.toMs }])
  return times
}

/** Whether the entity, of which the journal holds rows up to this version, has none that was written after it lost some. */
export const untoldSince = (lost: readonly Loss[]): ((key: string, version: number) => boolean) => {
  const first = new Map<string, number>()
  for (const { rows } of lost) {
    const own = Map.groupBy(rows, ({ key }) => key)
    for (const [key, some] of own) first.set(key, Math.min(...some.map(({ version }) => version)))
  }
  return (key, version) => version < (first.get(key) ?? 0)
}

/** A row as the database keeps it when a control has found that it is gone. Moments are ms since the epoch, by the clock of the database. */
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
    // after the last of them was decided, and before anybody missed one
    goneMs: Math.min(last, found) - skewMs,
    adoptedAt: adoptions.length < rows.length ? null : Math.max(...adoptions),
  }
}
/**
 * The losses that a database declares, oldest first. Rows belong to one loss when they were found before any of them was adopted. `skewMs`: how
 * far the clocks of clients, controls and the database may differ.
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
