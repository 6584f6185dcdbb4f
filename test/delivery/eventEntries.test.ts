/** Facts of a journal row as events: who may see them, what filters select, their places, and the ring. */
import { describe, expect, test } from 'vitest'
import type { EventFilter } from '../../src/actors/events.ts'
import { lettersOf } from '../../src/actors/reactions.ts'
import type { FeedRow, Journal } from '../../src/actors/runtime/ports.ts'
import { type Entry, entriesOfRow, showsTo } from '../../src/delivery/events/entries.ts'
import { createOwners } from '../../src/delivery/events/owners.ts'
import { BEGINNING, earlierBy, positionNamed, positionsOf } from '../../src/delivery/events/position.ts'
import { Ring } from '../../src/delivery/events/ring.ts'
import { MESSAGE_MAX_BYTES } from '../../src/wire/message.ts'
import { memoryLog } from '../support/lab.ts'

const rowOf = (key: string, events: readonly object[], more: Partial<FeedRow> = {}): FeedRow =>
  ({ key, version: 3, commandId: 'c', events, at: 7, cause: {}, position: '5', ...more }) as unknown as FeedRow
const entriesOf = (row: FeedRow, owners: Readonly<Record<string, string>> = {}, log = memoryLog()) =>
  entriesOfRow(row, lettersOf, (arq) => owners[arq] ?? null, log)
const dataIn = (event: { readonly text: string } | null) => event && JSON.parse(event.text).data

describe('a fact of an accelerator request', () => {
  const cause = { requestId: 'req-1', by: 'u1' }
  const row = rowOf('arq/a', [{ type: 'BindFailed', reason: 'secret', hostname: 'h1' }, { type: 'Released' }], {
    cause,
  })
  const { entries, end } = entriesOf(row, { a: 'p1' })
  test('is known by its place, kind, subject, type, request, user and project', () => {
    expect(
      entries.map(({ place, kind, subject, type, hosts, instances, project, request, user }) => [
        place.count,
        { kind, subject, type, hosts, instances, project, request, user },
      ]),
    ).toEqual([
      [
        1,
        {
          kind: 'arq',
          subject: 'a',
          type: 'BindFailed',
          hosts: ['h1'],
          instances: [],
          project: 'p1',
          request: 'req-1',
          user: 'u1',
        },
      ],
      [
        2,
        {
          kind: 'arq',
          subject: 'a',
          type: 'Released',
          hosts: [],
          instances: [],
          project: 'p1',
          request: 'req-1',
          user: 'u1',
        },
      ],
    ])
    expect(end.id).toBe(entries[1]!.place.id)
  })
  test('is shown whole, without what drivers say, and with its user only to that user', () => {
    const fact = { entity: 'arq/a', version: 3, command: 'c' }
    const event = { type: 'BindFailed', hostname: 'h1' }
    const [first, second] = entries
    expect(first!.whole).toMatchObject({ id: first!.place.id, type: 'accelerando.fact.BindFailed' })
    expect([first!.whole, first!.forProject, first!.forUser].map(dataIn)).toEqual([
      { ...fact, event: { ...event, reason: 'secret' }, cause },
      { ...fact, event, cause: { ...cause, by: 'another user' } },
      { ...fact, event, cause },
    ])
    expect([second!.forProject, second!.forUser].map((shown) => dataIn(shown).cause.by)).toEqual(['another user', 'u1'])
    expect([second!.forUser === second!.whole, second!.forProject === second!.whole]).toEqual([true, false])
  })
  test('counts with every form of it that is kept', () => {
    const lengths = ({ whole, forProject, forUser }: Entry) =>
      [whole, forProject!, forUser!].map(({ text }) => text.length)
    const [first, second] = entries.map(lengths)
    expect(entries[0]!.bytes).toBe(first![0]! + first![1]! + first![2]!)
    expect(entries[1]!.bytes).toBe(second![0]! + second![1]!)
    const [plain] = entriesOf(rowOf('arq/a', [{ type: 'Released' }])).entries
    expect([plain!.bytes, plain!.forProject === plain!.whole, plain!.user, plain!.request]).toEqual([
      plain!.whole.text.length,
      true,
      null,
      null,
    ])
    const [wide] = entriesOf(rowOf('device/d', [{ type: 'Seen', name: 'é' }])).entries
    expect([wide!.bytes, wide!.forProject, wide!.forUser]).toEqual([Buffer.byteLength(wide!.whole.text), null, null])
  })
  test('has no project where several have its requests, or none is known', () => {
    const settled = rowOf('instance/i', [{ type: 'BindSettled', arqs: ['a', 'b'], outcome: 'done' }])
    const projectOf = (owners: Readonly<Record<string, string>>) => entriesOf(settled, owners).entries[0]!.project
    expect([
      projectOf({ a: 'p1', b: 'p1' }),
      projectOf({ a: 'p1', b: 'p2' }),
      projectOf({ a: 'p1' }),
      projectOf({}),
    ]).toEqual(['p1', null, null, null])
    expect(entriesOf(rowOf('host/h', [{ type: 'HostSeen' }])).entries[0]!.project).toBe(null)
  })
})
test('a fact that no bus takes is left out, and the places of the others stay as they are', () => {
  const filler = 'x'.repeat(MESSAGE_MAX_BYTES)
  const { entries, end } = entriesOf(rowOf('arq/a', [{ type: 'Bound', filler }, { type: 'Released' }]))
  expect([entries.map(({ type, place }) => [type, place.count]), end.count]).toEqual([[['Released', 2]], 2])
})
test('orders are no facts, and a row that cannot be told is noted and passed over', () => {
  const log = memoryLog()
  const letter = { id: 'i', time: 1, key: 'k', source: 's', type: 't', data: { event: { type: 'Bound' } } }
  const some = () =>
    [
      { ...letter, channel: 'hostOrders' },
      { ...letter, channel: 'arqEvents' },
    ] as never
  expect(entriesOfRow(rowOf('arq/a', []), some, () => null, log).entries.map(({ place }) => place.count)).toEqual([1])
  const broken = () => {
    throw new Error('no such event')
  }
  const row = rowOf('arq/a', [])
  expect(entriesOfRow(row, broken, () => null, log)).toEqual({ entries: [], end: positionsOf(row)(0) })
  expect(log.said).toMatchObject([
    { level: 'error', message: 'events.untold', detail: { key: 'arq/a', version: 3, reason: 'no such event' } },
  ])
})

describe('an entry is shown', () => {
  const form = (text: string) => ({ id: 'i', type: 't', text })
  const [whole, own, forUser] = [form('whole'), form('own'), form('user')]
  const entry: Entry = {
    place: BEGINNING,
    kind: 'arq',
    subject: 's1',
    type: 'Bound',
    hosts: ['h1', 'h2'],
    instances: ['i1'],
    project: 'p1',
    request: 'r1',
    whole,
    forProject: own,
    user: 'u1',
    forUser,
    bytes: 1,
  }
  const admin = { isAdmin: true, projectId: 'ops', userId: 'op' }
  const [member, other] = [
    { isAdmin: false, projectId: 'p1', userId: 'u2' },
    { isAdmin: false, projectId: 'p2', userId: 'u1' },
  ]
  test('to an administrator whole, to its user and to its project in their forms, and to no other', () => {
    const callers = [admin, member, { ...member, userId: 'u1' }, other]
    expect(callers.map((caller) => showsTo(caller, {})(entry))).toEqual([whole, own, forUser, null])
    const hidden = { ...entry, forProject: null, forUser: null }
    expect(callers.map((caller) => showsTo(caller, {})(hidden))).toEqual([whole, null, null, null])
    expect(showsTo(member, {})({ ...entry, project: null })).toBe(null)
  })
  test.each<[filter: EventFilter, shown: boolean]>([
    [{ kinds: ['arq'] }, true],
    [{ kinds: ['host', 'arq'] }, true],
    [{ kinds: ['host'] }, false],
    [{ kinds: [] }, false],
    [{ types: ['Bound'] }, true],
    [{ types: ['accelerando.fact.Bound'] }, true],
    [{ types: ['accelerando.fact.'] }, false],
    [{ types: ['fact.Bound'] }, false],
    [{ types: ['Unbound'] }, false],
    [{ subjects: ['s1'] }, true],
    [{ subjects: ['s2'] }, false],
    [{ hosts: ['h2'] }, true],
    [{ hosts: ['h3'] }, false],
    [{ instances: ['i1'] }, true],
    [{ instances: ['i2'] }, false],
    [{ projects: ['p1'] }, true],
    [{ projects: ['p2'] }, false],
    [{ requests: ['r1'] }, true],
    [{ requests: ['r2'] }, false],
    [{ kinds: ['arq'], types: ['Bound'], subjects: ['s1'], hosts: ['h1'], instances: ['i1'] }, true],
    [{ kinds: ['arq'], hosts: ['h3'] }, false],
  ])('where the filter %j selects it: %s', (filter, shown) => {
    expect(showsTo(admin, filter)(entry)).toBe(shown ? whole : null)
    expect(showsTo(member, filter)(entry)).toBe(shown ? own : null)
    expect(showsTo(other, filter)(entry)).toBe(null)
  })
  test('and not where it has nothing of what the filter names', () => {
    const bare = { ...entry, hosts: [], instances: [], project: null, request: null }
    const filters: EventFilter[] = [
      { hosts: ['h1'] },
      { instances: ['i1'] },
      { projects: ['p1'] },
      { requests: ['r1'] },
    ]
    expect(filters.map((filter) => showsTo(admin, filter)(bare))).toEqual([null, null, null, null])
    expect(showsTo(admin, {})(bare)).toBe(whole)
  })
})

describe('POSITION', () => {
  test('an id says the row, the number of its facts and what the row holds', () => {
    const row = rowOf('arq/a', [])
    const place = positionsOf(row)(2)
    expect(place).toEqual({ position: '5', count: 2, id: expect.stringMatching(/^5-2-[0-9a-f]{12}$/) })
    expect(positionNamed(place.id)).toEqual(place)
    const others = [{ key: 'arq/b' }, { version: 4 }, { commandId: 'd' }, { at: 8 }].map(
      (more) => positionsOf(rowOf('arq/a', [], more))(2).id,
    )
    expect(new Set([place.id, ...others]).size).toBe(5)
    // of every release: a client comes back with it
    expect(place.id).toBe('5-2-de4984448e95')
  })
  test('the place before the first row has the id 0, and what is no id has none', () => {
    expect(BEGINNING).toEqual({ position: '', count: 0, id: '0' })
    expect(positionNamed('0')).toBe(BEGINNING)
    for (const id of ['', '00', '5', '5-2', '5-2-x', '5-2-DE4984448E95', 'x5-2-de4984448e95', '5-2-de4984448e950'])
      expect(positionNamed(id), id).toBe(null)
  })
  test('places are ordered by rows, and within a row by their number', () => {
    const earlier = earlierBy({ isBefore: (one, other) => Number(one) < Number(other) })
    const at = (position: string, count = 0) => ({ position, count })
    expect([earlier(at('1', 9), at('2')), earlier(at('2'), at('1', 9)), earlier(at('10'), at('9'))]).toEqual([
      true,
      false,
      false,
    ])
    expect([earlier(at('1', 1), at('1', 2)), earlier(at('1', 2), at('1', 2)), earlier(at('1', 3), at('1', 2))]).toEqual(
      [true, false, false],
    )
    expect([earlier(at(''), at('1')), earlier(at('1'), at('')), earlier(at(''), at(''))]).toEqual([true, false, false])
  })
})

describe('the ring', () => {
  const earlier = earlierBy({ isBefore: (one, other) => Number(one) < Number(other) })
  const place = (n: number) => ({ position: String(n), count: 0, id: String(n) })
  const entry = (n: number, bytes: number) => ({ place: place(n), bytes }) as Entry
  const stateOf = (ring: Ring) => [ring.floor.id, ring.head.id, ring.first, ring.end, ring.bytes]
  test('forgets the oldest entries once all have more bytes than it may, and never the newest', () => {
    const ring = new Ring(place(1), 100, earlier)
    expect(stateOf(ring)).toEqual(['1', '1', 0, 0, 0])
    ring.add([entry(2, 40), entry(3, 60)], place(4))
    expect(stateOf(ring)).toEqual(['1', '4', 0, 2, 100])
    ring.add([entry(5, 1)], place(5))
    expect([...stateOf(ring), ring.entry(1).place.id]).toEqual(['2', '5', 1, 3, 61, '3'])
    ring.add([entry(6, 500)], place(6))
    expect([...stateOf(ring), ring.entry(3).place.id]).toEqual(['5', '6', 3, 4, 500, '6'])
    ring.add([entry(7, 3), entry(8, 4)], place(9))
    expect([...stateOf(ring), ring.entry(4).place.id]).toEqual(['6', '9', 4, 6, 7, '7'])
    ring.add([], place(10))
    expect(stateOf(ring)).toEqual(['6', '10', 4, 6, 7])
  })
  test('finds the first entry after a place', () => {
    const ring = new Ring(place(0), 1000, earlier)
    ring.add(
      [2, 4, 6, 8].map((n) => entry(n, 1)),
      place(9),
    )
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => ring.after(place(n)))).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
  })
})

describe('the projects of requests', () => {
  const open = (journaled: Readonly<Record<string, string>>) => {
    const asked: string[][] = []
    const recall: Journal['recall'] = async (wishes) => {
      asked.push(wishes.map(({ key }) => key))
      const rows = wishes.flatMap(({ key }) => {
        const projectId = journaled[key]
        const row = {
          key,
          version: 1,
          commandId: 'c',
          at: 1,
          cause: {},
          events: [{ type: 'ArqCreated', projectId, group: {} }],
        }
        return projectId === undefined ? [] : [[key, { snapshot: null, rows: [row] }] as const]
      })
      return new Map(rows)
    }
    return { owners: createOwners({ recall }), asked }
  }
  const created = (arq: string, projectId: string) => rowOf(`arq/${arq}`, [{ type: 'ArqCreated', projectId }])
  test('are those that the rows give, then those that were read before, then those of the journal', async () => {
    const { owners, asked } = open({ 'arq/b': 'p2', 'arq/a': 'of the journal' })
    const first = await owners.of([
      created('a', 'p1'),
      rowOf('arq/a', [{ type: 'Released' }]),
      rowOf('arq/b', [{ type: 'Released' }]),
    ])
    expect([first('a'), first('b'), first('c')]).toEqual(['p1', 'p2', null])
    expect(asked).toEqual([['arq/b']])
    const again = await owners.of([rowOf('arq/b', [{ type: 'Released' }]), rowOf('arq/a', [{ type: 'Released' }])])
    expect([again('a'), again('b'), asked.length]).toEqual(['p1', 'p2', 1])
    const moved = await owners.of([rowOf('arq/b', [{ type: 'BindStarted', projectId: 'p3' }])])
    expect([moved('b'), moved('a'), asked.length]).toEqual(['p3', null, 1])
  })
  test('of rows of others are those of all requests that they name', async () => {
    const { owners, asked } = open({ 'arq/a': 'p1', 'arq/b': 'p2' })
    const of = await owners.of([
      rowOf('instance/i', [{ type: 'ArqsLeft', arqs: ['a', 'b'] }]),
      rowOf('host/h', [{ type: 'ArqCreated', projectId: 'no request' }]),
    ])
    expect([of('a'), of('b'), of('h')]).toEqual(['p1', 'p2', null])
    expect(asked).toEqual([['arq/a', 'arq/b']])
    await owners.of([rowOf('host/h', [{ type: 'HostSeen' }])])
    expect(asked).toHaveLength(1)
  })
  test('are remembered of fifty thousand requests; the one that was read the longest ago is forgotten first', async () => {
    const { owners, asked } = open({ 'arq/0': 'p0' })
    const all = Array.from({ length: 50_001 }, (_, n) => created(`${n}`, `p${n}`))
    await owners.of(all)
    const kept = await owners.of([rowOf('arq/1', [{ type: 'Released' }])])
    expect([kept('1'), asked]).toEqual(['p1', []])
    const forgotten = await owners.of([rowOf('arq/0', [{ type: 'Released' }])])
    expect([forgotten('0'), asked]).toEqual(['p0', [['arq/0']]])
  })
})
