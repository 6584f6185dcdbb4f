/** Pages of a list. Without a limit the whole list is one page, because older clients do not follow links. */
import type { Listed, Page } from '../actors/control.ts'
import { integer, oneOf, text, uuid } from './query.ts'
import type { Pairs } from './query.ts'

const common = {
  limit: integer(1, 'Maximum number of entries in the answer.'),
  sort_dir: oneOf(['asc', 'desc'], 'Ascending unless said otherwise.'),
}
export const pageArgs = <const Sort extends string>(sorts: readonly Sort[]) => ({
  ...common,
  marker: uuid('The last entry of the previous page: the page begins after it.'),
  sort_key: oneOf(sorts, 'Creation order unless said otherwise.'),
})
export const namedPageArgs = <const Sort extends string>(sorts: readonly Sort[]) => ({
  ...pageArgs(sorts),
  marker: text('The last entry of the previous page: the page begins after it.'),
})

type PageQuery = {
  readonly limit?: number | undefined
  readonly marker?: string | undefined
  readonly sort_key?: string | undefined
  readonly sort_dir?: 'asc' | 'desc' | undefined
}

export const pageOf = (query: PageQuery): Page => ({
  ...(query.limit !== undefined && { limit: query.limit }),
  ...(query.marker !== undefined && { marker: query.marker }),
  ...(query.sort_key !== undefined && { sort: query.sort_key }),
  ...(query.sort_dir === 'desc' && { descending: true }),
})

const nextHref = (base: string, collection: string, pairs: Pairs, marker: string): string => {
  const next = new URLSearchParams()
  for (const [name, values] of pairs) if (name !== 'marker') for (const value of values) next.append(name, value)
  next.append('marker', marker)
  return `${base}/accelerator/v2/${collection}?${next.toString()}`
}

export type Listing<R> = {
  /** The first key of the document. */
  readonly key: string
  readonly collection: string
  readonly base: string
  readonly pairs: Pairs
  readonly item: (row: R) => unknown
  readonly markerOf: (row: R) => string
}

export const listBody = <R>(
  listed: Listed<R>,
  { key, collection, base, pairs, item, markerOf }: Listing<R>,
): unknown => {
  const items = { [key]: listed.items.map(item) }
  const last = listed.items.at(-1)
  if (!listed.more || last === undefined) return items
  return { ...items, [`${key}_links`]: [{ rel: 'next', href: nextHref(base, collection, pairs, markerOf(last)) }] }
}
