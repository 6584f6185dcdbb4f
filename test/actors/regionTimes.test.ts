/** How long actors are waited for, lent and kept where nobody says otherwise. */
import { expect, test } from 'vitest'
import { handClock, quiet } from '../support/lab.ts'
import { counter, door, key, openCounters } from './counters.ts'

const unavailable = (reason: string) => ({ ok: false, fault: { kind: 'unavailable', reason, retryAfterSeconds: 1 } })
/** What it has come to so far. */
const watched = <Value>(work: Promise<Value>) => {
  const seen: { value?: Value } = {}
  void work.then((value) => (seen.value = value))
  return seen
}

test('an answer is waited for 12 seconds', async () => {
  const [gate, clock] = [door(), handClock()]
  const { add, region } = openCounters({ beforeCommit: gate.pass }, {}, clock)
  const answer = watched(add(1, 'a'))
  await quiet()
  expect(gate.knocks()).toBe(1)
  await clock.pass(11_999)
  expect(answer).toEqual({})
  await clock.pass(1)
  expect(answer).toEqual({ value: unavailable('the journal does not answer') })
  gate.open()
  await Promise.all([region.stop(), clock.pass(100)])
})
test('a memory is lent for 10 seconds', async () => {
  const [gate, clock] = [door(), handClock()]
  const { addAll, count, region } = openCounters({ beforeCommit: gate.pass }, {}, clock)
  const late = addAll(5, 'a', 'b')
  await quiet()
  expect(gate.knocks()).toBe(1)
  const look = watched(count('a'))
  await clock.pass(9999)
  expect(look).toEqual({})
  await clock.pass(1)
  expect(look).toEqual({ value: 0 })
  gate.open()
  expect(await late).toEqual({ ok: true, value: 5 })
  await Promise.all([region.stop(), clock.pass(100)])
})
test('an actor is kept for a minute after it was used', async () => {
  const clock = handClock()
  const { count, region } = openCounters({}, {}, clock)
  await count('a')
  await clock.pass(59_999)
  expect([region.passivate(), region.has(key('a'))]).toEqual([0, true])
  await clock.pass(1)
  expect([region.passivate(), region.has(key('a')), region.passivate()]).toEqual([1, false, 0])
  expect(region.counts()).toEqual({ resident: 0, spawned: 1, passivated: 1 })
  await region.stop()
})
test('a stop waits as long as an answer is waited for, and no longer', async () => {
  const [gate, clock] = [door(), handClock()]
  const { add, region } = openCounters({ beforeCommit: gate.pass }, { askMs: 50 }, clock)
  void add(1, 'a')
  await quiet()
  expect(gate.knocks()).toBe(1)
  const stopped = watched(region.stop().then(() => 'stopped'))
  await clock.pass(49)
  expect(stopped).toEqual({})
  await clock.pass(1)
  await quiet()
  expect(stopped).toEqual({ value: 'stopped' })
  gate.open()
})
test('a region that has stopped refuses to read', async () => {
  const { count, region } = openCounters({}, {}, handClock())
  await count('a')
  await region.stop()
  expect(await region.readCached(counter, key('a'))).toEqual(unavailable('the journal does not answer'))
})
test('an actor can be killed while it is in memory', async () => {
  const { count, region } = openCounters({}, {}, handClock())
  await count('a')
  const kills = [region.kill(key('b')), region.kill(key('a')), region.kill(key('a'))]
  expect([kills, region.has(key('a'))]).toEqual([[false, true, false], false])
  await region.stop()
})
