/**
 * All that commands print of a broker on which the topics are made, hold a small cloud, and hold dead letters, word for
 * word. Where a change is meant: `npx vitest run test/cli/brokerCommands.test.ts -u`.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kafkaBus, type KafkaBus } from '../../src/bus/kafka/bus.ts'
import { tail } from '../../src/cli/operators/tail.ts'
import { tailLine } from '../../src/cli/operators/tailLine.ts'
import { systemClock } from '../../src/clock.ts'
import { silent } from '../../src/log.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { rawTopics } from '../audit/topicsOf.ts'
import { playScenario } from '../golden/scenario.ts'
import { type ScriptedBroker, scriptedBroker } from '../support/broker/broker.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { optionsOf, REPORTS, until } from '../support/kafkaLab.ts'
import { openTranscript, type Replacement } from './transcript.ts'

let broker: ScriptedBroker
let bus: KafkaBus
beforeAll(async () => {
  broker = await scriptedBroker()
  bus = kafkaBus({ options: optionsOf(broker), clock: systemClock, log: silent })
})
afterAll(async () => {
  await bus.stop()
  await broker.stop()
})
const opened = (more: readonly Replacement[] = []) =>
  openTranscript({ ACCELERANDO_KAFKA_BROKERS: broker.address, ACCELERANDO_LOG_LEVEL: 'silent' }, more)

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
test('topics', LIMIT, async () => {
  const { run, text } = opened()
  await run('dead-letters list')
  await run('tail --once')
  await run('audit')
  await run('topics list')
  await run('topics create --dry-run --partitions 2')
  await run('topics create --partitions 2')
  await run('topics list --partitions 2')
  broker.topics.configs(REPORTS).set('retention.ms', '5').set('compression.type', 'gzip')
  broker.topics.configs('arq.state.v1').set('cleanup.policy', 'delete')
  await run('topics list --partitions 3')
  await run('topics list --json --partitions 2')
  await run('topics list -f value --partitions 2')
  await run('topics create --apply --dry-run --partitions 2')
  await run('topics create --apply --partitions 2')
  await run('topics create --json --partitions 2')
  await run('doctor')
  await run('doctor --json')
  await expect(text()).toMatchFileSnapshot('golden/topics.txt')
})

const LETTERS: readonly (readonly [id: string, of: BusRecord, reason: string])[] = [
  [
    'one',
    { topic: REPORTS, key: 'compute-1', value: '{"not": "ours"}', headers: { kind: 'x' } },
    'message: must be JSON',
  ],
  ['two', { topic: REPORTS, key: 'k'.repeat(101), value: 'v'.repeat(101), headers: {} }, 'r'.repeat(101)],
  ['three', { topic: REPORTS, key: 'k'.repeat(100), value: 'x'.repeat(100_000), headers: {} }, 'r'.repeat(100)],
  ['four', { topic: 'other.v1', key: '', value: 'a\nb', headers: {} }, 'is none'],
  ['five', { topic: 'host.orders.v1', key: 'compute-2', value: '{}', headers: {} }, 'order: must be there'],
]

test('dead letters', async () => {
  const { run, text } = opened([
    [/"(time)":\d+/g, '"$1":<moment>'],
    [/ {2}\(\d+\.\d s late\)/g, ''],
  ])
  // one partition keeps them in their order, however quickly they come
  broker.topics.make('dead-letters.v1', 1)
  await run('dead-letters list')
  for (const [id, of, reason] of LETTERS) await bus.publish([deadLetterRecord(of, reason, { id, time: 1 })])
  await run('dead-letters list')
  await run('dead-letters list --limit 2 --json')
  await run(`dead-letters list --topic ${REPORTS} --limit 2`)
  await run('dead-letters list --topic nowhere')
  await run('dead-letters list --since 2100-01-01')
  await run('dead-letters retry one nobody')
  await run('dead-letters retry one')
  await run('dead-letters retry three')
  await run('dead-letters list --limit 5')
  await run('dead-letters retry --all --topic host.orders.v1')
  await run('dead-letters retry --all')
  await run('dead-letters retry --all --topic host.orders.v1')
  await run('tail dead-letters --once')
  const sent = broker.seen('Produce').flatMap(({ topics }) => topics.map(({ topic }) => topic))
  expect(sent.filter((topic) => topic === REPORTS)).toHaveLength(3)
  await expect(text()).toMatchFileSnapshot('golden/deadLetters.txt')
})

/** Without a value it says that its key is gone. */
const recordOf = (topic: string, key: string, value: string | null): BusRecord =>
  value === null ? { topic, key, value: '', headers: {}, tombstone: true } : { topic, key, value, headers: {} }

test('what has happened, and that it holds', LIMIT, async () => {
  const rows = await playScenario()
  await bus.publish(rawTopics(rows).map(({ topic, key, value }) => recordOf(topic, key, value)))
  const { run, text } = opened([[/\(\d+\.\d s late\)/g, '(<amount> s late)']])
  const all = await run('tail --once')
  await run('tail host.orders --once')
  await run('tail host.state.v1 --once')
  const [, arq] = /arq\/(\S{36}) {2}ArqCreated/.exec(all)!
  await run(`tail --once --arq ${arq}`)
  const [, middle] = all
    .split('\n')
    .map((line) => /@(\S+)/.exec(line)?.[1] ?? '')
    .toSorted()
    .slice(-3)
  await run(`tail arq.events --once --since ${middle}`)
  await run(`tail profile.events --once --json`)
  await run('audit --now 2026-01-02T00:00:00Z', { sorted: true })
  await expect(text()).toMatchFileSnapshot('golden/facts.txt')

  const lines: string[] = []
  const stop = new AbortController()
  const wanted = { topic: 'profile.events', arq: null, since: null, once: false }
  const ended = tail(
    { kind: 'kafka', kafka: optionsOf(broker) },
    wanted,
    (message) => void lines.push(tailLine(message, null)),
    stop.signal,
    silent,
  )
  const again = rawTopics(rows).find(({ topic }) => topic === 'profile.events.v1')!
  const timer = setInterval(() => void bus.publish([{ ...again, value: again.value!, headers: {} }]), 50)
  await until(() => lines.length > 0)
  clearInterval(timer)
  stop.abort()
  await ended
  // what comes again is not shown again
  expect(lines).toEqual([expect.stringMatching(/profile\/\S+ {2}ProfileCreated/)])
})

test('groups that are left over, and what became of them', LIMIT, async () => {
  const { run } = opened()
  const { groups } = broker
  const mended = async () => {
    const lines = (await run('doctor -f csv --mend')).split('\n')
    return lines.filter((line) => /^(host groups|mended),/.test(line)).map((line) => line.replace(/,"?harmless.*/, ''))
  }
  // what the other tests have left
  await mended()
  for (const group of ['host-gone', 'reader-gone', 'other-gone']) groups.commit(group, REPORTS, 0, 0)
  expect(await mended()).toEqual([
    'host groups,warning,"0 with a host, 2 left over: host-gone, reader-gone"',
    'mended,ok,2 left-over groups deleted,',
  ])
  expect(await mended()).toEqual(['host groups,ok,"0 with a host, none left over",'])
  for (const group of ['host-back', 'host-again', 'host-gone']) groups.commit(group, REPORTS, 0, 0)
  broker.on('DeleteGroups', async (_request, answer) => {
    const all = await answer()
    const refused = ({ group }: { readonly group: string }) => /back|again/.test(group)
    return {
      ...all,
      groups: all.groups.map((each) => (refused(each) ? { ...each, errorCode: ERRORS.NON_EMPTY_GROUP } : each)),
    }
  })
  expect(await mended()).toEqual([
    'host groups,warning,"0 with a host, 3 left over: host-back, host-again, host-gone"',
    'mended,warning,"1 left-over group deleted, 2 not: host-back: The group is not empty",a group that is in use again is not deleted: run the command again',
  ])
})
