/** A start waits until what its hosts have reported is recorded, but not for ever. */
import { expect, test } from 'vitest'
import { recorded } from '../../src/cli/programs/start.ts'
import { done, refuse } from '../../src/fault.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const HOSTS = [
  { name: 'h1', bootId: 'b1' },
  { name: 'h2', bootId: 'b2' },
]
const waiting = () => {
  const [clock, log] = [handClock(), memoryLog()]
  const seen = { boots: [] as readonly string[] | null, asked: 0, ended: false }
  const list = async () => {
    seen.asked++
    return seen.boots === null
      ? refuse({ kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 })
      : done({ items: seen.boots.map((boot) => ({ boot_id: boot })) })
  }
  void recorded({ hosts: { list } } as never, HOSTS, log, clock).then(() => (seen.ended = true))
  return { clock, log, seen }
}

test('it ends as soon as the present start of each host is recorded', async () => {
  const { clock, log, seen } = waiting()
  await clock.pass(9)
  expect(seen).toMatchObject({ asked: 1, ended: false })
  seen.boots = ['b1', 'an earlier start of h2']
  await clock.pass(11)
  expect(seen).toMatchObject({ asked: 3, ended: false })
  seen.boots = ['b2', 'other', 'b1']
  await clock.pass(10)
  expect(seen).toMatchObject({ asked: 4, ended: true })
  expect(log.said).toEqual([])
})
test.each([
  ['a host that is not recorded', ['b1'], ['h2']],
  ['a store that cannot be read', null, ['h1', 'h2']],
])('it goes on after ten seconds, and names them: %s', async (_, boots, hosts) => {
  const { clock, log, seen } = waiting()
  seen.boots = boots
  await clock.pass(9999)
  expect([seen.ended, log.said]).toEqual([false, []])
  await clock.pass(1)
  expect(seen.ended).toBe(true)
  const message = 'ready before the first inventory of these hosts is recorded'
  expect(log.said).toEqual([{ level: 'warn', detail: { hosts }, message }])
})
