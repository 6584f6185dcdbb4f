/** A case for each condition of the invariants of `src/audit/topics.ts`, but for PUBLISHED-4. */
import type { TopicMessage, Topics } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { type Case, created, journalOf } from './scene.ts'
import {
  BOUND,
  type Change,
  LIFE,
  LIVED,
  MADE,
  ORDER,
  STARTED,
  both,
  instead,
  invented,
  message,
  plus,
  proof,
  told,
  without,
} from './told.ts'

const lacks = (row: string, at: number, id: string, topic: string): Finding => ({
  found: `${row} at ${at}: message ${id} is not on ${topic}`,
  rowCount: at,
  keys: [row.split(' ')[0]!],
})
const lacksStart = lacks('arq/a1 2', 5, STARTED, 'arq.events.v1')
const dead = { ...message(STARTED), topic: 'dead-letters.v1', id: 'arq/a1/2/dead' }
const FACTS = 'arq.events.v1'
const cut = (...ids: readonly string[]): Partial<Topics> => ({ cut: new Set(ids) })
const inPartition1 = (id: string): Change => instead(id, { partition: 1 })
const published1: readonly Case[] = [
  ['PUBLISHED-1', 'everything is there', told(), []],
  ['PUBLISHED-1', 'a fact is not there', told(without(STARTED)), [lacksStart]],
  [
    'PUBLISHED-1',
    'an order is not there',
    told(without(ORDER)),
    [lacks('deployable/d1 2', 6, ORDER, 'host.orders.v1')],
  ],
  [
    'PUBLISHED-1',
    'two facts are not there',
    told(without(MADE, BOUND)),
    [lacks('arq/a1 1', 4, MADE, FACTS), lacks('arq/a1 3', 7, BOUND, FACTS)],
  ],
  ['PUBLISHED-1', 'it was not to be there yet', told(without(STARTED, BOUND), { publishedTo: '4' }), []],
  ['PUBLISHED-1', 'it is just to be there', told(without(STARTED, BOUND), { publishedTo: '5' }), [lacksStart]],
  ['PUBLISHED-1', 'nobody knows what was to be there', told(without(STARTED), { publishedTo: null }), []],
  ['PUBLISHED-1', 'no topics were read', { journal: LIVED }, []],
  ['PUBLISHED-1', 'the journal has no positions', { ...told(without(STARTED)), journal: journalOf(...LIFE) }, []],
  ['PUBLISHED-1', 'it is on another topic', told(instead(STARTED, { topic: 'host.events.v1' })), [lacksStart]],
  ['PUBLISHED-1', 'its row is a dead letter', told(both(without(STARTED), plus(dead))), []],
  [
    'PUBLISHED-1',
    'another row is a dead letter',
    told(both(without(STARTED), plus({ ...dead, id: 'arq/a1/3/dead' }))),
    [lacksStart],
  ],
  ['PUBLISHED-1', 'it was forgotten by age', told(without(MADE), cut('arq.events.v1/0')), []],
  [
    'PUBLISHED-1',
    'it is younger than what is still there',
    told(without(STARTED), cut('arq.events.v1/0')),
    [lacksStart],
  ],
  ['PUBLISHED-1', 'another topic forgot', told(without(STARTED), cut('host.events.v1/0')), [lacksStart]],
  [
    'PUBLISHED-1',
    'another partition forgot',
    told(both(without(MADE), inPartition1(STARTED)), cut('arq.events.v1/1')),
    [],
  ],
  [
    'PUBLISHED-1',
    'what is still there names no position at first',
    told(
      both(without(STARTED), (all) => [{ ...message(MADE), position: null }, ...all]),
      cut(`${FACTS}/0`),
    ),
    [lacksStart],
  ],
  ['PUBLISHED-1', 'all of it was forgotten', told(without(MADE, STARTED, BOUND), cut('arq.events.v1/0')), []],
  ...[cut('arq.events.v1/0', 'arq.events.v1/1'), cut('arq.events.v1/1', 'arq.events.v1/0')].map((more): Case => [
    'PUBLISHED-1',
    'the partition counts that forgot most',
    told(both(without(STARTED), inPartition1(BOUND)), more),
    [],
  ]),
  ...[cut('arq.events.v1/0', 'arq.events.v1/1'), cut('arq.events.v1/1', 'arq.events.v1/0')].map((more): Case => [
    'PUBLISHED-1',
    'a partition forgot all',
    told(without(STARTED), more),
    [],
  ]),
  [
    'PUBLISHED-1',
    'the oldest message that is there cannot be read',
    told((all) => [{ ...message(MADE), position: null, id: null }, ...without(MADE)(all)], cut('arq.events.v1/0')),
    [],
  ],
]

const swapped: Change = (all) => {
  const [one, other] = [STARTED, MADE].map((id) => all.findIndex((each) => each.id === id))
  return all.with(one!, all[other!]!).with(other!, all[one!]!)
}
const published2: readonly Case[] = [
  ['PUBLISHED-2', 'all are in order', told(), []],
  [
    'PUBLISHED-2',
    'two are in the wrong order',
    told(swapped),
    [
      {
        found: 'arq.events.v1/0@0: arq/a1.1.0 at 4 came first after arq/a1.2.0 at 5',
        proof: [proof(message(STARTED)), proof(message(MADE))],
      },
    ],
  ],
  ['PUBLISHED-2', 'one is told again', told(plus(message(MADE))), []],
  ['PUBLISHED-2', 'one of another key comes later', told(plus({ ...message(MADE), key: 'a0', id: 'arq/a0.1.0' })), []],
  ['PUBLISHED-2', 'one of another topic comes later', told(plus({ ...message(MADE), topic: 'host.events.v1' })), []],
  [
    'PUBLISHED-2',
    'an older state comes later',
    told(plus({ ...message('arq/a1.3.state'), position: '4', id: 'arq/a1.1.state' })),
    [],
  ],
  [
    'PUBLISHED-2',
    'one without a position comes between',
    told(plus({ ...message(MADE), position: null, id: 'x' }, { ...message(BOUND), position: '8', id: 'y' })),
    [],
  ],
  [
    'PUBLISHED-2',
    'an older order comes later',
    told(plus({ ...message(ORDER), id: 'h1.0', position: '3', offset: 1 })),
    [
      {
        found: 'host.orders.v1/0@1: h1.0 at 3 came first after h1.1 at 6',
        proof: [proof(message(ORDER)), proof({ ...message(ORDER), id: 'h1.0', position: '3', offset: 1 })],
      },
    ],
  ],
  ['PUBLISHED-2', 'two are of one row', told(plus({ ...message(BOUND), id: 'arq/a1.3.1' })), []],
  ['PUBLISHED-2', 'no topics were read', { journal: LIVED }, []],
]

const bodyOf = (id: string) => message(id).body as object
const unknown = (one: TopicMessage, keys: readonly string[]): Finding => ({
  found: `${one.topic}/${one.partition}@${one.offset}: ${one.id ?? 'what cannot be read'} of ${one.key} is not what the journal holds`,
  keys,
  proof: [proof(one)],
})
const unread: TopicMessage = { ...message(BOUND), id: null, type: null, position: null, time: 90_000, body: null }
const told3 = (change: Partial<TopicMessage>): Case[2] => told(instead(STARTED, change))
const changed = (change: Partial<TopicMessage>): Finding =>
  unknown({ ...message(STARTED), ...change }, ['arq/a1', 'arq/a1'])
const otherwise = (more: object) => ({ body: { ...bodyOf(STARTED), ...more } })
const published3: readonly Case[] = [
  ['PUBLISHED-3', 'everything is recorded', told(), []],
  ['PUBLISHED-3', 'one was told that is not recorded', told(plus(invented)), [unknown(invented, ['arq/a1', 'arq/a1'])]],
  ['PUBLISHED-3', 'one cannot be read', told(plus(unread)), [unknown(unread, [])]],
  ['PUBLISHED-3', 'one says another version', told3(otherwise({ version: 9 })), [changed(otherwise({ version: 9 }))]],
  ['PUBLISHED-3', 'one says another event', told3(otherwise({ event: {} })), [changed(otherwise({ event: {} }))]],
  [
    'PUBLISHED-3',
    'one says another entity',
    told3(otherwise({ entity: 'arq/a2' })),
    [unknown({ ...message(STARTED), ...otherwise({ entity: 'arq/a2' }) }, ['arq/a1', 'arq/a2'])],
  ],
  [
    'PUBLISHED-3',
    'one says another cause, as older releases did',
    told3(otherwise({ cause: { by: 'x' }, command: 'x' })),
    [],
  ],
  ['PUBLISHED-3', 'one is of another key', told3({ key: 'a2' }), [changed({ key: 'a2' })]],
  [
    'PUBLISHED-3',
    'one says nothing',
    told3({ body: null }),
    [unknown({ ...message(STARTED), body: null }, ['arq/a1'])],
  ],
  ['PUBLISHED-3', 'one is told again', told(plus(message(STARTED))), []],
  [
    'PUBLISHED-3',
    'one is told again, and wrong',
    told(plus({ ...message(STARTED), key: 'a2' })),
    [changed({ key: 'a2' })],
  ],
  ['PUBLISHED-3', 'an order is not recorded', told(plus({ ...message(ORDER), id: 'h1.9' })), []],
  [
    'PUBLISHED-3',
    'other topics tell other things',
    told(plus({ ...invented, topic: 'host.reports.v1' }, { ...invented, topic: 'arq.state.v1' })),
    [],
  ],
  [
    'PUBLISHED-3',
    'a part of the journal has no positions',
    { ...told(plus(invented)), journal: [...LIVED, ...journalOf(created('a9'))] },
    [],
  ],
  ['PUBLISHED-3', 'no topics were read', { journal: LIVED }, []],
  ['PUBLISHED-3', 'it was told after the journal was read', told(plus(invented), { open: '8' }), []],
  [
    'PUBLISHED-3',
    'it was told before the journal was read',
    told(plus(invented), { open: '9' }),
    [unknown(invented, ['arq/a1', 'arq/a1'])],
  ],
  [
    'PUBLISHED-3',
    'what cannot be read is new',
    { ...told(plus({ ...unread, time: 70_001 }), { open: '8' }), now: 100_000 },
    [],
  ],
  [
    'PUBLISHED-3',
    'what cannot be read is old',
    { ...told(plus({ ...unread, time: 70_000 }), { open: '8' }), now: 100_000 },
    [unknown({ ...unread, time: 70_000 }, [])],
  ],
  [
    'PUBLISHED-3',
    'what cannot be read is older than is allowed',
    { ...told(plus({ ...unread, time: 89_000 }), { open: '8' }), now: 100_000, slackMs: 11_000 },
    [unknown(unread, [])],
  ],
  [
    'PUBLISHED-3',
    'what cannot be read has no time',
    told(plus({ ...unread, time: null }), { open: '8' }),
    [unknown({ ...unread, time: null }, [])],
  ],
]
const orderIs = (change: Partial<TopicMessage>, keys: readonly string[] = ['h1', 'deployable/d1']): Finding =>
  unknown({ ...message(ORDER), ...change }, keys)
const ordered = (more: object) => ({ body: { ...bodyOf(ORDER), ...more } })
const published5: readonly Case[] = [
  ['PUBLISHED-5', 'every order is recorded', told(), []],
  ['PUBLISHED-5', 'an order is not recorded', told(plus({ ...message(ORDER), id: 'h1.9' })), [orderIs({ id: 'h1.9' })]],
  [
    'PUBLISHED-5',
    'an order says something else',
    told(instead(ORDER, ordered({ deadline: 1 }))),
    [orderIs(ordered({ deadline: 1 }))],
  ],
  ['PUBLISHED-5', 'an order has another trace', told(instead(ORDER, ordered({ trace: 'x' }))), []],
  ['PUBLISHED-5', 'an order goes to another host', told(instead(ORDER, { key: 'host2' })), [orderIs({ key: 'host2' })]],
  ['PUBLISHED-5', 'an order is sent again', told(plus(message(ORDER))), []],
  [
    'PUBLISHED-5',
    'an order cannot be read',
    told(plus({ ...unread, topic: 'host.orders.v1' })),
    [unknown({ ...unread, topic: 'host.orders.v1' }, [])],
  ],
  ['PUBLISHED-5', 'a fact is not recorded', told(plus(invented)), []],
]

export const topicCases: readonly Case[] = [...published1, ...published2, ...published3, ...published5]
