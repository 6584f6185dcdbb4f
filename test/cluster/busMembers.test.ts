/** Groups, members and mistakes on the bus on Kafka. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { KafkaBus } from '../../src/bus/kafka/bus.ts'
import { lookup } from '../../src/bus/kafka/lookup.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { firsts, listen, openBus, say, TOPIC } from '../support/busLab.ts'
import { freshPrefix, kafkaServer, makeTopics, ownBroker } from '../support/kafka.ts'
import { until } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'

const FIXTURE = join(import.meta.dirname, '../support/fixtures/busMember.fixture.ts')
const PARTITIONS = 4
const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index)

const child = (how: 'reads' | 'ends', { brokers, prefix }: KafkaOptions, group: string) => {
  const running = spawn(process.execPath, [FIXTURE, how, brokers[0]!, prefix, group], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [lines, warnings]: [string[], string[]] = [[], []]
  createInterface({ input: running.stderr }).on('line', (line) => warnings.push(line))
  createInterface({ input: running.stdout }).on('line', (line) => lines.push(line))
  const ended = new Promise<number | null>((resolve) => running.once('exit', resolve))
  return { lines, warnings, ended, kill: () => running.kill('SIGKILL') }
}

const open: KafkaBus[] = []
const opened = (options: KafkaOptions, more = {}) => {
  const { bus, log } = openBus(options, more)
  open.push(bus)
  return { bus, log }
}
afterEach(async () => void (await Promise.all(open.splice(0).map((bus) => bus.stop()))))

describeWith('kafka', 'the bus on a real broker', (rig) => {
  let options: KafkaOptions
  beforeAll(async () => {
    options = { ...(await kafkaServer(rig)).options, prefix: freshPrefix() }
    await makeTopics(options, PARTITIONS)
  })
  const fresh = (more = {}) => opened(options, more)

  describe('members', () => {
    test('what a killed process had comes to the other member, and nothing is lost', async () => {
      const { bus } = fresh()
      const { heard } = await listen(bus, 'shared')
      const other = child('reads', options, 'shared')
      await until(() => other.lines.includes('joined'), 'the child', 15_000)
      await until(() => bus.state().consumers[0]!.partitions.length === PARTITIONS / 2, 'the division', 10_000)
      const theirs = () =>
        other.lines.slice(1).map((line) => ({ key: line.split(' ')[0]!, value: line.split(' ')[1]! }))
      // both read, whichever way the group divided the partitions at first
      const reading = () => heard.length > 0 && theirs().length > 0
      for (let round = 0; round < 40 && !reading(); round++) {
        await bus.publish(numbers(20).map((key) => say(`w${key}`, round)))
        await until(reading, 'both read', 500).catch(() => undefined)
      }
      expect([heard.length, theirs().length]).not.toContain(0)
      const all = () =>
        Object.entries(firsts([...theirs(), ...heard])).flatMap(([key, said]) => (key.startsWith('k') ? said : []))
      const say100 = (from: number) => bus.publish(numbers(100, from).map((number) => say(`k${number % 20}`, number)))
      await say100(0)
      await until(() => all().length === 100, 'the first hundred', 10_000)
      other.kill()
      await other.ended
      await say100(100)
      await until(() => bus.state().consumers[0]!.partitions.length === PARTITIONS, 'the take-over', 20_000)
      await until(() => all().length === 200, 'all', 10_000)
      const mine = firsts(heard.filter(({ value }) => Number(value) >= 100))
      for (const said of Object.values(mine)) expect(said).toEqual(said.toSorted((a, b) => a - b))
    })

    test('a stop leaves nothing that keeps a process alive, and no timer of kafkajs was negative', async () => {
      const { lines, warnings, ended } = child('ends', options, 'ending')
      expect(await ended).toBe(0)
      expect(lines.at(-1)).toBe('stopped')
      expect(warnings).toEqual([])
    })

    test('a group of a consumer with its own place is gone after its stop, and nothing was committed in it', async () => {
      const { bus } = fresh()
      const asked = lookup(options, silent)
      const groups = async () =>
        (await asked.asking((admin) => admin.listGroups())).groups.map(({ groupId }) => groupId)
      let offset = -1
      const place = { from: null, moved: (to: { readonly offset: number }) => void (offset = to.offset) }
      const { stop } = await listen(bus, 'host-h-1', { onlyKey: 'h', offsetStore: place })
      await bus.publish([say('h', 1)])
      await until(() => offset > 0)
      const group = `${options.prefix}host-h-1`
      expect(await groups()).toContain(group)
      const committed = await asked.asking((_admin, ask) => ask.committed(group, options.prefix + TOPIC))
      expect([...committed.values()].every((at) => at === null)).toBe(true)
      expect(await bus.lag()).toEqual([{ topic: TOPIC, group: 'host-h-1', messages: 0 }])
      await stop()
      expect(await groups()).not.toContain(group)
    })
  })

  describe('mistakes', () => {
    test('a take that throws a TypeError is tried again, and does not end the consumer', async () => {
      const { bus } = fresh()
      const heard: string[] = []
      let tries = 0
      const take = async ({ key }: { readonly key: string }): Promise<void> => {
        if (key === 'odd' && ++tries < 4) throw new TypeError('undefined is not a function')
        heard.push(key)
      }
      await bus.consume({ topic: TOPIC, group: 'typeerror', from: 'latest', take })
      await bus.publish([say('odd', 1), say('fine', 1)])
      await until(() => heard.includes('odd') && heard.includes('fine'))
      await bus.publish([say('odd', 2)])
      await until(() => heard.filter((key) => key === 'odd').length === 2)
      expect(bus.state().consumers).toMatchObject([{ alive: true, restarts: 0 }])
    })

    test('a topic that is not there is named, with what to do, by who reads and by who writes', async () => {
      const { bus } = opened({ ...options, prefix: 'nobody.' })
      const advice = /there is no topic nobody\.host\.reports\.v1 on Kafka at .*: accelerando topic create/
      await expect(bus.publish([say('k', 1)])).rejects.toThrow(advice)
      await expect(listen(bus, 'g')).rejects.toThrow(advice)
      expect(bus.state().consumers).toEqual([])
    })
  })

  describe('load', () => {
    test('a slow partition is held back by itself, in bounded memory, and the others go on', async () => {
      const { bus } = fresh()
      const gate = Promise.withResolvers<void>()
      let [others, slow] = [0, 0]
      const take = async ({ key }: { readonly key: string }): Promise<void> => {
        if (key === 'slow') await gate.promise
        if (key === 'slow') slow++
        else others++
      }
      await bus.consume({ topic: TOPIC, group: 'slow', from: 'latest', take })
      const text = 'x'.repeat(2000)
      const slowly = numbers(12_000).map((number) => ({ ...say('slow', number), value: text }))
      await bus.publish(slowly)
      await until(() => bus.state().consumers[0]!.waiting > 1000, 'filling', 10_000)
      for (const number of numbers(20)) await bus.publish(numbers(20).map((each) => say(`other${each}`, number)))
      await until(() => others > 200, 'the others', 10_000)
      const held = bus.state().consumers[0]!.waiting
      expect(held).toBeLessThan(6000)
      gate.resolve()
      await until(() => slow === 12_000, 'the slow ones', 30_000)
    })

    test('many small publishes at once are gathered, and stay in order', async () => {
      const { bus } = fresh()
      const { heard } = await listen(bus, 'gathered', { from: 'latest', window: 1000 })
      const at = performance.now()
      await Promise.all(numbers(10_000).map((number) => bus.publish([say(`g${number % 7}`, number)])))
      const ms = performance.now() - at
      await until(() => heard.length === 10_000, 'all', 20_000)
      console.info(`10,000 publishes of one message at once: ${Math.round(ms)} ms`)
      for (const said of Object.values(firsts(heard))) expect(said).toEqual(said.toSorted((a, b) => a - b))
    })
  })
})

describeWith('kafka', 'a broker with passwords and certificates', (rig) => {
  let secured: KafkaOptions
  beforeAll(async () => {
    const broker = await ownBroker(rig, { secure: true })
    secured = { ...broker.secured, prefix: freshPrefix() }
    await makeTopics(secured, PARTITIONS)
  })

  test('is used with them', async () => {
    const { bus } = opened(secured)
    const { heard } = await listen(bus, 'safe')
    await bus.publish([say('k', 1)])
    await until(() => heard.length === 1)
  })
  test('refuses a wrong password, and both sides say so at once, also after the right one was used', async () => {
    const { bus } = opened({ ...secured, sasl: { ...secured.sasl!, password: 'wrong' } })
    const refusal = /Kafka at localhost:\d+ refuses user rig: .*authentication/i
    await expect(bus.publish([say('k', 1)])).rejects.toThrow(refusal)
    await expect(listen(bus, 'unsafe')).rejects.toThrow(refusal)
    expect(bus.state().lastError?.reason).toMatch(/authentication/i)
  })
  test('whose certificate nobody vouches for is not used', async () => {
    const { bus } = opened({ ...secured, tls: { ca: null } }, { publishTimeoutMs: 3000 })
    await expect(bus.publish([say('k', 1)])).rejects.toThrow(/certificate/)
  })
})
