import { describe, expect, it } from 'vitest'
import type { Append } from '../../src/actors/runtime/ports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, until } from '../support/lab.ts'
import { adding, counter, door, key, openCounters, createRegion } from './counters.ts'

const SHORT = { askMs: 300, holdMs: 100 }
const unavailable = { ok: false, fault: { kind: 'unavailable' } }
const rowsOf = async ({ journal }: Pick<ReturnType<typeof openCounters>, 'journal'>) =>
  (await journal.feed('', 10_000)).length
const lose = (times: number) => async () => {
  if (times-- > 0) throw new Error('connection lost')
}

describe('a unit', () => {
  it('decides for all in one append', async () => {
    const appends: Append[] = []
    const { addAll, count, region } = openCounters({ beforeCommit: async (append) => void appends.push(append) })
    expect(await addAll(2, 'b', 'a')).toEqual({ ok: true, value: 2 })
    expect(appends.map(({ rows }) => rows.map((row) => row.key))).toEqual([[key('a'), key('b')]])
    expect([await count('a'), await count('b')]).toEqual([2, 2])
    await region.stop()
  })
  it('writes nothing when one of them refuses', async () => {
    const { add, addAll, region, journal } = openCounters()
    await add(3, 'a')
    expect(await addAll(-1, 'a', 'b')).toMatchObject({ ok: false, fault: { kind: 'conflict', reason: '0 and -1' } })
    expect(await rowsOf({ journal })).toBe(1)
    await region.stop()
  })
  it('that was carried out is answered and not carried out again', async () => {
    const { units, count, region } = openCounters()
    const work = adding(1, 'a', 'b')
    expect(await units.together([key('a'), key('b')], work)).toEqual({ ok: true, value: 1 })
    expect(await units.together([key('a'), key('b')], work)).toEqual({ ok: true, value: null })
    expect(await count('b')).toBe(1)
    await region.stop()
  })
  it('whose borrow times out has written nothing, and holds nobody longer than its time', async () => {
    const gate = door()
    const world = openCounters(
      { beforeCommit: ({ rows }) => (rows.length === 1 ? gate.pass() : Promise.resolve()) },
      SHORT,
    )
    const slow = world.add(1, 'a')
    await until(() => gate.knocks() === 1)
    expect(await world.addAll(1, 'a', 'b')).toMatchObject(unavailable)
    expect(await slow).toMatchObject(unavailable)
    gate.open()
    await expect.poll(() => world.count('a')).toBe(1)
    expect(await world.count('b')).toBe(0)
    expect(await rowsOf(world)).toBe(1)
    expect(await world.addAll(1, 'a', 'b')).toMatchObject({ ok: true })
    await world.region.stop()
  })
  it('that outlives the hold is still seen by all who lent (S7)', async () => {
    const gate = door()
    const world = openCounters(
      { beforeCommit: ({ rows }) => (rows.length === 2 ? gate.pass() : Promise.resolve()) },
      SHORT,
    )
    const late = world.addAll(5, 'a', 'b')
    await until(() => gate.knocks() === 1)
    expect(await world.count('a')).toBe(0)
    gate.open()
    expect(await late).toMatchObject({ ok: true })
    expect([await world.count('a'), await world.count('b')]).toEqual([5, 5])
    expect(await world.add(-5, 'a')).toMatchObject({ ok: true })
    await world.region.stop()
  })
  it.each(['outlives the hold', 'loses its lender'])('that %s is seen as soon as it is written (S7)', async (how) => {
    const [before, after] = [door(), door()]
    const world = openCounters({ beforeCommit: before.pass, afterCommit: after.pass }, { ...SHORT, askMs: 5000 })
    const late = world.addAll(5, 'a', 'b')
    await until(() => before.knocks() === 1)
    if (how === 'loses its lender') world.region.kill(key('a'))
    expect(await world.count('a')).toBe(0)
    before.open()
    await until(() => after.knocks() === 1)
    expect(await world.count('a')).toBe(5)
    after.open()
    expect(await late).toMatchObject({ ok: true })
    await world.region.stop()
  })
  it('whose lender is killed meanwhile is seen by the lender’s successor', async () => {
    const gate = door()
    const world = openCounters({ beforeCommit: gate.pass })
    const unit = world.addAll(5, 'a', 'b')
    await until(() => gate.knocks() === 1)
    world.region.kill(key('a'))
    expect(await world.count('a')).toBe(0)
    gate.open()
    expect(await unit).toMatchObject({ ok: true })
    expect(await world.count('a')).toBe(5)
    await world.region.stop()
  })
  it.each([
    {
      how: 'in opposite order',
      orders: [
        ['a', 'b'],
        ['b', 'a'],
      ],
    },
    {
      how: 'over a ring',
      orders: [
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'a'],
      ],
    },
  ])('beside units $how never stops them', async ({ orders }) => {
    const world = openCounters()
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, n) => world.addAll(1, ...orders[n % orders.length]!)),
    )
    expect(answers.filter(({ ok }) => !ok)).toEqual([])
    expect(await world.count('a')).toBe(orders.length === 2 ? 300 : 200)
    await world.region.stop()
  })
  it('takes a key it was given twice once', async () => {
    const { addAll, count, region } = openCounters()
    expect(await addAll(1, 'a', 'a')).toEqual({ ok: true, value: 2 })
    expect(await count('a')).toBe(2)
    await region.stop()
  })
  it('with a bug gives everything back', async () => {
    const { units, add, region } = openCounters()
    const bad = { ...adding(1, 'a'), plan: () => { throw new RangeError('a bug') } } // prettier-ignore
    await expect(units.together([key('a')], bad)).rejects.toThrow('a bug')
    await expect(units.together([key('a')], adding(1, 'b'))).rejects.toThrow('did not borrow it')
    expect(await add(1, 'a')).toMatchObject({ ok: true, value: 1 })
    await region.stop()
  })
  it('takes what is likely new for new, and is put right by the fence when it is not', async () => {
    const { journal } = memoryStore({ exclusive: false })
    const [one, other] = [createRegion(journal), createRegion(journal)]
    const keys = [key('a'), key('b')]
    const likely = (world: typeof one, by: number) => world.units.together(keys, adding(by, 'a', 'b'), [], [key('b')])
    expect(await likely(one, 3)).toEqual({ ok: true, value: 3 })
    expect(await likely(other, 4)).toEqual({ ok: true, value: 7 })
    expect(await likely(other, 0)).toEqual({ ok: true, value: 7 })
    expect(await likely(createRegion(journal), -8)).toMatchObject({ ok: false, fault: { reason: '7 and -8' } })
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('that takes a known entity for new, alone on its store, refuses nothing and repeats nothing by that', async () => {
    const store = memoryStore()
    const first = createRegion(store.journal)
    await first.addAll(5, 'a')
    await first.region.stop()
    const next = createRegion(store.journal)
    expect(await next.units.together([key('a')], adding(-5, 'a'), [], [key('a')])).toEqual({ ok: true, value: 0 })
    expect(await next.count('a')).toBe(0)
    await next.region.stop()
  })
  it('plants what nobody can know, and its actors start with what was written', async () => {
    let reads = 0
    const { units, count, region } = openCounters({ beforeRead: async () => void reads++ })
    expect(await units.createTogether([key('a'), key('b')], adding(4, 'a', 'b'))).toEqual({ ok: true, value: 4 })
    expect([await count('a'), await count('b')]).toEqual([4, 4])
    expect(reads).toBe(0)
    await region.stop()
  })
})

describe('an acknowledgement that is lost', () => {
  it('after the commit is found in the tail, with the value it had', async () => {
    const { addAll, add, count, region, journal } = openCounters({ afterCommit: lose(2) })
    expect(await addAll(1, 'a', 'b')).toEqual({ ok: true, value: 1 })
    expect(await add(1, 'a')).toEqual({ ok: true, value: 2 })
    expect(await count('a')).toBe(2)
    expect(await rowsOf({ journal })).toBe(3)
    await region.stop()
  })
  it('before the commit is answered as not done, and nothing was', async () => {
    const { addAll, count, region } = openCounters({ beforeCommit: lose(1) })
    expect(await addAll(1, 'a', 'b')).toMatchObject(unavailable)
    expect(await count('a')).toBe(0)
    expect(await addAll(1, 'a', 'b')).toEqual({ ok: true, value: 1 })
    await region.stop()
  })
  it('while the store cannot be read either is answered as not known, and the truth is read later', async () => {
    const [lost, broken] = [lose(1), { now: false }]
    const beforeRead = async () => {
      if (broken.now) throw new Error('no connection')
    }
    const afterCommit = async () => {
      await lost().catch((error: unknown) => {
        broken.now = true
        throw error
      })
    }
    const { addAll, count, region } = openCounters({ afterCommit, beforeRead })
    expect(await addAll(1, 'a', 'b')).toMatchObject(unavailable)
    broken.now = false
    expect([await count('a'), await count('b')]).toEqual([1, 1])
    await region.stop()
  })
  it('of what was planted, while the store cannot be read either, is answered as not known', async () => {
    const gone = (): Promise<never> => Promise.reject(new Error('no connection'))
    const { units, region } = openCounters({ afterCommit: gone, beforeRead: gone })
    expect(await units.createTogether([key('a')], adding(1, 'a'))).toMatchObject(unavailable)
    await region.stop()
  })
  it('of a journal that is full or closed is one answer at once: nothing was sent', async () => {
    let reads = 0
    const { add, count, region, journal } = openCounters({ beforeRead: async () => void reads++ })
    await count('a')
    await journal.close()
    expect(await add(1, 'a')).toMatchObject(unavailable)
    expect(reads).toBe(1)
    await region.stop()
  })
})

describe('an entity in doubt, because a borrower writes although its time is over', () => {
  /** The first append is stored only when the actor has taken its memory back, and its writer is told later still. */
  const overdue = async () => {
    const [store, told] = [door(), door()]
    let [begun, stored] = [0, 0]
    const counters = openCounters(
      {
        beforeCommit: async () => {
          if (begun++ === 0) await store.pass()
        },
        afterCommit: async () => {
          if (stored++ === 0) await told.pass()
        },
      },
      { holdMs: 30, askMs: 5000 },
    )
    const late = counters.addAll(5, 'a', 'b')
    await until(() => store.knocks() === 1)
    // answered when the borrower's time is over
    expect(await counters.count('a')).toBe(0)
    store.open()
    await until(() => stored > 0)
    return { ...counters, late, told }
  }
  it('refuses nothing on the memory of before', async () => {
    const { add, late, told, region } = await overdue()
    expect(await add(-5, 'a')).toEqual({ ok: true, value: 0 })
    told.open()
    await late
    await region.stop()
  })
  it('does not take a command for done on the memory of before', async () => {
    const { late, told, region, units } = await overdue()
    const work = adding(0, 'b')
    const plan: typeof work.plan = (draft) => {
      const { count } = draft.state(counter, key('b'))
      if (count > 0) draft.decide(counter, key('b'), { type: 'Add', by: -count })
      return count
    }
    expect(await units.together([key('b')], { ...work, plan })).toEqual({ ok: true, value: 5 })
    told.open()
    await late
    await region.stop()
  })
  it('is shown as it is, also to who waited while the doubt ended', async () => {
    const { late, told, region, add, addAll, count } = await overdue()
    const waiting = [addAll(-1, 'a'), add(-1, 'a'), count('a')]
    told.open()
    expect(await Promise.all(waiting)).toEqual([{ ok: true, value: 4 }, { ok: true, value: 3 }, 3])
    await late
    expect(await count('a')).toBe(3)
    await region.stop()
  })
})

describe('work whose caller was answered that it was not done', () => {
  it('is not done afterwards by an actor that comes to it late', async () => {
    const gate = door()
    const clock = handClock()
    const { add, count, region } = openCounters({ beforeCommit: gate.pass }, SHORT, clock)
    const [first, second] = [add(1, 'a'), add(10, 'a')]
    await until(() => gate.knocks() === 1)
    await clock.pass(SHORT.askMs)
    expect([await first, await second]).toMatchObject([unavailable, unavailable])
    gate.open()
    await until(() => region.counts().resident === 1)
    // the append that was under way is written, the one behind it is not even begun
    expect(await count('a')).toBe(1)
    expect(gate.knocks()).toBe(1)
    await region.stop()
  })
  it('is not done by a unit after its time', async () => {
    const { units, count, region } = openCounters()
    const late = { ...adding(1, 'a', 'b'), notAfter: performance.now() - 1 }
    expect(await units.together([key('a'), key('b')], late)).toMatchObject(unavailable)
    expect(await units.together([key('a'), key('b')], { ...late, notAfter: performance.now() + 10_000 })).toEqual({
      ok: true,
      value: 1,
    })
    expect(await count('a')).toBe(1)
    await region.stop()
  })
})

describe('two processes over one journal', () => {
  const pair = () => {
    const { journal } = memoryStore({ exclusive: false })
    return [createRegion(journal), createRegion(journal)] as const
  }
  it('both write, and the fence makes them agree', async () => {
    const [one, other] = pair()
    const work = Array.from({ length: 200 }, (_, n) => (n % 2 ? one : other).addAll(1, 'a', n % 3 ? 'b' : 'c'))
    expect((await Promise.all(work)).filter(({ ok }) => !ok)).toEqual([])
    expect([await one.count('a'), await other.count('a')]).toEqual([200, 200])
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('refuse nothing on what is no longer so', async () => {
    const [one, other] = pair()
    expect(await other.count('a')).toBe(0)
    await one.add(5, 'a')
    expect(await other.add(-5, 'a')).toMatchObject({ ok: true, value: 0 })
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('accept nothing as done already on what is no longer so', async () => {
    const [one, other] = pair()
    const isThree = { commandId: crypto.randomUUID(), at: 1, cause: {} }
    const plan = (draft: Parameters<ReturnType<typeof adding>['plan']>[0]) => {
      const { count } = draft.state(counter, key('a'))
      if (count !== 3) draft.decide(counter, key('a'), { type: 'Add', by: 3 - count })
      return draft.state(counter, key('a')).count
    }
    await one.region.tell(key('a'), { ...isThree, plan })
    await other.add(4, 'a')
    expect(await one.region.tell(key('a'), { ...isThree, commandId: crypto.randomUUID(), plan })).toMatchObject({
      value: 3,
    })
    expect(await other.count('a')).toBe(3)
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('decide for one by the state of another only when that is what is recorded', async () => {
    const [one, other] = pair()
    await one.add(1, 'a')
    await other.add(1, 'a')
    const copy = adding(0, 'a', 'b')
    const plan: typeof copy.plan = (draft) => {
      const { count } = draft.state(counter, key('a'))
      draft.decide(counter, key('b'), { type: 'Add', by: count })
      return count
    }
    expect(await one.units.together([key('a'), key('b')], { ...copy, plan })).toEqual({ ok: true, value: 2 })
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('read what one of them does not know with all it may know wrongly, at once, and meet no fence', async () => {
    let reads = 0
    const { journal } = memoryStore({ exclusive: false, beforeRead: async () => void reads++ })
    const [one, other] = [createRegion(journal), createRegion(journal)]
    await one.add(1, 'a')
    await other.addAll(1, 'a', 'b')
    reads = 0
    expect(await one.addAll(-2, 'a', 'c')).toMatchObject({ ok: false, fault: { reason: '0 and -2' } })
    expect(await one.addAll(1, 'b', 'a')).toEqual({ ok: true, value: 3 })
    expect([reads, one.counts.fences]).toEqual([2, 0])
    await Promise.all([one.region.stop(), other.region.stop()])
  })
  it('carry out a command that both were given once', async () => {
    const [one, other] = pair()
    const work = adding(1, 'a', 'b')
    const both = await Promise.all([one, other].map(({ units }) => units.together([key('a'), key('b')], work)))
    expect(both.every(({ ok }) => ok)).toBe(true)
    expect(await one.count('a')).toBe(1)
    await Promise.all([one.region.stop(), other.region.stop()])
  })
})

describe('recovery', () => {
  it('from a snapshot and its tail is the same as from all rows, and reads only the tail', async () => {
    const store = memoryStore()
    const first = createRegion(store.journal)
    for (let n = 0; n < 700; n++) await first.add(1, 'a')
    await first.region.stop()
    const recalled = (await store.journal.recall([{ key: key('a'), after: 0 }])).get(key('a'))!
    expect(recalled.snapshot).toMatchObject({ version: 512 })
    expect(recalled.rows).toHaveLength(700 - 512)
    const second = createRegion(store.journal)
    const looked = await second.region.readCurrent(counter, key('a'))
    expect(looked).toMatchObject({ value: { state: { count: 700 }, version: 700 } })
    expect(await second.add(1, 'a')).toMatchObject({ value: 701 })
    await second.region.stop()
  })
  it('still knows the commands before the snapshot', async () => {
    const store = memoryStore()
    const first = createRegion(store.journal)
    for (let n = 0; n < 255; n++) await first.add(1, 'a')
    const work = adding(1, 'a')
    await first.region.tell(key('a'), work)
    await first.region.stop()
    const second = createRegion(store.journal)
    expect(await second.region.tell(key('a'), work)).toEqual({ ok: true, value: null })
    expect(await second.count('a')).toBe(256)
    await second.region.stop()
  })
})
