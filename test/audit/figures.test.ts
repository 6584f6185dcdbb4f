/** The counts of an audit where there is much: the times of many binds, and what became of each request. */
import { expect, test } from 'vitest'
import { figuresOf } from '../../src/cli/audit/figures.ts'
import { bindStarted, created, journalOf } from './cases/scene.ts'

const accepted = (...arqs: readonly string[]) => ({ type: 'BindAccepted', parts: arqs.map((arq) => ({ arq })) })
const settled = (...arqs: readonly string[]) => ({ type: 'BindSettled', outcome: 'completed', arqs })
const row = (at: number, ...events: readonly object[]) => ({ key: 'instance/i', version: 1, events, at })
const figures = (journal: readonly object[], more: object = {}) => figuresOf({ journal, ...more } as never)

test('the times of binds are ranked, in whatever order they ended', () => {
  const binds = Array.from({ length: 200 }, (_, n) => n + 1)
  const begun = row(1000, accepted(...binds.map(String)))
  const ended = binds.map((ms) => row(1000 + ms, settled(String(ms))))
  const { binds: counts, bindMs } = figures([begun, ...ended.toReversed()])
  expect([counts, bindMs]).toEqual([{ completed: 200 }, { p50: 101, p99: 199, max: 200 }])
})
test('a bind whose beginning is not in the journal has no time, and one that is over ends once', () => {
  const journal = [
    row(1000, settled('before')),
    row(2000, accepted('a')),
    row(2005, settled('a')),
    row(9000, settled('a')),
    row(9001, { type: 'Other', outcome: 'failed', arqs: ['a'] }),
    { ...row(9002, settled('b')), key: 'host/h' },
  ]
  const { binds, bindMs, entities } = figures(journal)
  expect([binds, bindMs, entities]).toEqual([{ completed: 3 }, { p50: 5, p99: 5, max: 5 }, { instance: 1, host: 1 }])
})
test('requests are counted by their last status, and a row that cannot be read changes none', () => {
  const rows = journalOf(created('a1'), created('a2'), created('a3'))
  const started = journalOf(created('a1'), created('a2')).map((one) => ({
    ...one,
    version: 2,
    events: [bindStarted()],
    position: '9.9',
  }))
  const unreadable = { ...rows[2]!, version: 2, events: [{ type: 'of another time' }] }
  const { arqs, rows: count, lastPosition } = figures([...rows, unreadable, ...started])
  expect([arqs, count, lastPosition]).toEqual([{ Initial: 1, BindStarted: 2 }, 6, '9.9'])
})
test('of what clients recorded, the requests and the handles whose owners were judged', () => {
  const caller = { projectId: 'p', isAdmin: true, isService: false }
  const shown = (handle: string) => [{ uuid: 'a', state: 'Bound', projectId: null, handle }]
  const asked = { act: 'get', status: 200, caller, from: 0, to: 1, fromMs: 0, toMs: 1 }
  const clients = [
    { ...asked, shown: shown('h1') },
    { ...asked, shown: shown('h2') },
    { ...asked, shown: [] },
  ]
  expect(figures([], { clients }).clients).toEqual({ requests: 3, handles: 2, undecided: 0 })
})
