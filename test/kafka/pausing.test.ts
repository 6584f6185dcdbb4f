/** A partition of which too much waits is paused, and no other is. */
import { expect, test } from 'vitest'
import type { KafkaBusOptions } from '../../src/bus/kafka/bus.ts'
import type { Delivered } from '../../src/bus/port.ts'
import { ERRORS } from '../support/broker/protocol.ts'
import { KEYS, kafkaLab, REPORTS, say, until } from '../support/kafkaLab.ts'

const lab = kafkaLab()
const FULL = { count: 4, bytes: 1_000_000 }

/** Of all messages under a key so many are done with as are allowed; `others` are those that no key holds back. */
const open = async (held: readonly string[], more: Partial<KafkaBusOptions> = {}) => {
  const { bus, clock, log } = lab.openBus({ full: FULL, ...more })
  const done: string[] = []
  const wakes = new Set<() => void>()
  let allowed = 0
  const take = async ({ key, value }: Delivered): Promise<void> => {
    while (held.includes(key) && done.filter((one) => one.startsWith(key)).length >= allowed)
      await new Promise<void>((resolve) => wakes.add(resolve))
    done.push(`${key}${value}`)
  }
  const { stop } = await bus.consume({ topic: REPORTS, group: 'g', from: 'earliest', take })
  const allow = (count: number): void => {
    allowed = count
    for (const wake of wakes) wake()
    wakes.clear()
  }
  return { bus, clock, log, done, allow, stop, state: () => bus.state().consumers[0]! }
}
const many = (key: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => say(key, String(from + index)))
const publish = (...records: ReturnType<typeof say>[]): Promise<void> => lab.openBus().bus.publish(records)
/** The newest request of a consumer that has said what it wants three times since. */
const fetched = async (): Promise<readonly number[]> => {
  const before = lab.broker.seen('Fetch').length
  await until(() => lab.broker.seen('Fetch').length > before + 2)
  const { topics } = lab.broker.seen('Fetch').at(-1)!
  return topics.flatMap(({ partitions }) => partitions.map(({ partition }) => partition)).toSorted((a, b) => a - b)
}

test('SUBSCRIPTION-4 a partition with too many messages is paused alone, until half of them are done with', async () => {
  const { done, allow, state } = await open(['a'])
  await publish(...many('a', 4))
  await until(() => state().waiting === 4)
  expect(await fetched()).toEqual([0, 1, 2, 3])
  await publish(...many('a', 1, 4))
  await until(() => state().waiting === 5)
  expect(await fetched()).toEqual([1, 2, 3])
  await publish(...many('a', 3, 5), say('d', '0'))
  await until(() => done.length === 1)
  expect(state().waiting).toBe(5)
  allow(2)
  await until(() => state().waiting === 3)
  expect(await fetched()).toEqual([1, 2, 3])
  allow(3)
  await until(() => state().waiting === 5)
  allow(8)
  await until(() => done.length === 9)
  expect(done.filter((one) => one.startsWith('a'))).toEqual(many('a', 8).map(({ value }) => `a${value}`))
})

test.each(['value', 'headers'] as const)(
  'SUBSCRIPTION-4 too many bytes in its %s pause a partition as well',
  async (part) => {
    const large = (value: string) => {
      const text = value.repeat(100_000)
      return part === 'value' ? say('a', text) : { ...say('a', value), headers: { text } }
    }
    const { allow, state } = await open(['a'], { full: { count: 100, bytes: 700_000 } })
    await publish(large('1'), large('2'), large('3'))
    await until(() => state().waiting === 3)
    expect(await fetched()).toEqual([0, 1, 2, 3])
    await publish(large('4'))
    await until(() => state().waiting === 4)
    expect(await fetched()).toEqual([1, 2, 3])
    allow(2)
    await until(() => state().waiting === 2)
    expect(await fetched()).toEqual([1, 2, 3])
    allow(3)
    expect(await fetched()).toEqual([0, 1, 2, 3])
  },
)

test('what is paused stays so over a rebalance and in the next member', async () => {
  const { bus, clock, log, allow, done, state } = await open(['a'])
  await publish(...many('a', 5))
  await until(() => state().waiting === 5)
  lab.broker.groups.rebalance('g')
  await until(() => state().restarts === 1)
  await publish(...many('a', 1, 5))
  expect(await fetched()).toEqual([1, 2, 3])
  lab.broker.on('Fetch', async (_request, answer) => {
    lab.broker.off('Fetch')
    const all = await answer()
    const refused = <Row>(row: Row) => ({ ...row, errorCode: ERRORS.TOPIC_AUTHORIZATION_FAILED })
    return { ...all, topics: all.topics.map((each) => ({ ...each, partitions: each.partitions.map(refused) })) }
  })
  await until(() => log.said.some(({ message }) => message === 'bus.consumerLost'))
  await until(() => clock.waits.includes(200))
  await clock.pass(200)
  await until(() => state().restarts === 2)
  expect(await fetched()).toEqual([1, 2, 3])
  expect(bus.state().consumers).toMatchObject([{ waiting: 5, inHand: 1 }])
  allow(6)
  await until(() => done.length === 6)
})

test('what was paused, went to another member and came back is read again', async () => {
  const { allow, done, state } = await open(KEYS)
  await publish(...KEYS.flatMap((key) => many(key, 5)))
  await until(() => state().waiting === 20)
  const other = await open([])
  await until(() => state().partitions.length === 2 && other.done.length === 10)
  await other.stop()
  await until(() => state().partitions.length === 4)
  allow(100)
  await until(() => done.length >= 10)
  await publish(...KEYS.map((key) => say(key, 'new')))
  await until(() => KEYS.every((key) => done.includes(`${key}new`)))
})
