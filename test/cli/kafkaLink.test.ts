/** The connection of a program to Kafka: what it waits for, what it says meanwhile, and what ends it. */
import { expect, test } from 'vitest'
import { Misconfigured, missingTopic } from '../../src/bus/kafka/errors.ts'
import { kafkaLink } from '../../src/cli/programs/kafkaLink.ts'
import { StartProblem } from '../../src/cli/programs/startProblem.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

type State = { connected: boolean; lastError: { readonly reason: string } | null }
const opened = (state: State = { connected: true, lastError: null }) => {
  const [clock, log] = [handClock(), memoryLog()]
  const bus = { state: () => state } as never
  const kafka = { brokers: ['127.0.0.1:1'] } as never
  const link = kafkaLink({ kafka, bus, topics: null, clock, log })
  return { link, clock, log, state }
}
/** Whether it has ended, and how. */
const watched = (work: Promise<unknown>) => {
  const seen = { ended: false, error: null as unknown }
  work.then(
    () => (seen.ended = true),
    (error: unknown) => Object.assign(seen, { ended: true, error }),
  )
  return seen
}

test('a program that has joined is well as long as the bus answers', async () => {
  const { link, state, log } = opened()
  expect(link.whyFailing()).toBe('kafka: not joined yet')
  await link.join(async () => 'anything')
  expect([link.whyFailing(), log.said]).toEqual([null, []])
  Object.assign(state, { connected: false })
  expect(link.whyFailing()).toBe('kafka: no answer from it yet')
  Object.assign(state, { lastError: { reason: 'it is away' } })
  expect(link.whyFailing()).toBe('kafka: it is away')
  await link.stop()
})

test('what fails is begun again each second, and the start goes on without it at once', async () => {
  const { link, clock, log } = opened()
  let begun = 0
  const join = link.join(async () => {
    if (++begun < 3) throw new Error(`not ${begun}`)
  })
  await join
  expect([begun, link.whyFailing()]).toEqual([1, 'kafka: not 1'])
  await clock.pass(999)
  expect(begun).toBe(1)
  await clock.pass(1)
  expect([begun, link.whyFailing()]).toEqual([2, 'kafka: not 2'])
  await clock.pass(1000)
  expect([begun, link.whyFailing()]).toEqual([3, null])
  await clock.pass(5000)
  expect(begun).toBe(3)
  expect(log.said).toEqual(
    [1, 2].map((at) => ({ level: 'warn', detail: { reason: `not ${at}` }, message: 'kafka.notJoined' })),
  )
  await link.stop()
})

test('a start that takes long is waited for five seconds', async () => {
  const { link, clock } = opened()
  const { promise, resolve } = Promise.withResolvers<void>()
  const join = watched(link.join(() => promise))
  await clock.pass(4999)
  expect(join.ended).toBe(false)
  await clock.pass(1)
  expect(join).toEqual({ ended: true, error: null })
  expect(link.whyFailing()).toBe('kafka: not joined yet')
  resolve()
  await quiet()
  expect(link.whyFailing()).toBeNull()
  await link.stop()
})

test('what only an operator can mend ends the start, and is not begun again', async () => {
  const { link, clock } = opened()
  let begun = 0
  const join = link.join(async () => {
    begun++
    throw new StartProblem('make the topics')
  })
  await expect(join).rejects.toThrow('make the topics')
  await clock.pass(10_000)
  expect([begun, link.whyFailing()]).toEqual([1, 'kafka: make the topics'])
  await link.stop()
})

test('a wrong setting ends the start, but not a topic that another program is going to make', async () => {
  const wrong = opened()
  await expect(wrong.link.join(() => Promise.reject(new Misconfigured('a wrong password')))).rejects.toThrow(
    'a wrong password',
  )
  await wrong.link.stop()
  const { link, clock } = opened()
  let begun = 0
  await link.join(async () => {
    if (++begun === 1) throw missingTopic('host.orders.v1', ['127.0.0.1:1'])
  })
  expect(link.whyFailing()).toMatch(/^kafka: there is no topic host\.orders\.v1 /)
  await clock.pass(1000)
  expect([begun, link.whyFailing()]).toEqual([2, null])
  await link.stop()
})

test('a stop before anything is begun leaves it so', async () => {
  const { link } = opened()
  let begun = 0
  const join = link.join(async () => begun++)
  const stop = link.stop()
  await join
  await stop
  expect([begun, link.whyFailing()]).toEqual([0, 'kafka: not joined yet'])
})

test('being well is waited for, and the wait ends with the stop', async () => {
  const { link, clock } = opened()
  const well = watched(link.well())
  await clock.pass(1000)
  expect(well.ended).toBe(false)
  await link.join(async () => undefined)
  await clock.pass(49)
  expect(well.ended).toBe(false)
  await clock.pass(1)
  expect(well.ended).toBe(true)
  const other = opened()
  const never = watched(other.link.well())
  await quiet()
  expect(never.ended).toBe(false)
  await other.link.stop()
  await quiet()
  expect(never).toEqual({ ended: true, error: null })
})

test('a stop ends what is tried again, and waits a second for what is being tried', async () => {
  const { link, clock } = opened()
  let begun = 0
  await link.join(async () => {
    begun++
    throw new Error('no')
  })
  await link.stop()
  await clock.pass(10_000)
  expect(begun).toBe(1)
  const slow = opened()
  void slow.link.join(() => new Promise(() => {}))
  await quiet()
  const stop = watched(slow.link.stop())
  await slow.clock.pass(999)
  expect(stop.ended).toBe(false)
  await slow.clock.pass(1)
  expect(stop.ended).toBe(true)
})
