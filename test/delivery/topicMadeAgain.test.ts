/** What was done with a dead letter says nothing of another message at its place, on a topic that was made again. */
import { expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import type { Bus } from '../../src/bus/port.ts'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import { inbox } from '../../src/delivery/inbox.ts'
import { done } from '../../src/vocabulary/fault.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

const TOPIC = 'host.reports.v1'
const NOTE = { by: 'op', reason: 'known' }
const OPEN = { state: 'open', limit: 10 } as const
const letters = () => {
  const clock = handClock()
  const log = memoryLog()
  const carrier: Pick<Bus, 'publish'> = { publish: async () => {} }
  const keeper = openDeadLetters({ bus: carrier, clock, log, follow: null })
  const texts = async (state: 'open' | 'dropped' = 'open') =>
    value(await keeper.list({ ...OPEN, state })).items.map(({ uuid, place }) => ({ uuid, place }))
  /** One life of the topic, whose offsets begin at 0, and one message in it, as often as it is received. */
  const receives = async (text: string, times = 1) => {
    for (let time = 0; time < times; time++) {
      const topic = inProcessBus({ clock, partitions: 1 })
      const bus = { ...topic, publish: keeper.bus.publish }
      const reader = inbox({ bus, clock, log, unchanged: () => false, take: async () => done(null) })
      await reader.start()
      await topic.publish([{ topic: TOPIC, key: 'h1', value: text, headers: {} }])
      await quiet(20)
      await reader.stop()
    }
  }
  return { ...keeper, texts, receives }
}

test('a message at the place of a dropped letter is a letter of its own, open and counted', async () => {
  const { receives, texts, drop, count } = letters()
  await receives('of last year')
  const [first] = await texts()
  value(await drop(NOVA, first!.uuid, NOTE))
  expect(count().count).toBe(0)
  await receives('of this week')
  expect(count().count).toBe(1)
  expect(await texts()).toEqual([{ uuid: expect.not.stringMatching(first!.uuid), place: { partition: 0, offset: 0 } }])
  expect(await texts('dropped')).toEqual([first])
})
test('a message that is received again is the same letter, and stays dropped', async () => {
  const { receives, texts, drop, count } = letters()
  await receives('no report', 2)
  expect(count().count).toBe(1)
  value(await drop(NOVA, (await texts())[0]!.uuid, NOTE))
  await receives('no report')
  expect(count().count).toBe(0)
})
test('what was done with letters of a former release, whose ids have no digest, still holds for them alone', async () => {
  const { receives, texts, drop, count, bus } = letters()
  const of = { topic: TOPIC, key: 'h1', value: 'of last year', headers: {} }
  const before = deadLetterRecord(of, 'bad', { id: `${TOPIC}/0/0`, time: 0 })
  await bus.publish([before])
  const [known] = await texts()
  expect(known!.place).toEqual({ partition: 0, offset: 0 })
  value(await drop(NOVA, known!.uuid, NOTE))
  await bus.publish([before])
  expect(count().count).toBe(0)
  await receives('of this week')
  expect(count().count).toBe(1)
})
