/**
 * How the cases of the alerts write series, as promtool reads them: a sample every five seconds; `0x3 1x9` is four
 * times 0, then ten times 1.
 */
export type Series = Readonly<Record<string, string>>
type Firing = {
  readonly series: Series
  /** Seconds from the first sample. A scrape earlier it does not fire yet. */
  readonly at: number
  /** What it says, once for each set of labels. */
  readonly says: readonly { readonly labels?: Readonly<Record<string, string>>; readonly summary: string }[]
}
export type AlertCase = { readonly fires: readonly Firing[]; readonly silent: readonly Series[] }

export const MINUTES = 60
export const SCRAPE_SECONDS = 5
export const LONG = 'x1000'
export const control = (number: number, metric: string, labels = ''): string =>
  `${metric}{job="accelerando-control",instance="control-${number}:6671"${labels}}`
export const ours = (metric: string, labels = '', number = 1): string =>
  control(number, `accelerando_${metric}`, labels)
export const hosts = (metric: string, labels = ''): string =>
  `accelerando_${metric}{job="accelerando-host",instance="compute-1:6671"${labels}}`

/** The value is there from the first sample on, so that it fires when it has lasted for as long as it must. */
export const lasting = (metric: string, labels: string, value: number, at: number, summary: string): Firing => ({
  series: { [ours(metric, labels)]: `${value}${LONG}` },
  at,
  says: [{ summary }],
})
export const steady = (metric: string, labels: string, value: number): Series => ({
  [ours(metric, labels)]: `${value}${LONG}`,
})
/** A counter that grows by one after two scrapes. */
export const ONCE = `0x1 1${LONG}`
export const ONCE_AT = 2 * SCRAPE_SECONDS
export const growing = (
  series: string,
  labels: Readonly<Record<string, string>>,
  summary: string,
  lasting = 0,
): Firing => ({
  series: { [series]: ONCE },
  at: ONCE_AT + lasting,
  says: [{ labels, summary }],
})
/** A counter of a program that has been counting before it is first scraped. */
export const NEVER = `7${LONG}`

export const bucketed = (name: string, counts: Readonly<Record<string, number>>): Series =>
  Object.fromEntries(Object.entries(counts).map(([le, each]) => [ours(name, `,le="${le}"`), `0+${each}${LONG}`]))
