/** How a program ends: with which exit code, and what is closed before. The end of the process is only noted here. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endAtOnce } from '../../src/cli/programs/start.ts'
import { ended, untilEnded } from '../../src/cli/programs/untilEnded.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

class Ended extends Error {}
const exit = Object.getOwnPropertyDescriptor(process, 'exit')!
const { exitCode } = process
let codes: unknown[]
let complaints: string
const write = Object.getOwnPropertyDescriptor(process.stderr, 'write')
beforeEach(() => {
  ;[codes, complaints] = [[], '']
  const end = (code: unknown) => {
    codes.push(code)
    throw new Ended('the process has ended')
  }
  Object.defineProperty(process, 'exit', { configurable: true, value: end })
  const value = (text: string) => {
    complaints += text
    return true
  }
  Object.defineProperty(process.stderr, 'write', { configurable: true, value })
})
afterEach(() => {
  Object.defineProperty(process, 'exit', exit)
  process.exitCode = exitCode
  Reflect.deleteProperty(process.stderr, 'write')
  if (write) Object.defineProperty(process.stderr, 'write', write)
})

const ADDRESS = { '--listen': { host: 'h', port: 1 } }
const listening = () => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal))
/** As if the signal had come; whoever listened for the other one is still there. */
const signalled = (signal: NodeJS.Signals, before: readonly number[]): void => {
  process.emit(signal)
  for (const [at, other] of (['SIGTERM', 'SIGINT'] as const).entries())
    for (const listener of (process.listeners(other) as (() => void)[]).slice(before[at]))
      process.removeListener(other, listener)
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops what runs, and ends the process in order', async (signal) => {
  const [before, log, said] = [listening(), memoryLog(), [] as string[]]
  const work = untilEnded(log, ADDRESS, async () => {
    said.push('begun')
    return { stop: async () => void said.push('stopped') }
  }).catch((error: unknown) => error)
  await quiet()
  expect([codes, said, log.said]).toEqual([[], ['begun'], []])
  signalled(signal, before)
  expect(await work).toBeInstanceOf(Ended)
  expect([codes, said, complaints]).toEqual([[0], ['begun', 'stopped'], ''])
  expect(log.said).toEqual([{ level: 'info', detail: { signal }, message: 'stopping' }])
})

test('a signal during the start ends the process as it is', async () => {
  const [before, log] = [listening(), memoryLog()]
  const work = untilEnded(log, ADDRESS, () => new Promise(() => {})).catch((error: unknown) => error)
  signalled('SIGTERM', before)
  expect(await work).toBeInstanceOf(Ended)
  expect(codes).toEqual([0])
})

test('what cannot start says why, and ends the process', async () => {
  const before = listening()
  const taken = Object.assign(new Error('listen'), { code: 'EADDRINUSE', address: 'h', port: 1 })
  const work = untilEnded(memoryLog(), ADDRESS, () => Promise.reject(taken)).catch((error: unknown) => error)
  expect(await work).toBeInstanceOf(Ended)
  expect([codes, process.exitCode]).toEqual([[1], 1])
  expect(complaints).toBe('h:1 is in use by another program: choose another address with --listen\n')
  signalled('SIGTERM', before)
})

test('a stop that comes to its end leaves the process to itself', async () => {
  let stopped = false
  await ended(async () => void (stopped = true))
  expect([stopped, codes]).toEqual([true, []])
})
test('a stop that takes longer than 9.5 seconds ends the process as it is, and one in time does not', async () => {
  const clock = handClock()
  const { promise, resolve } = Promise.withResolvers<void>()
  const stopped = ended(() => promise, clock)
  await clock.pass(9499)
  expect(codes).toEqual([])
  resolve()
  await stopped
  await clock.pass(60_000)
  expect(codes).toEqual([])
  void ended(() => new Promise(() => {}), clock)
  await clock.pass(9499)
  expect(codes).toEqual([])
  await expect(clock.pass(1)).rejects.toThrow(Ended)
  expect(codes).toEqual([75])
})

test('a store that is lost ends the process', () => {
  const log = memoryLog()
  expect(() => endAtOnce(new Error('the disk is gone'), log)).toThrow(Ended)
  expect(codes).toEqual([70])
  expect(log.said).toEqual([
    { level: 'error', detail: { error: 'the disk is gone' }, message: 'the store is lost, the process ends' },
  ])
})
