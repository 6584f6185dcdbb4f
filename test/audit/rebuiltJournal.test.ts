/** The journal that an audit rebuilds from what the topics tell. */
import { expect, test } from 'vitest'
import type { TopicMessage } from '../../src/audit/evidence.ts'
import { journalOf, messageOf, wholeEntities } from '../../src/cli/audit/topics.ts'

type Told = {
  readonly entity?: string
  readonly version?: number
  readonly type?: string
  readonly cause?: object
  readonly command?: string
  readonly at?: number
  readonly position?: string | null
  readonly index?: number
  readonly topic?: string
}
const told = ({ topic = 'arq.events.v1', at = 5, position = '7.1', index = 0, type = 'T', ...fact }: Told) =>
  ({
    topic,
    partition: 0,
    offset: 0,
    key: 'k',
    id: `x.y.${index}`,
    type: 'accelerando.t',
    position,
    time: at,
    body: { entity: 'arq/a', version: 1, event: { type }, ...fact },
  }) as TopicMessage

test('the events of a row are in the order of their numbers, each once, and rows in the order of their positions', () => {
  const cause = { by: 'kim', requestId: 'req-1' }
  expect(
    journalOf([
      told({ version: 2, command: 'c2', position: '10.1', at: 9, cause }),
      told({ type: 'Second', index: 1, command: 'c1' }),
      told({ type: 'First', index: 0, command: 'c1' }),
      told({ type: 'Again', index: 1, command: 'c1' }),
      told({ type: 'Tenth', index: 10, command: 'c1' }),
      told({ entity: 'arq/b', command: 'c3', position: '9.2' }),
    ]),
  ).toEqual([
    {
      key: 'arq/a',
      version: 1,
      commandId: 'c1',
      events: [{ type: 'First' }, { type: 'Second' }, { type: 'Tenth' }],
      at: 5,
      cause: {},
      position: '7.1',
    },
    { key: 'arq/b', version: 1, commandId: 'c3', events: [{ type: 'T' }], at: 5, cause: {}, position: '9.2' },
    { key: 'arq/a', version: 2, commandId: 'c2', events: [{ type: 'T' }], at: 9, cause, position: '10.1' },
  ])
})
test('what is no fact is left out: another topic, no position, no event', () => {
  const { body } = told({})
  expect(
    journalOf([
      told({ topic: 'arq.state.v1' }),
      told({ topic: 'arq.events.v10' }),
      told({ position: null }),
      { ...told({}), body: { ...(body as object), event: {} } },
      { ...told({}), body: null },
    ]),
  ).toEqual([])
})
test('facts of a release that named no command are one append if request and moment are the same', () => {
  const commands = (...all: readonly Told[]) => journalOf(all.map(told)).map(({ commandId }) => commandId)
  const cause = { by: 'kim', requestId: 'req-1' }
  const [one, other] = [{ cause }, { entity: 'arq/b', position: '7.2', cause }]
  expect(commands(one, other)).toEqual(['7 5 req-1 kim 1', '7 5 req-1 kim 1'])
  // the same entity once more is another append
  expect(commands(one, { version: 2, position: '7.3', cause })).toEqual(['7 5 req-1 kim 1', '7 5 req-1 kim 2'])
  for (const differs of [
    { at: 6 },
    { position: '8.2' },
    { cause: { ...cause, by: 'lee' } },
    { cause: { ...cause, requestId: 'req-2' } },
  ]) {
    const [first, second] = commands(one, { ...other, ...differs })
    expect(second).not.toBe(first)
  }
  expect(commands({})).toEqual(['7 5   1'])
})
test('a message is read as far as it is an envelope', () => {
  const place = { topic: 't', partition: 1, offset: 2, key: 'k' }
  const envelope = {
    specversion: '1.0',
    id: 'i',
    source: 's',
    type: 'y',
    datacontenttype: 'application/json',
    data: [1],
  }
  const time = '1970-01-01T00:00:00.007Z'
  const none = { ...place, id: null, type: null, position: null, time: 3, body: null }
  const read = (value: string | null) => messageOf({ ...place, time: 3, value })
  expect(read(JSON.stringify({ ...envelope, time }))).toEqual({
    ...place,
    id: 'i',
    type: 'y',
    position: null,
    time: 7,
    body: [1],
  })
  expect(read(JSON.stringify({ ...envelope, time, position: '7.1' }))).toMatchObject({ position: '7.1' })
  for (const value of [null, '{', '{}', JSON.stringify({ ...envelope, time, specversion: '2' })])
    expect(read(value)).toEqual(none)
})
test('progress of passes over Placement is on no topic, so that its entities are not whole', () => {
  const messages = [told({}), told({ topic: 'placement.events.v1' }), told({ topic: 'host.events.v1' })]
  expect(wholeEntities(messages)).toEqual([messages[0], messages[2]])
})
