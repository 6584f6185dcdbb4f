/**
 * Answers lists. A list of one portion is answered like any other document. A longer list is sent portion by portion,
 * with the same text, so that the whole answer is never in memory.
 */
import type { Listed, Page } from '../actors/control.ts'
import type { Fault, Outcome } from '../vocabulary/fault.ts'
import type { Pairs } from './query.ts'
import { reply } from './route.ts'
import type { Answered } from './route.ts'

export type Listing<R> = {
  /** The first key of the document. */
  readonly key: string
  readonly collection: string
  readonly base: string
  readonly pairs: Pairs
  readonly item: (row: R) => unknown
  readonly markerOf: (row: R) => string
}
type Read<R> = (page: Page) => Promise<Outcome<Listed<R>>>

/** The number of rows that are read at once, and the number of characters that are built at once. */
export const PORTION = { rows: 500, characters: 128 * 1024 }

const nextHref = (base: string, collection: string, pairs: Pairs, marker: string): string => {
  const next = new URLSearchParams()
  for (const [name, values] of pairs) if (name !== 'marker') for (const value of values) next.append(name, value)
  next.append('marker', marker)
  return `${base}/accelerator/v2/${collection}?${next.toString()}`
}

/** The link to the page that follows the last of these rows; empty when no rows follow it. */
const linksOf = <R>({ items, next }: Listed<R>, { key, collection, base, pairs, markerOf }: Listing<R>): object => {
  const last = next === null ? undefined : items.at(-1)
  return last === undefined
    ? {}
    : { [`${key}_links`]: [{ rel: 'next', href: nextHref(base, collection, pairs, markerOf(last)) }] }
}

export const listBody = <R>(listed: Listed<R>, listing: Listing<R>): object => ({
  [listing.key]: listed.items.map(listing.item),
  ...linksOf(listed, listing),
})

/** Thrown when a portion cannot be read after the answer has begun, so that the answer must be broken off. */
export class PortionFailed extends Error {
  override readonly name = 'PortionFailed'
  constructor(fault: Fault) {
    super(`the next portion of the list: ${'reason' in fault ? fault.reason : fault.kind}`)
  }
}

/** The text of `listBody` for all rows, in pieces. Throws `PortionFailed`. */
async function* piecesOf<R>(
  first: Listed<R>,
  read: Read<R>,
  { limit, ...page }: Page,
  listing: Listing<R>,
): AsyncGenerator<string> {
  let [listed, count] = [first, 0]
  let text = `{${JSON.stringify(listing.key)}:[`
  for (;;) {
    for (const row of listed.items) {
      text += (count++ > 0 ? ',' : '') + JSON.stringify(listing.item(row))
      if (text.length < PORTION.characters) continue
      yield text
      text = ''
    }
    const left = (limit ?? Number.POSITIVE_INFINITY) - count
    if (listed.next === null || left <= 0) break
    const outcome = await read({ ...page, after: listed.next, limit: Math.min(left, PORTION.rows) })
    if (!outcome.ok) throw new PortionFailed(outcome.fault)
    listed = outcome.value
  }
  const [links] = Object.entries(linksOf(listed, listing))
  yield `${text}]${links ? `,${JSON.stringify(links[0])}:${JSON.stringify(links[1])}` : ''}}`
}

export const answerList = async <R>(read: Read<R>, page: Page, listing: Listing<R>): Promise<Answered> => {
  const limit = Math.min(page.limit ?? Number.POSITIVE_INFINITY, PORTION.rows)
  const first = await read({ ...page, limit })
  if (!first.ok) return first
  if (first.value.next === null || limit === page.limit) return reply(200, listBody(first.value, listing))
  return { ok: true, status: 200, pieces: piecesOf(first.value, read, page, listing) }
}
