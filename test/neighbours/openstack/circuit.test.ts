/** When a neighbour that fails is left alone, and when it is asked again, to the millisecond. */
import { expect, test } from 'vitest'
import { createCircuit, OnlyThisCall } from '../../../src/neighbours/openstack/circuit.ts'
import { NotAsked, Unanswered } from '../../../src/neighbours/openstack/send.ts'
import { handClock, memoryLog } from '../../support/lab.ts'

const opened = () => {
  const [clock, log] = [handClock(), memoryLog()]
  const circuit = createCircuit('nova', clock, log)
  let calls = 0
  const answers = async (status: number) => {
    const result = circuit.run(async () => (calls++, { status, body: 'b' }))
    return result.then(
      (answer) => answer.status,
      (error: Error) => error.message,
    )
  }
  const fails = (reason = 'away') =>
    circuit
      .run(() => (calls++, Promise.reject(new Unanswered(reason))))
      .then(
        () => 'answered',
        (error: Error) => error.message,
      )
  return { clock, log, circuit, answers, fails, calls: () => calls }
}
const RESTS = 'it is not asked again yet: away'

test('CIRCUIT-1 after three failures in a row it rests, twice as long after each further one, 15 s at most', async () => {
  const { clock, circuit, fails, calls } = opened()
  expect([await fails('first'), await fails('second'), circuit.whyFailing()]).toEqual(['first', 'second', null])
  expect([await fails(), circuit.whyFailing()]).toEqual(['away', 'away'])
  for (const ms of [500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const before = calls()
    await clock.pass(ms - 1)
    expect([ms, await fails(), calls() - before]).toEqual([ms, RESTS, 0])
    await clock.pass(1)
    expect([ms, await fails(), calls() - before]).toEqual([ms, 'away', 1])
  }
})

test('failures that are not in a row do not count together, and an answer ends the rest', async () => {
  const { clock, log, circuit, answers, fails } = opened()
  for (let round = 0; round < 3; round++)
    expect([await fails(), await fails(), await answers(200)]).toEqual(['away', 'away', 200])
  expect([circuit.whyFailing(), log.said]).toEqual([null, []])
  for (let call = 0; call < 3; call++) await fails()
  await clock.pass(500)
  expect([await answers(404), circuit.whyFailing()]).toEqual([404, null])
  // it counts from the beginning again
  expect([await fails(), await fails(), await answers(200)]).toEqual(['away', 'away', 200])
  expect(log.said).toEqual([
    { level: 'warn', message: 'neighbour.unreachable', detail: { neighbour: 'nova', reason: 'away' } },
    { level: 'info', message: 'neighbour.reachable', detail: { neighbour: 'nova' } },
  ])
})

test('CIRCUIT-2 after the rest one call is made, and the others are told the last reason until it has ended', async () => {
  const { clock, circuit, fails, answers, calls } = opened()
  for (let call = 0; call < 3; call++) await fails()
  await clock.pass(500)
  const gate = Promise.withResolvers<{ status: number }>()
  const probe = circuit.run(() => gate.promise)
  const before = calls()
  expect([await fails('other'), await answers(200), calls() - before]).toEqual([RESTS, RESTS, 0])
  await expect(circuit.run(async () => ({ status: 200 }))).rejects.toBeInstanceOf(NotAsked)
  gate.resolve({ status: 200 })
  expect(await probe).toEqual({ status: 200 })
  expect([await answers(200), circuit.whyFailing()]).toEqual([200, null])
})

test.each([500, 502, 503, 504])('CIRCUIT-3 the status %i is a failure, and is handed out', async (status) => {
  const { circuit, answers } = opened()
  for (let call = 0; call < 3; call++) expect(await answers(status)).toBe(status)
  expect(circuit.whyFailing()).toBe(`it answers ${status}`)
  expect(await answers(200)).toBe(`it is not asked again yet: it answers ${status}`)
})
test.each([200, 401, 404, 429, 499, 501, 505])('CIRCUIT-3 the status %i is none', async (status) => {
  const { circuit, answers } = opened()
  for (let call = 0; call < 4; call++) expect(await answers(status)).toBe(status)
  expect(circuit.whyFailing()).toBeNull()
})

test('CIRCUIT-4 a failure because of what a caller has sent counts only if a call without it fails too', async () => {
  const { circuit } = opened()
  let neutral = 0
  const failsFor = (status: number) =>
    circuit
      .runFor(
        () => Promise.reject(new Unanswered('cut off')),
        async () => (neutral++, { status }),
      )
      .then(
        () => 'answered',
        (error: Error) => [error instanceof OnlyThisCall, error.message],
      )
  for (let call = 0; call < 10; call++) expect(await failsFor(200)).toEqual([true, 'cut off'])
  expect([neutral, circuit.whyFailing()]).toEqual([10, null])
  await Promise.all(Array.from({ length: 10 }, () => failsFor(200)))
  expect(neutral).toBe(11)
  for (let call = 0; call < 3; call++) expect(await failsFor(503)).toEqual([false, 'it answers 503'])
  expect(circuit.whyFailing()).toBe('it answers 503')
})

test('CIRCUIT-4 while calls rest, only the neutral one finds out whether the neighbour is back', async () => {
  const { clock, circuit, fails } = opened()
  for (let call = 0; call < 3; call++) await fails()
  const asked: string[] = []
  const call = async () => (asked.push('call'), { status: 200 })
  const neutral = async () => (asked.push('neutral'), { status: 300 })
  await expect(circuit.runFor(call, neutral)).rejects.toThrow(NotAsked)
  await clock.pass(500)
  expect([await circuit.runFor(call, neutral), circuit.whyFailing()]).toEqual([{ status: 200 }, null])
  expect(asked).toEqual(['neutral', 'call'])
})
