/** A case for each condition of PUBLISHED-4 of `src/audit/topics.ts`. */
import { viewRowsOf } from '../../../src/actors/entities.ts'
import type { Evidence, TopicMessage } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { topicsOf } from '../topicsOf.ts'
import { type Append, type Case, arq, card, entry, journalOf, removed, canonicalJson } from './scene.ts'
import { type Change, LIFE, LIVED, ORDER, invented, message, placed, plus, proof, told } from './told.ts'

const LAST = message('arq/a1.3.state')
const rowOf = (one: TopicMessage) => (one.body as { readonly state: Readonly<Record<string, unknown>> }).state
const shows = (state: object | null, more: Partial<TopicMessage> = {}): TopicMessage => ({
  ...LAST,
  offset: 9,
  body: state === null ? null : { ...(LAST.body as object), state },
  ...more,
})
const differs = (one: TopicMessage, entity: string, shown: string, fold: string): Finding => ({
  found: `${one.topic}/${one.partition}@${one.offset}: the last state of ${entity} is ${shown}, the journal folds to ${fold}`,
  keys: [entity],
  proof: [proof(one)],
})
const lost = { ...rowOf(LAST), state: 'Lost' }
const fold = canonicalJson(rowOf(LAST))
const before = viewRowsOf(
  'arq/a1',
  journalOf(...LIFE.slice(0, 5)).filter(({ key }) => key === 'arq/a1'),
).find(({ view }) => view === 'arqs')!.row as object
const other = shows(lost)
const old = shows(before)
const absent = shows(null)
const stranger = shows(lost, { key: 'a9' })
const lacking = (column: string) =>
  shows(Object.fromEntries(Object.entries(rowOf(LAST)).filter(([name]) => name !== column)))
const [empty] = Object.entries(rowOf(LAST)).find(([, value]) => value === null)!
const unnamed = lacking('uuid')
const isLost = differs(other, 'arq/a1', canonicalJson(lost), fold)
const isOld = differs(old, 'arq/a1', canonicalJson(before), fold)
const after = (appends: readonly Append[], change: Change): Partial<Evidence> => {
  const journal = placed(appends)
  const topics = topicsOf(journal)
  return { journal, topics: { ...topics, messages: change(topics.messages) } }
}
const stateOf = (topic: string, key: string): TopicMessage => ({ ...absent, topic, key })
const retires = { type: 'PresenceSet', presence: 'retired' }
const picture = { bootId: 'b', number: 1, digest: '', aliases: [], drivers: {} }
const seen = entry('host/x', { type: 'PictureRecorded', name: 'x', picture, devices: {} })
const gone = entry('host/x', { type: 'LivenessSet', liveness: 'removed', by: 'op' })
const device = stateOf('device.state.v1', 'c1')
const published4: readonly Case[] = [
  [
    'PUBLISHED-4',
    'a device that is there is told as absent',
    after([card], plus(device)),
    [
      differs(
        device,
        'device/c1',
        'absent',
        canonicalJson(rowOf(message('device/c1.1.state'))).replace('2000', '1000'),
      ),
    ],
  ],
  ['PUBLISHED-4', 'the last states are those of the journal', told(), []],
  ['PUBLISHED-4', 'the last state is another one', told(plus(other)), [isLost]],
  ['PUBLISHED-4', 'a state of an earlier release lacks a column that is empty', told(plus(lacking(empty))), []],
  ['PUBLISHED-4', 'the last release leaves a later column out', told(plus(lacking('profile_version'))), []],
  [
    'PUBLISHED-4',
    'the last state lacks a column that is not empty',
    told(plus(unnamed)),
    [differs(unnamed, 'arq/a1', canonicalJson(rowOf(unnamed)), fold)],
  ],
  ['PUBLISHED-4', 'another state came before the last', told((all) => [other, ...all]), []],
  ['PUBLISHED-4', 'an old state is the last', told(plus(old)), [isOld]],
  ['PUBLISHED-4', 'an old state is the last after a take-over', told(plus(old), { settled: false }), []],
  ['PUBLISHED-4', 'the newest state is not to be told yet', told(plus(old), { publishedTo: '6' }), []],
  ['PUBLISHED-4', 'the newest state is just to be told', told(plus(old), { publishedTo: '7' }), [isOld]],
  ['PUBLISHED-4', 'nobody knows what was to be told', told(plus(old), { publishedTo: null }), []],
  [
    'PUBLISHED-4',
    'a state that never was is the last after a take-over',
    told(plus(other), { settled: false }),
    [isLost],
  ],
  ['PUBLISHED-4', 'more was told than was read', told(plus(other, { ...invented, position: '8' }), { open: '8' }), []],
  [
    'PUBLISHED-4',
    'more was told of another one than was read',
    told(plus(other, { ...message(ORDER), id: 'h1.2', position: '8' }), { open: '8' }),
    [isLost],
  ],
  [
    'PUBLISHED-4',
    'nothing was told that was not read',
    told(plus(other, { ...invented, position: '7' }), { open: '8' }),
    [isLost],
  ],
  [
    'PUBLISHED-4',
    'what has no position is not newer',
    told(plus(other, { ...invented, position: null }), { open: '8' }),
    [isLost],
  ],
  ['PUBLISHED-4', 'it is told as absent', told(plus(absent)), [differs(absent, 'arq/a1', 'absent', fold)]],
  [
    'PUBLISHED-4',
    'a state is told of what the journal does not know',
    told(plus(stranger)),
    [differs(stranger, 'arq/a9', canonicalJson(lost), 'nothing')],
  ],
  ['PUBLISHED-4', 'the journal has no positions', { ...told(plus(old)), journal: journalOf(...LIFE) }, []],
  ['PUBLISHED-4', 'what is removed is told as absent', after([...LIFE, arq('a1', removed)], plus(absent)), []],
  [
    'PUBLISHED-4',
    'a retired device is told as absent',
    after([card, entry('device/c1', retires)], plus(stateOf('device.state.v1', 'c1'))),
    [],
  ],
  ['PUBLISHED-4', 'a removed host is told as absent', after([seen, gone], plus(stateOf('host.state.v1', 'x'))), []],
  [
    'PUBLISHED-4',
    'a host that is there is told as absent',
    after([seen], plus(stateOf('host.state.v1', 'x'))),
    [
      differs(
        stateOf('host.state.v1', 'x'),
        'host/x',
        'absent',
        canonicalJson({
          name: 'x',
          liveness: 'up',
          out_of_service: null,
          boot_id: 'b',
          drivers: {},
          aliases: [],
          created_at: 1000,
          updated_at: null,
        }),
      ),
    ],
  ],
  [
    'PUBLISHED-4',
    'a removed host is told as it was',
    after([seen, gone], (all) => [...all, { ...stateOf('host.state.v1', 'x'), body: { state: { name: 'x' } } }]),
    [differs(stateOf('host.state.v1', 'x'), 'host/x', '{"name":"x"}', 'null')],
  ],
  ['PUBLISHED-4', 'no topics were read', { journal: LIVED }, []],
]

export const topicStateCases: readonly Case[] = published4
