/** What the bus makes of a broker that dies, stands still, or is not there yet. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { KafkaBus, KafkaBusOptions } from '../../src/bus/kafka/bus.ts'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { firsts, listen, openBus, say, talker } from '../support/busLab.ts'
import type { Broker } from '../support/kafka.ts'
import { freshPrefix, makeTopics, ownBroker } from '../support/kafka.ts'
import { until } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']
const second = (count: number) => new Promise((resolve) => setTimeout(resolve, 1000 * count))

describeWith('kafka', 'a broker in trouble', (rig) => {
  let broker: Broker
  let options: KafkaOptions
  const open: KafkaBus[] = []
  beforeAll(async () => {
    broker = await ownBroker(rig)
    options = { ...broker.options, prefix: freshPrefix() }
    await makeTopics(options)
  })
  afterEach(async () => void (await Promise.all(open.splice(0).map((bus) => bus.stop()))))

  /** Talks and listens while `trouble` happens, and a while longer. */
  const through = async (group: string, trouble: () => Promise<void>, more: Partial<KafkaBusOptions> = {}) => {
    const { bus, log } = openBus(options, more)
    open.push(bus)
    const { heard } = await listen(bus, group, { from: 'latest' })
    const talking = talker(
      bus,
      KEYS.map((key) => `${group}-${key}`),
    )
    await until(() => talking.count() > 300, 'talking')
    const [before, at] = [heard.length, performance.now()]
    await trouble()
    const [said, troubleMs] = [talking.count(), performance.now() - at]
    await until(() => talking.count() > said + 300 && heard.length > before + 300, 'going on', 40_000)
    const { told, failures } = await talking.stop()
    const count = Object.values(told).flat().length
    await until(() => Object.values(firsts(heard)).flat().length >= count, 'hearing all', 20_000)
    console.info(`${group}: ${count} said, ${heard.length - count} heard again, ${failures} publishes failed`)
    console.info(
      `${group}: trouble ${Math.round(troubleMs)} ms, all well after ${Math.round(performance.now() - at)} ms`,
    )
    return { told, heard, state: bus.state(), said: log.said }
  }

  test('killed and started again while all talk: nothing is lost, and each key stays in order', async () => {
    const { told, heard, state } = await through('killed', async () => {
      await broker.kill()
      await broker.start()
    })
    expect(firsts(heard)).toEqual(told)
    expect(state).toMatchObject({ connected: true, consumers: [{ alive: true }] })
    expect(state.lastError).not.toBeNull()
  })

  const stillFor10s = async () => {
    await broker.pause()
    await second(10)
    await broker.resume()
  }
  test('standing still for 10 s: nothing is lost, and each key stays in order', async () => {
    const { told, heard, state } = await through('paused', stillFor10s)
    expect(firsts(heard)).toEqual(told)
    expect(state.connected).toBe(true)
  })

  test('a consumer that is silent for too long is made anew, and nothing is lost either', async () => {
    const { told, heard, state, said } = await through('silent', stillFor10s, { silenceMs: 4000 })
    expect(firsts(heard)).toEqual(told)
    expect(state).toMatchObject({ connected: true, consumers: [{ alive: true }] })
    expect(state.consumers[0]!.restarts).toBeGreaterThan(0)
    const lost = said.filter(({ message }) => message === 'bus.consumerLost').map(({ detail }) => detail['reason'])
    expect(lost).toContain('no fetch or heartbeat for 4000 ms')
  })

  test('away at the start: who consumes waits no longer than agreed, says so, and is there when the broker is', async () => {
    await broker.kill()
    const { bus, log } = openBus(options, { joinWaitMs: 500, publishTimeoutMs: 1000 })
    open.push(bus)
    const { heard } = await listen(bus, 'early')
    expect(log.said.map(({ message }) => message)).toContain('bus.joinWaits')
    await expect(bus.publish([say('x', 1)])).rejects.toThrow(
      /not stored on Kafka at 127.0.0.1:\d+ within 1000 ms: .*ECONNREFUSED/,
    )
    await expect(bus.lag()).rejects.toThrow(/Kafka at 127.0.0.1:\d+ cannot be reached/)
    expect(bus.state()).toMatchObject({ connected: false, consumers: [{ alive: false, partitions: [] }] })
    expect(bus.state().lastError?.reason).toContain('ECONNREFUSED')
    await broker.start()
    await until(() => bus.state().connected, 'the join', 20_000)
    await bus.publish([say('x', 2)])
    await until(() => heard.some(({ key, value }) => key === 'x' && value === '2'), 'hearing', 10_000)
  })
})
