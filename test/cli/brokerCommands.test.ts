/** What commands do on a broker: topics, dead letters, groups that are left over, and what has happened. */
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { commandHere } from '../support/commandHere.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { optionsOf, REPORTS } from '../support/kafkaLab.ts'

let broker: ScriptedBroker
let bus: KafkaBus
const open = async () => {
  broker = await scriptedBroker()
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
}
const close = async () => {
  await bus.stop()
  await broker.stop()
}
const run = async (line: string) => {
  const env = { ACCELERANDO_KAFKA_BROKERS: broker.address, ACCELERANDO_LOG_LEVEL: 'silent' }
  const { code, out, err } = await commandHere(line.split(' '), env)
  return { code, err, out, lines: out.split('\n').slice(0, -1) }
}
/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }

describe('topics', LIMIT, () => {
  beforeEach(open)
  afterEach(close)
  test('that are missing are named by each command, and made by one', async () => {
    for (const [line, says] of [
      ['dead-letters list', 'there is no topic dead-letters.v1: accelerando topic create makes it'],
      ['tail --once', 'not on Kafka at'],
      ['audit', 'none of the topics is on Kafka at'],
    ] as const)
      expect(await run(line)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(says) })
    const states = async (line: string) => {
      const { code, lines } = await run(line)
      return [code, lines.length, ...new Set(lines.map((each) => each.split(/ +/)[1]))]
    }
    expect(await states('topics list')).toEqual([7, 12, 'missing'])
    expect(await states('topics create --dry-run --partitions 2')).toEqual([7, 12, 'missing'])
    expect(await states('topics create --partitions 2')).toEqual([0, 12, 'made'])
    expect(await states('topics list --partitions 2')).toEqual([0, 12, 'there'])
  })
  test('TOPIC-3 are made so that facts last four weeks, orders three days, states for ever, and nothing is compressed', async () => {
    await run('topics create --partitions 2')
    const [day, { names }] = [86_400_000, broker.topics]
    const of = (topic: string, name: string) => broker.topics.configs(topic).get(name)
    const kept = ['arq.events.v1', 'host.orders.v1'].map((topic) => of(topic, 'retention.ms'))
    expect(kept).toEqual([String(28 * day), String(3 * day)])
    expect(names.filter((topic) => of(topic, 'cleanup.policy') === 'compact').toSorted()).toEqual([
      'arq.state.v1',
      'device.state.v1',
      'host.state.v1',
    ])
    expect(names.map((topic) => of(topic, 'compression.type'))).toEqual(names.map(() => 'uncompressed'))
  })
  test('of another shape are told with what to do, and --apply changes what it may', async () => {
    await run('topics create --partitions 2')
    broker.topics.configs(REPORTS).set('retention.ms', '5')
    broker.topics.configs('arq.state.v1').set('cleanup.policy', 'delete')
    const { code, lines } = await run('topics list --partitions 3')
    expect([code, lines.slice(0, 3)]).toEqual([
      7,
      ['host.reports.v1       differs', '  partitions is 2, not 3', '  retention.ms is 5, not 259200000'],
    ])
    expect(lines.filter((line) => line.startsWith('partitions: ')).length).toBe(1)
    expect(lines.at(-1)).toBe('cleanup.policy: topics create --apply sets it')
    const [state] = (JSON.parse((await run('topics list --json --partitions 2')).out) as readonly object[]).slice(8)
    expect(state).toMatchObject({
      topic: 'arq.state.v1',
      state: 'differs',
      differences: [{ is: 'delete', wanted: 'compact' }],
    })
    expect((await run('topics create --apply --partitions 2')).out.match(/^\S+ +changed$/gm)).toHaveLength(2)
    expect((await run('topics list --partitions 2')).code).toBe(0)
  })
  test('and who reads them are judged by the doctor', async () => {
    await run('topics create --partitions 2')
    const { code, lines } = await run('doctor -f csv')
    expect(code).toBe(7)
    expect(lines.map((line) => line.split(',').slice(0, 2).join(' '))).toEqual([
      'check verdict',
      'kafka ok',
      'topics ok',
      'topics: partitions problem',
      'copies ok',
      'writable ok',
      'controls problem',
      'host groups ok',
      'dead letters ok',
    ])
    expect(lines.join('\n')).toContain('no control consumes the reports of hosts: start one')
  })
  test('groups that hosts have left are deleted by --mend, but not one that is in use again', async () => {
    await run('topics create --partitions 2')
    const mended = async () => {
      const { lines } = await run('doctor -f csv --mend')
      return lines
        .filter((line) => /^(host groups|mended),/.test(line))
        .map((line) => line.replace(/,"?harmless.*/, ''))
    }
    const { groups } = broker
    for (const group of ['host-gone', 'reader-gone', 'other-gone']) groups.commit(group, REPORTS, 0, 0)
    expect(await mended()).toEqual([
      'host groups,warning,"0 with a host, 2 left over: host-gone, reader-gone"',
      'mended,ok,2 left-over groups deleted,',
    ])
    for (const group of ['host-back', 'host-gone']) groups.commit(group, REPORTS, 0, 0)
    broker.on('DeleteGroups', async (_request, answer) => {
      const all = await answer()
      const busy = ({ group }: { readonly group: string }) => group === 'host-back'
      return {
        ...all,
        groups: all.groups.map((each) => (busy(each) ? { ...each, errorCode: ERRORS.NON_EMPTY_GROUP } : each)),
      }
    })
    expect((await mended())[1]).toContain(
      'mended,warning,"1 left-over group deleted, 1 not: host-back: The group is not empty"',
    )
  })
})

const LETTERS: readonly (readonly [id: string, of: BusRecord, reason: string])[] = [
  [
    'one',
    { topic: REPORTS, key: 'compute-1', value: '{"not": "ours"}', headers: { kind: 'x' } },
    'message: must be JSON',
  ],
  ['two', { topic: REPORTS, key: 'k'.repeat(101), value: 'v'.repeat(101), headers: {} }, 'r'.repeat(101)],
  ['three', { topic: REPORTS, key: 'k', value: 'x'.repeat(100_000), headers: {} }, 'too long'],
  ['four', { topic: 'other.v1', key: '', value: 'a\nb', headers: {} }, 'is none'],
  ['five', { topic: 'host.orders.v1', key: 'compute-2', value: '{}', headers: {} }, 'order: must be there'],
]
describe('dead letters', LIMIT, () => {
  beforeAll(async () => {
    await open()
    await run('topics create --partitions 1')
    for (const [id, of, reason] of LETTERS) await bus.publish([deadLetterRecord(of, reason, { id, time: 1 })])
  })
  afterAll(close)
  test('are listed in three short lines each, whatever is in them', async () => {
    const { lines } = await run('dead-letters list')
    expect(lines[0]).toMatch(/^one {2}\S+ {2}host\.reports\.v1 {2}key compute-1/)
    expect(lines.slice(1, 3)).toEqual(['  message: must be JSON', '  {"not": "ours"}'])
    expect(lines.slice(4, 6)).toEqual([`  ${'r'.repeat(100)}...`, `  ${'v'.repeat(100)}...`])
    expect(lines[8]).toBe(`  ${'x'.repeat(100)}... (cut: cannot be retried)`)
    expect(lines.slice(11)).toContain('  a b (cannot be retried: other.v1 is not a topic of accelerando)')
    expect(lines.at(-1)).toBe('5 shown')
    expect(JSON.parse((await run('dead-letters list --limit 2 --json')).out)).toMatchObject([
      { id: 'four' },
      { id: 'five' },
    ])
    expect((await run(`dead-letters list --topic ${REPORTS} --limit 2`)).lines.at(-1)).toBe('2 shown')
    for (const none of ['--topic nowhere', '--since 2100-01-01'])
      expect((await run(`dead-letters list ${none}`)).out).toBe('there are none\n')
  })
  test('are sent again when they are named, or all that can be and were not yet', async () => {
    expect(await run('dead-letters retry one nobody')).toMatchObject({
      code: 1,
      lines: ['nobody  unknown: accelerando dead-letter list shows what there is', `one  sent again to ${REPORTS}`],
    })
    expect(await run('dead-letters retry three')).toMatchObject({
      code: 1,
      out: 'three  not sent: it was too long to be kept whole, so it cannot be sent again\n',
    })
    expect((await run('dead-letters list')).lines[0]).toContain('  retried ')
    expect((await run('dead-letters retry --all --topic host.orders.v1')).out).toBe(
      'five  sent again to host.orders.v1\n',
    )
    expect((await run('dead-letters retry --all')).out).toBe(`two  sent again to ${REPORTS}\n`)
    expect(await run('dead-letters retry --all')).toMatchObject({ code: 0, out: 'there is nothing to send again\n' })
    // a letter is marked only after its message is stored
    const sent = broker.seen('Produce').flatMap(({ topics }) => topics.map(({ topic }) => topic))
    const MARK = 'dead-letters.v1'
    expect(sent.slice(LETTERS.length)).toEqual([REPORTS, MARK, 'host.orders.v1', MARK, REPORTS, MARK])
  })
})

const TOPIC = 'arq.events.v1'
const envelope = (id: string, position: string | null, data: unknown) =>
  JSON.stringify({
    ...{ specversion: '1.0', id, source: '/here', type: 'accelerando.told', datacontenttype: 'application/json' },
    time: '2026-01-01T00:00:00Z',
    ...(position !== null && { position }),
    data,
  })
const BOUND = { entity: 'arq/a1', version: 1, event: { type: 'Bound', host: 'h1' } }
const MESSAGES: readonly (readonly [key: string, value: string])[] = [
  ['a1', envelope('1.0', '7.1', BOUND)],
  ['a2', envelope('2.0', '10.1', { entity: 7, type: 'Reported', devices: 3 })],
  ['a3', envelope('3.0', '8.1', { entity: ['a'], about: '5eed0000-0000-4000-8000-000000000001' })],
  // the same again, by another program or after a failure
  ['a1', envelope('1.0', '7.1', BOUND)],
  ['a5', 'no JSON'],
]
describe('tail', LIMIT, () => {
  beforeAll(async () => {
    await open()
    broker.topics.make(TOPIC, 1)
    for (const [key, value] of MESSAGES) await bus.publish([{ topic: TOPIC, key, value, headers: {} }])
  })
  afterAll(close)
  const tailed = async (more: string) => {
    const { code, err, lines } = await run(`tail arq.events ${more}`)
    expect([code, err]).toEqual([0, ''])
    return lines
  }
  test('shows each message once, in the order of the journal, with what it says of itself', async () => {
    const [head, odd, ...rest] = await tailed('--once -f csv')
    expect(head).toBe('time,topic,key,entity,type,detail,position')
    expect(odd).toMatch(/^\S+,arq\.events\.v1,a5,,,,$/)
    expect(rest).toEqual([
      '2026-01-01T00:00:00.000Z,arq.events.v1,a1,arq/a1,Bound,host=h1,7.1',
      '2026-01-01T00:00:00.000Z,arq.events.v1,a3,,accelerando.told,,8.1',
      '2026-01-01T00:00:00.000Z,arq.events.v1,a2,7,Reported,,10.1',
    ])
    expect((await tailed('--once'))[1]).toMatch(/^2026-01-01T00:00:00\.000Z {2}arq\/a1 {2}Bound host=h1 {2}@7\.1/)
  })
  test.each([
    ['--once --since 7.1', ['a5', 'a3', 'a2']],
    ['--once --arq 5eed0000-0000-4000-8000-000000000001', ['a3']],
    ['--once --sort-column key:desc --limit 2', ['a5', 'a3']],
    ['--since 0 --limit 2', ['a1', 'a2']],
  ])('%s chooses', async (more, keys) => {
    expect(await tailed(`${more} -f value -c key`)).toEqual(keys)
  })
  test('a message that a stranger has written is one line, in which nothing moves the cursor or turns text around', async () => {
    broker.topics.make('host.events.v1', 1)
    const data = { entity: 'host/\u001B[2J\n', event: { type: 'Bad\u202E', host: { odd: 1 } } }
    const odd = envelope('1.0', '1.1', data).replace('2026-01-01T00:00:00Z', '+999999-01-01')
    await bus.publish([{ topic: 'host.events.v1', key: 'h\u009B', value: odd, headers: {} }])
    for (const more of ['', ' --json']) {
      const { code, lines } = await run(`tail host.events --once${more}`)
      expect([code, lines.length]).toEqual([0, 1])
      expect(lines[0]).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })
  test('a topic that is not there is named', async () => {
    expect((await run('tail device.events --once')).err).toContain(
      `not on Kafka at ${broker.address}: device.events.v1`,
    )
  })
})
