/** How a person has chosen to look at a timeline. The choice is in the address, so that a link leads to the same. */

export type Ways = {
  readonly shown: 'both' | 'bars' | 'table'
  /** Whether the recorded events behind all steps are unfolded. */
  readonly raw: boolean
  /** The steps after which nothing happens for long, and whose time is drawn in its full length all the same. */
  readonly open: readonly number[]
  /** The first step that is shown of a long timeline; null: the last ones are shown. */
  readonly from: number | null
}
export const USUAL: Ways = { shown: 'both', raw: false, open: [], from: null }

/** More steps at once would slow a browser down. */
export const STEPS_SHOWN = 500
/** The number of a step: its place in the timeline, from 1. */
const NUMBER = /^[1-9]\d{0,5}$/
const OPEN_MAX = 100

/** The arguments of an address that say it. */
export const WAY_NAMES = ['t', 'r', 'open', 'from'] as const
type Query = Readonly<Record<string, string | undefined>>
/** What an address says otherwise than this is as if it were not there. */
export const waysOf = ({ t, r, open, from }: Query): Ways => ({
  shown: t === 'bars' || t === 'table' ? t : USUAL.shown,
  raw: r === '1',
  open: [...new Set((open ?? '').split('.').filter((text) => NUMBER.test(text)))].slice(0, OPEN_MAX).map(Number),
  from: NUMBER.test(from ?? '') ? Number(from) : null,
})

/** A place of the console that shows a timeline, the moment that it shows of it, and how. */
export type Chosen = {
  readonly place: string
  /** Null: the present. */
  readonly asOf: string | null
  readonly ways: Ways
  /** The place can be asked for again: false of a file, which only the browser has. */
  readonly kept: boolean
}
/** The address that differs from the present one by this change. */
export const addressOf = ({ place, asOf, ways }: Chosen, change: Partial<Ways> & { asOf?: string | null } = {}) => {
  const { shown, raw, open, from, asOf: at } = { asOf, ...ways, ...change }
  const query = new URLSearchParams({
    ...(at !== null && { as_of: at }),
    ...(shown !== USUAL.shown && { t: shown }),
    ...(raw && { r: '1' }),
    ...(open.length > 0 && { open: open.join('.') }),
    ...(from !== null && { from: String(from) }),
  }).toString()
  return query === '' ? place : `${place}?${query}`
}

/** The steps that are shown of so many, as the first and the last of them. */
export const windowOf = (
  of: number,
  { from }: Pick<Ways, 'from'>,
): { readonly first: number; readonly last: number } => {
  const latest = Math.max(1, of - STEPS_SHOWN + 1)
  const first = Math.min(from ?? latest, latest)
  return { first, last: Math.min(of, first + STEPS_SHOWN - 1) }
}

/** The moment that the page shows, in ms since the epoch; null: the present, also if the address names the future. */
export const pastIn = (asOf: string | null, now: number): number | null => {
  const at = asOf === null ? Number.NaN : Date.parse(asOf)
  return at < now ? at : null
}
