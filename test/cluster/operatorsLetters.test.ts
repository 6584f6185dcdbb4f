/** What cannot be read or handled ends in the dead letters, is listed, and goes again when an operator says so. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Inbox } from '../../src/delivery/inbox.ts'
import { inbox } from '../../src/delivery/inbox.ts'
import type { KafkaBus } from '../../src/bus/kafka/bus.ts'
import { kafkaBus } from '../../src/bus/kafka/bus.ts'
import { followLetters } from '../../src/bus/kafka/deadLetters.ts'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import type { Letter } from '../../src/delivery/deadLetters/box.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { reportRecord } from '../../src/wire/message.ts'
import { freshPrefix, kafkaServer, makeTopics } from '../support/kafka.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, value } from '../support/plane.ts'
import { runProgram } from '../support/program.ts'
import { resultOf } from '../support/reports.ts'

const HOST = 'compute-1'
let kafka: KafkaOptions
let bus: KafkaBus
let reports: Inbox
/** Until the operator has mended the cause, results are refused for good. */
let mended = false
const taken: string[] = []

const letters = async (verb: string, ...more: readonly string[]) => {
  const own = ['--kafka', kafka.brokers.join(','), '--kafka-prefix', kafka.prefix]
  const program = runProgram({ args: ['dead-letters', verb, ...own, ...more] })
  const { code } = await program.exited
  return { code, said: program.stdout(), complained: program.stderr() }
}
/** In the order of the messages, which need not be that in which they were given up. */
const listed = async (...more: readonly string[]): Promise<readonly Letter[]> =>
  (JSON.parse((await letters('list', '--json', ...more)).said) as readonly Letter[]).toSorted((a, b) =>
    a.id.localeCompare(b.id),
  )
const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 200 && !holds(); tries++) await wait(100)
  expect(holds()).toBe(true)
}

describeWith('kafka', 'dead letters on a real broker', (rig) => {
  beforeAll(async () => {
    kafka = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(kafka, 4)
    bus = kafkaBus({ options: kafka, clock: systemClock, log: silent })
    reports = inbox({
      bus,
      clock: systemClock,
      log: silent,
      unchanged: () => false,
      take: async (_, id) => {
        if (!mended) return { ok: false, fault: { kind: 'invalid', field: 'slot', rule: 'is not known yet' } }
        taken.push(id)
        return { ok: true, value: null }
      },
    })
    await reports.start()
    const poison = { topic: 'host.reports.v1', key: HOST, headers: {} }
    await bus.publish([
      { ...poison, value: 'no JSON at all' },
      reportRecord(resultOf(HOST, 1), 'result-1', systemClock.now()),
      { ...poison, value: 'x'.repeat(100_000) },
    ])
    await until(() => reports.counts().dead === 3)
  })
  afterAll(async () => {
    await reports.stop()
    await bus.stop()
  })

  test('are listed with the reason, and with the beginning of what they were', async () => {
    const all = await listed()
    expect(all.map(({ topic, key, reason, cut }) => [topic, key, reason, cut])).toEqual([
      ['host.reports.v1', HOST, 'message: must be JSON', false],
      ['host.reports.v1', HOST, 'slot: is not known yet', false],
      ['host.reports.v1', HOST, 'message: must be JSON', true],
    ])
    const { code, said } = await letters('list', '-f', 'table')
    expect(code).toBe(0)
    expect(said).toMatch(/\n {2}message: must be JSON\n {2}x+\.\.\. \(cut: cannot be retried\)\n/)
    expect(said).toMatch(/\n3 shown\n$/)
    expect((await letters('list', '-f', 'table', '--limit', '1')).said).toMatch(/\n1 shown\n$/)
    expect(await listed('--since', new Date(systemClock.now() + 60_000).toISOString())).toEqual([])
    expect(await listed('--topic', 'host.orders.v1')).toEqual([])
  })
  test('go again when named: the message is delivered as it was, and the letter is marked', async () => {
    const [, refused] = await listed()
    mended = true
    const retried = await letters('retry', refused!.id)
    expect(retried).toMatchObject({ code: 0, said: `${refused!.id}  sent again to host.reports.v1\n` })
    await until(() => taken.includes('result-1'))
    const after = await listed()
    expect(after).toHaveLength(3)
    expect(after.map(({ retriedAt }) => retriedAt !== null)).toEqual([false, true, false])
  })
  test('that lost a part of themselves, or are not known, are refused by name', async () => {
    const [, , cut] = await listed()
    const { code, said } = await letters('retry', cut!.id, 'nobody')
    expect(code).toBe(1)
    expect(said).toContain(`${cut!.id}  not sent: it was too long to be kept whole`)
    expect(said).toContain('nobody  unknown')
  })
  test('go again all at once, but those that went already and those that cannot', async () => {
    const { code, said } = await letters('retry', '--all')
    expect(code).toBe(0)
    expect(said.trim().split('\n')).toHaveLength(1)
    // still no JSON: it is dead again, as a letter of its own
    await until(() => reports.counts().dead === 4)
    const after = await listed()
    expect(after.map(({ retriedAt }) => retriedAt !== null)).toEqual([true, true, false, false])
    expect(taken).toEqual(['result-1'])
  })
  test('are shown by a control, which follows the topic; what it drops is dropped for the command, too', async () => {
    const follow = followLetters(kafka, silent)
    const control = openDeadLetters({ bus, clock: systemClock, log: silent, follow })
    const open = async () => value(await control.list({ state: 'open', limit: 10 })).items
    try {
      const [one] = await open()
      value(await control.drop(NOVA, one!.uuid, { by: 'operator-7', reason: 'of a test' }))
      expect((await open()).map(({ id }) => id)).not.toContain(one!.id)
      const dropped = (await listed()).find(({ id }) => id === one!.id)
      expect(dropped?.handled).toMatchObject({ how: 'dropped', by: 'operator-7', reason: 'of a test' })
      const left = await open()
      await bus.publish([{ topic: 'host.reports.v1', key: HOST, headers: {}, value: 'no JSON again' }])
      await expect.poll(open, { timeout: 20_000 }).toHaveLength(left.length + 1)
      const again = (await open()).find(({ id }) => !left.some((each) => each.id === id))!
      expect(again.place?.partition).toBe(one!.place!.partition)
      const dead = reports.counts().dead
      value(await control.replay(NOVA, again.uuid, { by: 'operator-7', reason: 'of a test' }))
      // it still cannot be read, so it comes back as a letter of its own
      await until(() => reports.counts().dead === dead + 1)
    } finally {
      await control.stop()
    }
  })
  test('want to be named, and bad limits and moments are refused', async () => {
    expect((await letters('retry')).complained).toContain('--all')
    expect((await letters('list', '--limit', '0')).complained).toContain('--limit: must be')
    expect((await letters('list', '--since', 'noon')).complained).toContain('--since: must be')
  })
})
