/** A service that is looked at from time to time: when it counts as away, and what is logged. */
import { expect, test } from 'vitest'
import { watch } from '../../src/cli/programs/health.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const opened = (look: () => Promise<unknown>) => {
  const [clock, log] = [handClock(), memoryLog()]
  return { clock, logged: log.said, ...watch({ name: 'database', look, everyMs: 1000, lateMs: 4000, clock, log }) }
}

test('who answers is well, who refuses is not, and both changes are told once', async () => {
  let answers = false
  const { clock, logged, whyFailing } = opened(() =>
    answers ? Promise.resolve() : Promise.reject(new Error('refused\nmore')),
  )
  expect(whyFailing()).toBeNull()
  await clock.pass(3000)
  expect(whyFailing()).toBe('database: refused')
  answers = true
  await clock.pass(1000)
  expect(whyFailing()).toBeNull()
  await clock.pass(5000)
  expect(logged).toEqual([
    { level: 'warn', detail: { reason: 'refused' }, message: 'database.away' },
    { level: 'info', detail: {}, message: 'database.back' },
  ])
})

test('who says nothing is unwell after a while, and is asked once at a time', async () => {
  let asked = 0
  const { clock, whyFailing, stop } = opened(() => {
    asked++
    return new Promise(() => undefined)
  })
  await clock.pass(3999)
  expect(whyFailing()).toBeNull()
  await clock.pass(1)
  expect(whyFailing()).toBe('database: no answer within 4000 ms')
  await clock.pass(60_000)
  expect(asked).toBe(1)
  stop()
})

test('after the stop nobody is asked any more', async () => {
  let asked = 0
  const { clock, stop } = opened(async () => void asked++)
  await clock.pass(1500)
  stop()
  await clock.pass(60_000)
  expect(asked).toBe(2)
})

test('what is found after the stop is not told', async () => {
  const { promise, reject } = Promise.withResolvers<void>()
  const { clock, logged, whyFailing, stop } = opened(() => promise)
  await clock.pass(10)
  stop()
  reject(new Error('refused'))
  await clock.pass(60_000)
  expect([whyFailing(), logged]).toEqual([null, []])
})
test('an answer that comes late makes it well again', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { clock, logged, whyFailing, stop } = opened(() => promise)
  await clock.pass(4000)
  resolve()
  await clock.pass(0)
  expect(whyFailing()).toBeNull()
  expect(logged.map(({ message, detail }) => [message, detail])).toEqual([
    ['database.away', { reason: 'no answer within 4000 ms' }],
    ['database.back', {}],
  ])
  stop()
})
