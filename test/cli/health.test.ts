import { expect, test } from 'vitest'
import { watch } from '../../src/cli/programs/health.ts'
import type { Log } from '../../src/log.ts'
import { silent } from '../../src/log.ts'
import { handClock } from '../support/lab.ts'

const opened = (look: () => Promise<unknown>) => {
  const clock = handClock()
  const logged: string[] = []
  const note = (_: unknown, message?: string) => void logged.push(message ?? '')
  const log = { ...silent, info: note, warn: note } as Log
  return { clock, logged, ...watch({ name: 'database', look, everyMs: 1000, lateMs: 4000, clock, log }) }
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
  expect(logged).toEqual(['database.away', 'database.back'])
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
