/** Lists: a table that scrolls by itself, its filters, and the link to the next page. */
import type { Loaded } from '../loaded.ts'
import { empty, trouble } from './parts.ts'
import { type Child, type Node, a, code, div, nav, p, span, table, tbody, td, th, thead, tr } from './tags.ts'
import { count, wordsOf } from './words.ts'

export type Column<Row> = {
  readonly title: string
  readonly cell: (row: Row) => Child
  /** `number`: right-aligned figures. */
  readonly kind?: 'number' | 'wide'
}

export const rows = <Row>(
  label: string,
  columns: readonly Column<Row>[],
  list: readonly Row[],
  keyOf: (row: Row) => string,
): Node =>
  div(
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label },
    table(
      { class: 'rows' },
      thead(null, tr(null, ...columns.map(({ title, kind }) => th({ scope: 'col', class: kind, key: title }, title)))),
      tbody(
        null,
        ...list.map((row) =>
          tr(
            { key: keyOf(row) },
            ...columns.map(({ title, kind, cell }) => td({ class: kind, key: title }, cell(row))),
          ),
        ),
      ),
    ),
  )

export type Tab = {
  readonly word: string
  readonly href: string
  readonly chosen: boolean
  readonly count?: number | null
}
export const tabs = (label: string, list: readonly Tab[]): Node =>
  nav(
    { class: 'tabs', 'aria-label': label },
    ...list.map(({ word, href, chosen, count: number }) =>
      a(
        { href, key: word, 'aria-current': chosen ? 'true' : undefined },
        wordsOf(word),
        number === undefined || number === null ? null : span({ class: 'tab-count' }, count(number)),
      ),
    ),
  )

export type Turn = { readonly earlier: string | null; readonly later: string | null }
export const turning = ({ earlier, later }: Turn, shown: number): Child =>
  earlier === null && later === null
    ? null
    : nav(
        { class: 'turning', 'aria-label': 'Pages' },
        span({ class: 'dim' }, `${count(shown)} on this page`),
        span(
          { class: 'turns' },
          later === null
            ? span({ class: 'turn off' }, '‹ Previous')
            : a({ class: 'turn', href: later, rel: 'prev', 'data-key': '[' }, '‹ Previous'),
          earlier === null
            ? span({ class: 'turn off' }, 'Next ›')
            : a({ class: 'turn', href: earlier, rel: 'next', 'data-key': ']' }, 'Next ›'),
        ),
      )

/**
 * The list, or what is shown in its place: an error, the text for an empty list, or the text for a filter that nothing
 * matches.
 */
export const listed = <Row>(
  given: Loaded<readonly Row[]>,
  show: (list: readonly Row[]) => Child,
  nothing: Child,
  filtered: { readonly is: boolean; readonly clear: string },
): Child => {
  if (!given.ok) return trouble(given.error)
  if (given.value.length > 0) return show(given.value)
  if (!filtered.is) return nothing
  return empty('Nothing matches this filter', a({ class: 'button', href: filtered.clear }, 'Clear the filter'))
}

export type Filter = Readonly<Record<string, string>>
/** The address of the list with these filters. */
export const under = (path: string, filter: Filter): string => {
  const query = new URLSearchParams(filter).toString()
  return query === '' ? path : `${path}?${query}`
}
export const without = (filter: Filter, name: string): Filter =>
  Object.fromEntries(Object.entries(filter).filter(([each]) => each !== name))

/** The filters besides the tabs, each with a link that removes it. */
export const filtersOf = (path: string, filter: Filter, ofTabs: string | null): Child => {
  const others = Object.entries(filter).filter(([name]) => name !== ofTabs)
  return others.length === 0
    ? null
    : p(
        { class: 'filters' },
        ...others.map(([name, value]) =>
          span(
            { class: 'chip', key: name },
            `${name.replaceAll('_', ' ')} `,
            code(null, value),
            a(
              { class: 'drop', href: under(path, without(filter, name)), 'aria-label': `Without ${name} ${value}` },
              '×',
            ),
          ),
        ),
      )
}

/** A part of a list, and the length of the whole list. */
export type Cut<Item> = { readonly some: readonly Item[]; readonly of: number }
export const cutTo = <Item>(list: readonly Item[], max: number, from = 0): Cut<Item> => ({
  some: list.slice(from, from + max),
  of: list.length,
})
/** Says that not all items are shown, and where the others are. */
export const cutNote = ({ some, of }: Cut<unknown>, what: string, href: string): Child =>
  some.length >= of
    ? null
    : p(
        { class: 'rest dim' },
        `${count(some.length)} of ${count(of)} ${what} are shown. `,
        a({ href }, 'Show the others'),
      )
