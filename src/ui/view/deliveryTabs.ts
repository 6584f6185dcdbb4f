/** The tabs of all pages about what is delivered: events for Nova, and messages that could not be handled. */
import type { Delivery } from '../shapes.ts'
import type { Tab } from './rows.ts'

type Shown = Delivery['state'] | 'letters'
const TABS: readonly (readonly [shown: Shown, word: string, href: string])[] = [
  ['waiting', 'Told again', 'deliveries'],
  ['undelivered', 'Undelivered', 'deliveries?state=undelivered'],
  ['letters', 'Dead letters', 'letters'],
]
export type DeliveryCounts = Readonly<Record<Shown, number>>
/** `counts` null: they could not be counted. */
export const deliveryTabs = (shown: Shown, counts: DeliveryCounts | null): readonly Tab[] =>
  TABS.map(([each, word, href]) => ({
    word,
    href,
    chosen: each === shown,
    count: counts === null ? null : counts[each],
  }))
