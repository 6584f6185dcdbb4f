import { describe, expect, it } from 'vitest'
import { createChanges } from '../../src/actors/runtime/changes.ts'
import { type Draft, MOVED } from '../../src/actors/runtime/draft.ts'
import { transact } from '../../src/actors/runtime/transact.ts'
import { systemClock, systemIds } from '../../src/clock.ts'
import { handClock } from '../support/lab.ts'
import { counter, key, openCounters } from './counters.ts'

const portsOf = ({ units }: ReturnType<typeof openCounters>) => ({ units, clock: systemClock, ids: systemIds })
const add = (draft: Draft, name: string, by: number) => draft.decide(counter, key(name), { type: 'Add', by })

describe('a transaction', () => {
  it('decides for all participants in one append', async () => {
    const world = openCounters()
    const done = await transact(portsOf(world), {
      subject: 'the counters',
      cause: {},
      guess: async () => ({ ok: true, value: { keys: [key('a'), key('b')] } }),
      plan: (draft, { keys }) => {
        add(draft, 'a', 1)
        add(draft, 'b', 2)
        return keys.length
      },
    })
    expect(done).toEqual({ ok: true, value: 2 })
    expect([await world.count('a'), await world.count('b')]).toEqual([1, 2])
    expect(await world.journal.feed('', 10)).toHaveLength(2)
  })
  it('guesses anew when the plan finds other participants, and writes nothing before', async () => {
    const world = openCounters()
    const attempts: number[] = []
    const done = await transact(portsOf(world), {
      subject: 'the counters',
      cause: {},
      guess: async (attempt) => {
        attempts.push(attempt)
        return { ok: true, value: { keys: attempt < 2 ? [key('a')] : [key('a'), key('b')] } }
      },
      plan: (draft, { keys }) => {
        add(draft, 'a', 1)
        return keys.includes(key('b')) ? 'decided' : MOVED
      },
    })
    // what was decided before the plan noticed it is not written either
    expect(done).toEqual({ ok: true, value: 'decided' })
    expect(attempts).toEqual([0, 1, 2])
    expect(await world.count('a')).toBe(1)
  })
  it('names what keeps changing when its attempts are used up', async () => {
    const world = openCounters()
    let attempts = 0
    const done = await transact(portsOf(world), {
      subject: 'the inventory of host h1',
      cause: {},
      guess: async () => {
        attempts++
        return { ok: true, value: { keys: [key('a')] } }
      },
      plan: () => MOVED,
    })
    const fault = { kind: 'unavailable', reason: 'the inventory of host h1 keeps changing', retryAfterSeconds: 1 }
    expect(done).toEqual({ ok: false, fault })
    expect(attempts).toBe(4)
    expect(await world.journal.feed('', 10)).toEqual([])
  })
  it('ends with the fault of its guess or of a participant', async () => {
    const world = openCounters()
    const fault = { kind: 'not_found', resource: 'counter', id: 'a' } as const
    const base = { subject: 'the counters', cause: {} }
    const guess = async () => ({ ok: true, value: { keys: [key('a')] } }) as const
    const lost = await transact(portsOf(world), { ...base, guess: async () => ({ ok: false, fault }), plan: () => 1 })
    expect(lost).toEqual({ ok: false, fault })
    const refused = await transact(portsOf(world), { ...base, guess, plan: (draft) => add(draft, 'a', -1) })
    expect(refused).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
  })
  it('that is repeated under its command id is answered with null and not carried out again', async () => {
    const world = openCounters()
    const once = () =>
      transact(portsOf(world), {
        subject: 'the counters',
        cause: {},
        commandId: 'c1',
        guess: async () => ({ ok: true, value: { keys: [key('a')] } }),
        plan: (draft) => add(draft, 'a', 1).length,
      })
    expect(await once()).toEqual({ ok: true, value: 1 })
    expect(await once()).toEqual({ ok: true, value: null })
    expect(await world.count('a')).toBe(1)
  })
})

describe('who waits for a change', () => {
  it('is woken by an append to that entity, and not by one to another', async () => {
    const world = openCounters()
    const changes = createChanges(world.journal, systemClock)
    const woken: string[] = []
    const wait = (name: string) => changes.next(key(name), 60_000).then(() => woken.push(name))
    const waits = [wait('a'), wait('a'), wait('b')]
    await world.add(1, 'a')
    await Promise.all(waits.slice(0, 2))
    expect(woken).toEqual(['a', 'a'])
    changes.stop()
    await Promise.all(waits)
    expect(woken).toEqual(['a', 'a', 'b'])
  })
  it('is woken although another one has given up waiting for the same', async () => {
    const [clock, world] = [handClock(), openCounters()]
    const changes = createChanges(world.journal, clock)
    let woken = false
    const impatient = changes.next(key('a'), 500)
    void changes.next(key('a'), 60_000).then(() => (woken = true))
    await clock.pass(500)
    await impatient
    expect(woken).toBe(false)
    await world.add(1, 'a')
    await clock.pass(1)
    expect(woken).toBe(true)
  })
  it('waits no longer than it asked for', async () => {
    const clock = handClock()
    const changes = createChanges(openCounters().journal, clock)
    const waited = changes.next(key('a'), 500)
    let over = false
    void waited.then(() => (over = true))
    await clock.pass(499)
    expect(over).toBe(false)
    await clock.pass(1)
    expect(over).toBe(true)
  })
})
