/** LEASE: when its holder may rely on it, asks again, and gives it away. ASIDE: records that the bus refuses. */
import { describe, expect, test } from 'vitest'
import { commandIdOf } from '../../src/actors/runtime/commandId.ts'
import type { Sharing } from '../../src/actors/runtime/sharing.ts'
import { Unpublishable } from '../../src/bus/port.ts'
import { Leasehold } from '../../src/delivery/relay/lease.ts'
import { fitting, recordsOf } from '../../src/delivery/relay/records.ts'
import { SetAside } from '../../src/delivery/relay/setAside.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { MESSAGE_MAX_BYTES, deadLetterRecord, readDeadLetter } from '../../src/wire/message.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

type Lease = Awaited<ReturnType<Sharing['acquire']>>
const open = () => {
  const [clock, log] = [handClock(), memoryLog()]
  const began = clock.monotonic()
  const asked: unknown[] = []
  const store: { answer: () => Promise<Lease>; away: boolean } = {
    answer: async () => ({ epoch: 1 }),
    away: false,
  }
  let gained = 0
  const lease = new Leasehold({
    leaseMs: 5000,
    trustMs: 3500,
    renewMs: 1000,
    name: 'relay',
    holder: 'one',
    clock,
    log,
    gained: () => void gained++,
    sharing: {
      acquire: async (...given) => {
        asked.push([clock.monotonic() - began, 'acquire', ...given])
        return store.answer()
      },
      release: async (...given) => {
        asked.push([clock.monotonic() - began, 'release', ...given])
        if (store.away) throw new Error('away')
      },
    },
  })
  const since = () => clock.monotonic() - began
  const trusted = () => lease.trusted(lease.tenure)
  return { clock, log, asked, store, lease, trusted, since, gained: () => gained }
}
const acquiredAt = (...moments: readonly number[]) => moments.map((at) => [at, 'acquire', 'relay', 'one', 5000])
const messages = ({ said }: ReturnType<typeof memoryLog>) => said.map(({ level, message }) => `${level} ${message}`)

describe('a lease', () => {
  test('is asked for at once and then every second, and is trusted for 3.5 s from the moment of asking', async () => {
    const { clock, lease, asked, store, trusted, gained, log } = open()
    expect([lease.tenure, lease.trusted(null)]).toEqual([null, false])
    await lease.start()
    expect([lease.tenure, trusted(), gained()]).toEqual([{ epoch: 1 }, true, 1])
    await clock.pass(2000)
    expect(asked).toEqual(acquiredAt(0, 1000, 2000))
    // nothing answers any more: the time counts from the last question that was answered
    store.answer = () => new Promise(() => {})
    await clock.pass(3499)
    expect(trusted()).toBe(true)
    await clock.pass(1)
    expect([trusted(), gained(), asked.length]).toEqual([false, 1, 4])
    expect(log.said).toEqual([{ level: 'info', message: 'relay.leaseTaken', detail: { epoch: 1, holder: 'one' } }])
  })
  test('that is gained again after it was not trusted is told of, and one of another epoch is another tenure', async () => {
    const { clock, lease, store, trusted, gained } = open()
    await lease.start()
    const first = lease.tenure
    store.answer = async () => Promise.reject(new Error('away'))
    await clock.pass(5000)
    expect([trusted(), lease.tenure === first]).toEqual([false, true])
    store.answer = async () => ({ epoch: 1 })
    await clock.pass(1000)
    expect([trusted(), gained(), lease.tenure === first]).toEqual([true, 2, true])
    store.answer = async () => ({ epoch: 2 })
    await clock.pass(1000)
    expect([trusted(), lease.trusted(first), lease.tenure, gained()]).toEqual([true, false, { epoch: 2 }, 3])
    store.answer = async () => null
    await clock.pass(1000)
    expect([lease.tenure, trusted(), gained()]).toEqual([null, false, 3])
  })
  test('is asked for again at once where the answer took longer than a second, but not without a pause', async () => {
    const { clock, lease, store, asked } = open()
    await lease.start()
    const slow = Promise.withResolvers<Lease>()
    store.answer = () => slow.promise
    await clock.pass(1700)
    store.answer = async () => ({ epoch: 1 })
    slow.resolve({ epoch: 1 })
    await clock.pass(300)
    expect(asked).toEqual(acquiredAt(0, 1000, 2000))
    const slower = Promise.withResolvers<Lease>()
    store.answer = () => slower.promise
    await clock.pass(4000)
    store.answer = async () => ({ epoch: 1 })
    slower.resolve({ epoch: 1 })
    await clock.pass(99)
    expect(asked).toEqual(acquiredAt(0, 1000, 2000, 3000))
    await clock.pass(1)
    expect(asked.at(-1)).toEqual(acquiredAt(6100)[0])
  })
  test('that cannot be asked for is noted once, until it could be asked for again', async () => {
    const { clock, lease, store, log } = open()
    await lease.start()
    for (let round = 0; round < 2; round++) {
      store.answer = async () => Promise.reject(new Error('away'))
      await clock.pass(3000)
      store.answer = async () => ({ epoch: 1 })
      await clock.pass(1000)
    }
    expect(messages(log)).toEqual(['info relay.leaseTaken', 'warn relay.leaseUnanswered', 'warn relay.leaseUnanswered'])
    expect(log.said[1]!.detail).toEqual({ reason: 'away' })
  })
  test('whose first question fails is not asked for again, and can be begun anew', async () => {
    const { clock, lease, store, asked } = open()
    store.answer = async () => Promise.reject(new Error('away'))
    await expect(lease.start()).rejects.toThrow('away')
    await lease.stop()
    await clock.pass(5000)
    expect(asked).toEqual(acquiredAt(0))
    store.answer = async () => null
    await lease.start()
    await clock.pass(1000)
    expect(asked).toEqual(acquiredAt(0, 5000, 6000))
    await lease.stop()
    await clock.pass(5000)
    expect(asked, 'what was not held is not given away').toHaveLength(3)
  })
  test('is given away at a stop, after a question that is under way, and not asked for any more', async () => {
    const { clock, lease, store, asked } = open()
    await lease.start()
    const answered = Promise.withResolvers<Lease>()
    store.answer = () => answered.promise
    await clock.pass(1000)
    const stopped = lease.stop()
    await quiet()
    expect(asked).toEqual(acquiredAt(0, 1000))
    answered.resolve({ epoch: 1 })
    await stopped
    await lease.stop()
    await clock.pass(5000)
    expect(asked).toEqual([...acquiredAt(0, 1000), [1000, 'release', 'relay', 'one']])
    expect(lease.tenure).toBe(null)
  })
  test('that cannot be given away is noted, and is over all the same', async () => {
    const { lease, store, log } = open()
    await lease.start()
    store.away = true
    await lease.stop()
    expect([lease.tenure, log.said.at(-1)]).toEqual([
      null,
      { level: 'warn', message: 'relay.notReleased', detail: { reason: 'away' } },
    ])
  })
  test('is left to others for a while by one that steps aside', async () => {
    const { clock, lease, asked } = open()
    await lease.start()
    await clock.pass(1500)
    lease.stepAside(2500)
    await quiet()
    expect([lease.tenure, asked.at(-1)]).toEqual([null, [1500, 'release', 'relay', 'one']])
    await clock.pass(2499)
    expect(asked).toHaveLength(3)
    await clock.pass(1)
    expect(asked.at(-1)).toEqual(acquiredAt(4000)[0])
  })
  test('that the store says is lost is lost only if it is the present one', async () => {
    const { clock, lease, store } = open()
    await lease.start()
    const first = lease.tenure!
    store.answer = async () => ({ epoch: 2 })
    await clock.pass(1000)
    lease.lost(first)
    expect(lease.tenure).toEqual({ epoch: 2 })
    lease.lost(lease.tenure!)
    expect(lease.tenure).toBe(null)
  })
})

describe('records that the bus refuses', () => {
  const record = (n: number): BusRecord => ({ topic: 't', key: `k${n}`, value: `${n}`, headers: {} })
  const openAside = (refuses: (batch: readonly BusRecord[]) => Error | null, stuckAfterMs = 1000) => {
    const [clock, log] = [handClock(), memoryLog()]
    const sent: string[] = []
    const publish = async (batch: readonly BusRecord[]) => {
      const error = refuses(batch)
      if (error !== null) throw error
      sent.push(...batch.map(({ topic, value }) => (topic === 't' ? value : topic)))
    }
    return { clock, log, sent, aside: new SetAside({ bus: { publish }, clock, log, stuckAfterMs }) }
  }
  const never = (batch: readonly BusRecord[]) =>
    batch.some(({ value }) => value === '2') ? new Unpublishable('no') : null
  test('ASIDE-1 become dead letters, and the others are published, in order', async () => {
    const { aside, sent, log } = openAside(never)
    expect(await aside.publish([record(1), record(2), record(3)], () => true)).toBe(true)
    expect([sent, aside.count]).toEqual([['1', 'dead-letters.v1', '3'], 1])
    const detail = { topic: 't', key: 'k2', reason: 'the bus does not take it: no' }
    expect(log.said).toEqual([{ level: 'error', message: 'relay.setAside', detail }])
  })
  test('ASIDE-1 become dead letters that are known again by their topic, key and content', async () => {
    const letters: (readonly BusRecord[])[] = []
    const clock = handClock()
    const publish = async (batch: readonly BusRecord[]) => {
      if (batch.some(({ topic }) => topic === 't')) throw new Unpublishable('no')
      letters.push(batch)
    }
    const aside = new SetAside({ bus: { publish }, clock, log: memoryLog(), stuckAfterMs: 1000 })
    await aside.publish([record(2)], () => true)
    const meta = { id: `t/k2/${commandIdOf('2')}`, time: clock.now() }
    expect(letters).toEqual([[deadLetterRecord(record(2), 'the bus does not take it: no', meta)]])
  })
  test('are left where the lease is no longer trusted', async () => {
    const { aside, sent } = openAside(never)
    let left = 1
    expect(await aside.publish([record(1), record(2), record(3)], () => left-- > 0)).toBe(false)
    expect([sent, aside.count]).toEqual([['1'], 0])
  })
  test('ASIDE-2 count as refused for good only after they have failed for long without a break', async () => {
    let isAway = true
    const { aside, clock, sent } = openAside(() => (isAway ? new Error('away') : null))
    const publish = () => aside.publish([record(1)], () => true)
    await expect(publish()).rejects.toThrow('away')
    await clock.pass(999)
    await expect(publish()).rejects.toThrow('away')
    isAway = false
    expect([await publish(), sent]).toEqual([true, ['1']])
    isAway = true
    await clock.pass(1)
    await expect(publish(), 'the time has begun anew').rejects.toThrow('away')
    await clock.pass(1000)
    isAway = false
    expect(await publish()).toBe(true)
    expect([aside.count, await aside.publish([], () => false)]).toEqual([0, true])
  })
  test('ASIDE-1 are not set aside by an outage that takes their dead letters as well', async () => {
    const { aside } = openAside(() => new Unpublishable('all'))
    await expect(aside.publish([record(1)], () => true)).rejects.toThrow('all')
    expect(aside.count).toBe(0)
  })
})

describe('RELAY-4 a message that no bus takes', () => {
  const mark = { key: 'arq/a', version: 4, at: 7, position: '9' }
  const row = { ...mark, commandId: 'c', events: [], cause: {} }
  const record = (value: string): BusRecord => ({ topic: 't', key: 'k', value, headers: {} })
  test('is one that is too long, in bytes', () => {
    const log = memoryLog()
    const whole = record('x'.repeat(MESSAGE_MAX_BYTES))
    expect(fitting(whole, mark, log)).toBe(whole)
    const wide = record('é'.repeat(MESSAGE_MAX_BYTES / 2 + 1))
    const reason = `a message of ${MESSAGE_MAX_BYTES + 2} bytes, more than ${MESSAGE_MAX_BYTES}`
    expect(fitting(wide, mark, log)).toEqual(
      deadLetterRecord(wide, reason, { id: 'arq/a/4/dead', time: 7, position: '9' }),
    )
    const detail = { key: 'arq/a', version: 4, position: '9', reason }
    expect(log.said).toEqual([{ level: 'error', message: 'relay.untold', detail }])
  })
  test('or what could not be made of a row, which is told whole', () => {
    const log = memoryLog()
    const fails = () => {
      throw new Error('odd')
    }
    const [dead, ...others] = recordsOf(row, fails, log)
    expect(others).toEqual([])
    expect(readDeadLetter(dead!)).toEqual({
      ok: true,
      value: {
        id: 'arq/a/4/dead',
        body: { topic: 'journal', key: 'arq/a', value: JSON.stringify(row), headers: {}, reason: 'reaction: odd' },
      },
    })
    expect(recordsOf(row, () => [record('1'), record('2')], log)).toEqual([record('1'), record('2')])
  })
})
