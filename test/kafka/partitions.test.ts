/** Partitions that an operator adds while consumers and publishers run. */
import { expect, test } from 'vitest'
import type { StoredOffset } from '../../src/bus/port.ts'
import { partitionOf } from '../../src/bus/murmur2.ts'
import { listen } from '../support/busLab.ts'
import { kafkaLab, optionsOf, REPORTS, say, until } from '../support/kafkaLab.ts'
import { quiet } from '../support/lab.ts'

const lab = kafkaLab()
/** Its partition is 3 of 4, and 7 of 8. */
const KEY = 'f'
const soon = () => lab.openBus({ options: optionsOf(lab.broker, { metadataMaxAgeMs: 50 }) })
/** Learns nothing of new partitions during a test. */
const late = () => lab.openBus({ options: optionsOf(lab.broker, { metadataMaxAgeMs: 600_000 }) })
const values = (heard: readonly { readonly value: string }[]): readonly string[] => heard.map(({ value }) => value)
const reading = async (from: StoredOffset | null = null) => {
  const { bus, log } = soon()
  const places: StoredOffset[] = []
  const place = { from, moved: (to: StoredOffset): void => void places.push(to) }
  const { heard, stop } = await listen(bus, 'host-f-1', { onlyKey: KEY, offsetStore: place })
  return { bus, log, heard, places, stop }
}

test('the key of these tests moves to another partition', () => {
  expect([4, 8, 16].map((count) => partitionOf(KEY, count))).toEqual([3, 7, 15])
})

test('OWN-1 a running consumer of one key reads its new partition from the beginning, and says so', async () => {
  const { bus, log, heard, places } = await reading()
  const writer = soon()
  await writer.bus.publish([say(KEY, 'before')])
  await until(() => heard.length === 1)
  lab.broker.topics.grow(REPORTS, 8)
  // of a publisher that knows the new number first
  await lab.openBus().bus.publish([say(KEY, 'while')])
  expect(lab.broker.topics.log(REPORTS, 7)!.end).toBe(1)
  await until(() => heard.length === 2)
  // the running publisher learns it too
  while (lab.broker.topics.log(REPORTS, 7)!.end < 2) await writer.bus.publish([say(KEY, 'after')])
  await until(() => heard.filter(({ partition }) => partition === 7).length === 2)
  expect(values(heard).slice(0, 3)).toEqual(['before', 'while', 'after'])
  expect(log.said.filter(({ message }) => message === 'bus.partitionMoved')).toMatchObject([
    { level: 'warn', detail: { topic: REPORTS, from: 3, to: 7 } },
  ])
  await until(() => places.at(-1)?.offset === 2)
  expect(places.at(-1)).toMatchObject({ partition: 7 })
  expect(bus.state().consumers).toMatchObject([{ alive: true, restarts: 1, partitions: [3, 7] }])
})

test('OWN-2 what a publisher that has not learned the new number writes is read as well, and is not its place', async () => {
  const old = late()
  await old.bus.publish([say(KEY, '1')])
  const { bus, heard, places } = await reading()
  lab.broker.topics.grow(REPORTS, 8)
  await until(() => bus.state().consumers[0]!.partitions.length === 2)
  await old.bus.publish([say(KEY, '2')])
  await until(() => heard.length === 2)
  await lab.openBus().bus.publish([say(KEY, '3')])
  await until(() => heard.length === 3)
  await old.bus.publish([say(KEY, '4')])
  await until(() => heard.length === 4)
  await quiet()
  expect(heard.map(({ value, partition, offset }) => [value, partition, offset])).toEqual([
    ['1', 3, 0],
    ['2', 3, 1],
    ['3', 7, 0],
    ['4', 3, 2],
  ])
  expect(places.at(-1)).toEqual({ bus: `scripted/${REPORTS}`, partition: 7, offset: 1 })
})

test('a second time: all former partitions go on being read', async () => {
  const { bus, heard } = await reading()
  lab.broker.topics.grow(REPORTS, 8)
  await until(() => bus.state().consumers[0]!.partitions.length === 2)
  lab.broker.topics.grow(REPORTS, 16)
  await until(() => bus.state().consumers[0]!.partitions.length === 3)
  await lab.openBus().bus.publish([say(KEY, '1')])
  await until(() => heard.length === 1)
  const read = bus.state().consumers[0]!.partitions.toSorted((a, b) => a - b)
  expect([heard[0]!.partition, read]).toEqual([15, [3, 7, 15]])
})

test('after a start only the present partition is read, from its beginning', async () => {
  const old = late()
  await old.bus.publish([say(KEY, 'old')])
  lab.broker.topics.grow(REPORTS, 8)
  await lab.openBus().bus.publish([say(KEY, '1'), say(KEY, '2')])
  const { bus, heard } = await reading({ bus: `scripted/${REPORTS}`, partition: 3, offset: 1 })
  await until(() => heard.length === 2)
  await quiet()
  expect([values(heard), bus.state().consumers[0]!.partitions]).toEqual([['1', '2'], [7]])
})

test('members of a shared group read a new partition from its beginning', async () => {
  const { bus } = soon()
  const { heard } = await listen(bus, 'g', { from: 'latest' })
  lab.broker.topics.grow(REPORTS, 8)
  await lab.openBus().bus.publish([say(KEY, '1')])
  await until(() => heard.length === 1)
  expect(heard[0]).toMatchObject({ value: '1', partition: 7 })
})
