/** Pages of a list. Without a limit the whole list is one page, because older clients do not follow links. */
import type { Page } from '../actors/control.ts'
import { integer, oneOf, text, uuid } from './query.ts'

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
