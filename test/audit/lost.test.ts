/**
 * What a database has lost explains what was told of it, and nothing else: a handle of two guests is found in any case.
 */
import { describe, expect, it } from 'vitest'
import { INVARIANTS, check, findingsOf } from '../../src/audit/check.ts'
import type { ClientRequest, Evidence, Loss, LostRow, TopicMessage } from '../../src/audit/evidence.ts'
import { judgeHandles } from '../../src/audit/linear.ts'
import { lossesOf, untoldSince } from '../../src/audit/loss.ts'
import { reactions } from '../../src/actors/reactions.ts'
import { created, id, prepareOrder, recorded } from '../actors/samples.ts'
import { clientCases } from './cases/clients.ts'
import { rightCases } from './cases/rights.ts'

const HANDLE = 'handle'
const caller = { projectId: 'p1', isAdmin: false, isService: true }
const ask = (
  act: ClientRequest['act'],
  at: number,
  arq: string,
  status: number,
  instance = `i-${arq}`,
): ClientRequest => ({
  act,
  from: 0,
  to: 0,
  fromMs: at,
  toMs: at + 1,
  caller,
  status,
  arqs: [arq],
  instance,
})
const shows = (at: number, arq: string, state: string, handle: string | null): ClientRequest => ({
  ...ask('get', at, arq, 200),
  arqs: [],
  shown: [{ uuid: arq, state, projectId: 'p1', handle }],
})
const rowOf = (key: string, version: number, events: LostRow['events'] = []): LostRow => ({
  key,
  version,
  commandId: id(version),
  events,
  at: 1,
  cause: {},
})
const lossOf = (...rows: readonly LostRow[]): readonly Loss[] => [{ rows, fromMs: 10, toMs: 20 }]
const LOST = lossOf(rowOf('arq/a', 2))

describe('a handle of which rows are lost', () => {
  const verdicts = (clients: readonly ClientRequest[], lost: readonly Loss[] = LOST) =>
    judgeHandles({ clients, lost }).map(({ judged }) => judged.verdict)
  const given = [ask('bind', 11, 'a', 202), shows(13, 'a', 'Bound', HANDLE)]
  const again = [ask('bind', 40, 'b', 202), shows(42, 'b', 'Bound', HANDLE)]

  it('belongs to the ARQ that a client was told has it, until that is given up', () => {
    expect(verdicts([...given, ...again])).toEqual(['impossible'])
    for (const status of [204, 404, 409])
      for (const act of ['remove', 'unbind'] as const)
        expect(verdicts([...given, ask(act, 30, 'a', status), ...again])).toEqual(['fits'])
    expect(verdicts([...given, ask('removeByInstance', 30, 'a', 204), ...again])).toEqual(['fits'])
  })
  it('is not seen to be free by what is shown of that ARQ afterwards', () => {
    const forgotten = shows(30, 'a', 'Initial', null)
    expect(verdicts([...given, forgotten])).toEqual(['fits'])
    expect(verdicts([...given, forgotten], [])).toEqual(['impossible'])
    expect(verdicts([...given, forgotten, ...again])).toEqual(['impossible'])
  })
  it('may be shown again between two losses, each of which took back that the ARQ had given it up', () => {
    const before = [ask('bind', 1, 'a', 202), shows(3, 'a', 'Bound', HANDLE), ask('unbind', 11, 'a', 202)]
    const between = [shows(25, 'a', 'Bound', HANDLE), ask('unbind', 31, 'a', 202)]
    const [first] = lossOf(rowOf('arq/a', 3))
    const second = { ...first!, fromMs: 30, toMs: 40 }
    expect(verdicts([...before, ...between], [first!, second])).toEqual(['fits'])
    expect(verdicts([...before, ...between], [second])).toEqual(['impossible'])
  })
  it('may be shown again for an ARQ that had given it up', () => {
    const before = [ask('bind', 1, 'a', 202), shows(3, 'a', 'Bound', HANDLE), ask('unbind', 11, 'a', 202)]
    const next = [ask('bind', 13, 'b', 202), shows(15, 'b', 'Bound', HANDLE)]
    const lost = lossOf(rowOf('arq/a', 3), rowOf('arq/b', 2))
    expect(verdicts([...before, ...next, shows(30, 'a', 'Bound', HANDLE)], lost)).toEqual(['fits'])
    expect(verdicts([...before, ...next, shows(30, 'a', 'Bound', HANDLE)], [])).toEqual(['impossible'])
  })
  it('is not judged by what was shown while the rows may have been there or not', () => {
    const unsure = [{ ...LOST[0]!, goneMs: 15 }]
    const between = shows(16, 'a', 'Initial', null)
    expect(verdicts([...given, between], unsure)).toEqual(['fits'])
    expect(verdicts([...given, between])).toEqual(['impossible'])
    // a bind of that time is not one after the loss
    const bindOf = ask('bind', 15, 'a', 202)
    expect(verdicts([...given, bindOf, shows(30, 'a', 'Initial', null)], unsure)).toEqual(['fits'])
    expect(verdicts([...given, ...again], unsure)).toEqual(['impossible'])
    // who gave it up then may have given it up after the loss
    expect(verdicts([...given, ask('remove', 15, 'a', 404), ...again], unsure)).toEqual(['fits'])
  })
  it('counts again for an ARQ that is bound again', () => {
    const back = [ask('bind', 30, 'a', 202), shows(32, 'a', 'Bound', HANDLE)]
    expect(verdicts([...given, ...back])).toEqual(['fits'])
    expect(verdicts([...given, ...back, ...again])).toEqual(['impossible'])
  })
})

describe('answers about what is lost', () => {
  const names = (evidence: Partial<Evidence>) =>
    check({ journal: [], now: 100, ...evidence }).map(({ invariant }) => invariant)
  const bound = [ask('bind', 11, 'a', 202)]
  it('are explained when they were given before it was lost, of the entities that lost rows name', () => {
    expect(names({ clients: bound })).toEqual(['S6'])
    expect(names({ clients: bound, lost: LOST })).toEqual([])
    expect(names({ clients: bound, lost: lossOf(rowOf('arq/b', 2)) })).toEqual(['S6'])
    expect(names({ clients: [ask('bind', 30, 'a', 202)], lost: LOST })).toEqual(['S6'])
  })
  it('and so is what Nova heard', () => {
    const nova = [
      { rowCount: 0, outcome: 'delivered', name: 'n', status: 'completed', tag: 'a', server_uuid: 'i' },
    ] as never
    expect(names({ nova })).toEqual(['S6'])
    expect(names({ nova, lost: LOST })).toEqual([])
  })
  it('and so is an order on the disk of a host', () => {
    const order = prepareOrder(1, 4)
    const hosts = [{ name: 'h1', steps: [{ did: 'noted', slot: order.slot, number: 4, done: true }] }] as const
    const granted = { type: 'Granted', handle: order.slot, arq: 'a', order }
    expect(names({ hosts, quiet: true })).toEqual(['S5 disk'])
    expect(names({ hosts, quiet: true, lost: lossOf(rowOf('deployable/d', 2, [granted])) })).toEqual([])
    expect(names({ hosts, quiet: true, lost: lossOf(rowOf('arq/a', 2, [granted])) })).toEqual(['S5 disk'])
  })
})

describe('what was told of an entity that has lost rows', () => {
  const told = [...clientCases, ...rightCases].filter(([, , , findings]) =>
    findings.some(
      ({ keys = [], proof = [] }) => keys.length > 0 && proof.some(({ of }) => of === 'client' || of === 'nova'),
    ),
  )
  it.each(told)('is explained, %s: %s', (name, _, { journal = [], now = 100_000, ...rest }, findings) => {
    const named = INVARIANTS.filter((one) => one.name === name)
    const found = (lost: readonly Loss[]) =>
      findingsOf(named, { journal, now, ...rest, lost }).flatMap((one) => one.findings)
    // of several that were asked about, only the first that is wrong is named
    const asked = (rest.clients ?? []).flatMap(({ arqs = [] }) => arqs.map((uuid) => `arq/${uuid}`))
    const keys = [...findings.flatMap((one) => one.keys ?? []), ...asked]
    expect(found(lossOf(...keys.map((key) => rowOf(key, 9))))).toEqual([])
    expect(found(lossOf(rowOf('arq/other', 9)))).toEqual(findings)
  })
})

describe('messages of lost rows', () => {
  const stored = (row: LostRow, position: string, offset: number): TopicMessage => {
    const [{ topic, key, value }] = reactions({ ...row, position }) as [ReturnType<typeof reactions>[number]]
    const { id: name, type, data } = JSON.parse(value)
    return { topic, partition: 0, offset, key, id: name, type, position, time: row.at, body: data }
  }
  const topics = (...messages: readonly TopicMessage[]) => ({
    messages,
    cut: new Set<string>(),
    publishedTo: null,
    settled: false,
    open: null,
  })
  const judged = (evidence: Partial<Evidence>) =>
    check({ journal: [], now: 100, ...evidence }).filter(({ invariant }) => invariant.startsWith('PUBLISHED'))
  const first = rowOf(`arq/${created.type === 'ArqCreated' ? created.uuid : ''}`, 1, [created])
  const device = rowOf('deployable/x', 1, [recorded()])

  it('are explained by these rows', () => {
    const messages = topics(stored(first, '5.0', 0))
    expect(judged({ topics: messages }).map(({ invariant }) => invariant)).toEqual(['PUBLISHED-3'])
    expect(judged({ topics: messages, lost: lossOf(first) })).toEqual([])
    expect(judged({ topics: messages, lost: lossOf(device) })).toHaveLength(1)
    const unplaced = topics({ ...stored(first, '5.0', 0), position: null })
    expect(judged({ topics: unplaced, lost: lossOf(first) })).toEqual([])
    // the row was written again, differently, and lost again
    const other = rowOf(first.key, 1, [{ ...created, projectId: 'p2' } as typeof created])
    const again = topics(stored(first, '5.0', 0), stored(other, '6.0', 1))
    expect(judged({ topics: again, lost: lossOf(first, other) })).toEqual([])
    expect(judged({ topics: again, lost: lossOf(other) })).toHaveLength(1)
    const empty = topics({ ...stored(first, '5.0', 0), body: null })
    expect(judged({ topics: empty, lost: lossOf(first) }).map(({ invariant }) => invariant)).toContain('PUBLISHED-3')
  })
  it('leave the last state on its topic until the entity has another row', () => {
    const [arq] = [first.key]
    const state = {
      ...stored(first, '5.0', 0),
      topic: 'arq.state.v1',
      key: arq.slice(4),
      id: 'state',
      type: null,
      position: null,
    }
    const journal = [{ ...first, position: '1.0' }]
    const told = {
      ...topics({ ...state, body: { entity: arq, state: { uuid: 'other' } } }),
      publishedTo: '3.0',
      settled: true,
    }
    const named = (evidence: Partial<Evidence>) =>
      judged({ topics: told, ...evidence }).map(({ invariant }) => invariant)
    const next = rowOf(arq, 2)
    expect(named({ journal })).toContain('PUBLISHED-4')
    expect(named({ journal, lost: lossOf(next) })).not.toContain('PUBLISHED-4')
    expect(named({ journal: [...journal, { ...next, position: '2.0' }], lost: lossOf(next) })).toContain('PUBLISHED-4')
    // of several lost rows the first counts, and of several losses the last
    const third = rowOf(arq, 3)
    expect(named({ journal: [...journal, { ...next, position: '2.0' }], lost: lossOf(third, next) })).toContain(
      'PUBLISHED-4',
    )
    expect(named({ journal, lost: [...lossOf(first), ...lossOf(third)] })).not.toContain('PUBLISHED-4')
  })
  it('do not stand for the same row that was written again', () => {
    const journal = [{ ...first, position: '3.0' }]
    const both = topics(stored(first, '5.0', 0), stored(first, '3.0', 1))
    // a message of an older release names no position
    const unplaced = topics({ ...stored(first, '3.0', 0), position: null })
    expect(judged({ journal, topics: { ...unplaced, publishedTo: '3.0' }, lost: lossOf(first) })).toEqual([])
    expect(judged({ journal, topics: { ...both, publishedTo: '3.0' }, lost: lossOf(first) })).toEqual([])
    // written again later, at the position that the lost row had
    const later = [{ ...first, at: 50, position: '5.0' }]
    const lostOne = topics(stored(first, '5.0', 0))
    expect(
      judged({ journal: later, topics: { ...lostOne, publishedTo: '5.0' }, lost: lossOf(first) }).map(
        (one) => one.invariant,
      ),
    ).toEqual(['PUBLISHED-1'])
    const early = topics(stored(first, '5.0', 0))
    expect(
      judged({ journal, topics: { ...early, publishedTo: '3.0' }, lost: lossOf(first) }).map(
        ({ invariant }) => invariant,
      ),
    ).toEqual(['PUBLISHED-1'])
  })
})

describe('a client that tells no times', () => {
  const untimed = (asked: ClientRequest, at: number): ClientRequest => {
    const { fromMs: _, toMs: __, ...rest } = asked
    return { ...rest, from: at, to: at + 1 }
  }
  const verdicts = (...clients: readonly ClientRequest[]) =>
    judgeHandles({ clients, lost: LOST }).map(({ judged }) => judged.verdict)
  const given = [ask('bind', 11, 'a', 202), shows(13, 'a', 'Bound', HANDLE)]
  const again = [ask('bind', 40, 'b', 202), shows(42, 'b', 'Bound', HANDLE)]
  const unbound = shows(30, 'a', 'Unbound', null)
  it('is taken at its word, as before the loss', () => {
    expect(verdicts(...given, unbound)).toEqual(['fits'])
    expect(verdicts(...given, untimed(unbound, 30))).toEqual(['impossible'])
  })
  it('gives nothing up by what was refused', () => {
    const refused = ask('unbind', 30, 'a', 409)
    expect(verdicts(...given, refused, ...again)).toEqual(['fits'])
    expect(verdicts(...given, untimed(refused, 30), ...again)).toEqual(['impossible'])
  })
  it('is judged with those that name neither requests nor an instance', () => {
    const { arqs: _, instance: __, ...nameless } = ask('bind', 30, 'a', 202)
    const { instance: ___, ...nobody } = ask('removeByInstance', 31, 'a', 204)
    expect(verdicts(...given, nameless, nobody, ask('removeByInstance', 32, 'c', 204))).toEqual(['fits'])
    expect(verdicts(...given, nameless, nobody, ...again)).toEqual(['impossible'])
  })
})

describe('the losses that a database declares', () => {
  const row = (key: string, at: number, foundAt: number, adoptedAt: number | null) => ({
    ...rowOf(`arq/${key}`, 2),
    at,
    foundAt,
    adoptedAt,
  })
  it('are one when their rows were found before any of them was adopted', () => {
    const rows = [row('a', 90, 101, 120), row('b', 95, 100, 110), row('c', 190, 200, null), row('d', 185, 210, 220)]
    expect(lossesOf(rows, 5)).toEqual([
      { rows: [rows[1], rows[0]], fromMs: 85, toMs: 105, goneMs: 90, adoptedAt: 120 },
      { rows: [rows[2], rows[3]], fromMs: 180, toMs: 205, goneMs: 185, adoptedAt: null },
    ])
  })
  it('are two from the moment when the first of them was adopted, and one at that moment', () => {
    const [one, two, three] = [row('a', 1, 100, 150), row('b', 2, 110, 140), row('c', 3, 140, 160)]
    expect(lossesOf([one, two, three], 0).map(({ rows }) => rows)).toEqual([[one, two, three]])
    const late = { ...three, foundAt: 141 }
    expect(lossesOf([late, two, one], 0).map(({ rows }) => rows)).toEqual([[one, two], [late]])
  })
  it('were not gone later than the first of them was missed, whatever the clocks of controls say', () => {
    const late = row('a', 500, 100, 110)
    expect(lossesOf([late], 0)).toEqual([{ rows: [late], fromMs: 500, toMs: 100, goneMs: 100, adoptedAt: 110 }])
  })
  it('are none when nothing is declared', () => expect(lossesOf([], 5)).toEqual([]))
})

it('an entity is told of again from the first version that it has lost', () => {
  const rows = [rowOf('arq/a', 4), rowOf('arq/a', 3), rowOf('arq/b', 7)]
  const untold = untoldSince(lossOf(...rows))
  expect([untold('arq/a', 2), untold('arq/a', 3), untold('arq/b', 6), untold('arq/b', 7), untold('arq/c', 0)]).toEqual([
    true,
    false,
    true,
    false,
    false,
  ])
})
