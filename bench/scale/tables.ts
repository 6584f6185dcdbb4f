/** What one unit costs, as tables. Pure. */
import { type Table, digits } from '../figures.ts'
import { fanouts } from './fanout.ts'
import type { ScaleResults, Sizes } from './results.ts'

const units = ({ units: all }: ScaleResults): Table => ({
  title: 'What one message costs',
  head: ['what', 'how many', 'per second', 'microseconds of CPU: controls / hosts / broker / database', 'bytes'],
  rows: all.map(({ what, count, perSecond, cpu, bytes }) => [
    what,
    count.toLocaleString('en'),
    digits(perSecond),
    [cpu.controls, cpu.hosts, cpu.broker, cpu.database].map((ms) => digits(ms * 1000)).join(' / '),
    digits(bytes),
  ]),
})
const listed = (sizes: Sizes): string =>
  Object.entries(sizes)
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, bytes]) => `${name} ${digits(bytes)}`)
    .join(', ')
const sizes = ({ growth, present }: ScaleResults): Table => ({
  title: 'What is left behind, in bytes with indexes',
  head: ['what', 'found'],
  rows: [
    ...growth.map(({ what, count, sizes: each }) => [
      `one ${what} (${count.toLocaleString('en')} measured)`,
      listed(each),
    ]),
    ...(present === null
      ? []
      : [
          [
            `all of ${present.arqs.toLocaleString('en')} ARQs on ${present.hosts.toLocaleString('en')} hosts`,
            listed(present.sizes),
          ],
          ['seed', present.seeded],
          ['rebuild-views', present.rebuilt],
        ]),
  ],
})
/** As measured, with its headers. */
const ORDER_BYTES = 717
const fans = (): Table => ({
  title: 'Simulated: orders that hosts read, each the whole of its partition',
  head: [
    'hosts',
    'orders/s',
    'partitions',
    'fullest partition, to the mean',
    'answers of the broker/s',
    'orders read/s: by all hosts / by each',
    'bytes/s from the broker',
  ],
  rows: fanouts().map(({ hosts, partitions, ordersPerSecond, skew, answersPerSecond, readPerHost, readPerSecond }) => [
    hosts.toLocaleString('en'),
    digits(ordersPerSecond),
    String(partitions),
    `${digits(skew)}x`,
    digits(answersPerSecond),
    `${digits(readPerSecond)} / ${digits(readPerHost)}`,
    `${digits((readPerSecond * ORDER_BYTES) / 1e6)} MB`,
  ]),
})
export const scaleTables = (results: ScaleResults): readonly Table[] => [units(results), sizes(results), fans()]
