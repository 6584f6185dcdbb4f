/** Results as tables: the ratio to the floor first. Pure. */
import { type Table, digits, ratio } from './figures.ts'
import type { BindResult, Results } from './results.ts'

const STORES = { postgres: 'PostgreSQL', pglite: 'embedded' } as const
const WORK = (hostWork: boolean): string => (hostWork ? 'yes' : 'no')

/** Alone it is the time that counts, with several callers the rate. */
export const floorRatio = ({ lanes, found, floor }: Pick<BindResult, 'lanes' | 'found' | 'floor'>): string => {
  const base = floor?.binds.get(lanes)
  if (base === undefined) return '-'
  return lanes === 1
    ? `${ratio(found.stages['whole']?.mean ?? Number.NaN, base.ms)} time`
    : `${ratio(found.perSecond, base.perSecond)} rate`
}

const binds = ({ binds }: Results): Table => ({
  title: 'A whole bind: POST, PATCH, until GET shows Bound',
  head: [
    'to the floor',
    'store',
    'host work',
    'ARQs present',
    'callers',
    'binds/s',
    'mean ms',
    'p50 ms',
    'p99 ms',
    'POST / PATCH / until Bound ms',
    'CPU ms a bind: program / database / callers',
    'floor/s',
  ],
  rows: binds.map((one) => {
    const { store, hostWork, arqs, lanes, found, floor } = one
    const { whole, post, patch, 'until bound': until } = found.stages
    return [
      floorRatio(one),
      STORES[store],
      WORK(hostWork),
      arqs.toLocaleString('en'),
      String(lanes),
      digits(found.perSecond),
      ...[whole?.mean, whole?.p50, whole?.p99].map((ms) => digits(ms ?? Number.NaN)),
      [post, patch, until].map((stage) => digits(stage?.mean ?? Number.NaN)).join(' / '),
      [found.serverCpuMs, found.databaseCpuMs, found.generatorCpuMs].map(digits).join(' / '),
      digits(floor?.binds.get(lanes)?.perSecond ?? Number.NaN),
    ]
  }),
})

/** The same figure at the most ARQs, against the fewest. */
const growth = ({ binds }: Results): Table => {
  const rows = binds.flatMap((last) => {
    const same = binds.filter(
      ({ store, hostWork, lanes }) => store === last.store && hostWork === last.hostWork && lanes === last.lanes,
    )
    const first = same[0]!
    if (first === last || same.at(-1) !== last) return []
    const [was, is] = [first.found.stages['whole']!.mean, last.found.stages['whole']!.mean]
    const arqs = `${first.arqs.toLocaleString('en')} -> ${last.arqs.toLocaleString('en')}`
    const cpu = ratio(last.found.serverCpuMs, first.found.serverCpuMs)
    return [
      [
        ratio(is, was),
        cpu,
        STORES[last.store],
        WORK(last.hostWork),
        arqs,
        String(last.lanes),
        `${digits(was)} -> ${digits(is)}`,
      ],
    ]
  })
  return {
    title: 'Growth',
    head: ['time', 'program CPU', 'store', 'host work', 'ARQs present', 'callers', 'mean ms'],
    rows,
  }
}

const requests = ({ requests }: Results): Table => ({
  title: 'Other requests',
  head: ['what', 'store', 'ARQs present', 'callers', 'per second', 'p50 ms', 'p99 ms', 'program CPU ms'],
  rows: requests.map(({ what, store, arqs, lanes, found }) => [
    what,
    STORES[store],
    arqs.toLocaleString('en'),
    String(lanes),
    digits(found.perSecond),
    digits(found.stages['whole']?.p50 ?? Number.NaN),
    digits(found.stages['whole']?.p99 ?? Number.NaN),
    digits(found.serverCpuMs),
  ]),
})

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const rest = ({ starts, kills, seeds, rebuilds, memory, unchanged }: Results): Table => ({
  title: 'Everything else',
  head: ['what', 'found'],
  rows: [
    ...starts.map(({ store, folder, readyMs, cpuMs }) => [
      `from exec to ready, ${STORES[store]}, ${folder}`,
      `${digits(middle(readyMs) / 1000)} s (${readyMs.map((ms) => digits(ms / 1000)).join(', ')}), CPU ${digits(middle(cpuMs) / 1000)} s`,
    ]),
    ...kills.map(({ store, arqs, found }) => [
      `${found.inFlight.toLocaleString('en')} binds in flight at a SIGKILL, ${STORES[store]}, ${arqs.toLocaleString('en')} ARQs present`,
      `all ended ${digits(found.allMs / 1000)} s after the restart began (ready after ${digits(found.readyMs / 1000)} s): ${JSON.stringify(found.states)}`,
    ]),
    ...seeds.map(({ store, arqs, said }) => [`seed, ${STORES[store]}, ${arqs.toLocaleString('en')} ARQs`, said]),
    ...rebuilds.map(({ store, arqs, said }) => [
      `rebuild-views, ${STORES[store]}, ${arqs.toLocaleString('en')} ARQs`,
      said,
    ]),
    ...memory.map(({ what, found }) => [
      `resident memory, ${what}`,
      `${found.residentMb} MB (peak ${found.peakMb} MB)`,
    ]),
    ...(unchanged === null
      ? []
      : [
          [
            `unchanged report, 8 devices x 16 handles, ${unchanged.bytes.toLocaleString('en')} bytes`,
            `taken by the control side: ${digits(unchanged.takenPerSecond)}/s; made by hosts: ${digits(unchanged.madePerSecond)}/s`,
          ],
        ]),
  ],
})

export const tables = (results: Results): readonly Table[] =>
  [binds(results), growth(results), requests(results), rest(results)].filter(({ rows }) => rows.length > 0)
