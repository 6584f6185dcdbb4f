import { describe, expect, it } from 'vitest'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { until } from '../support/lab.ts'
import { counter, adding, door, key, openCounters } from './counters.ts'

const SHORT = { askMs: 300, holdMs: 100 }
const unavailable = { ok: false, fault: { kind: 'unavailable' } }

describe('an actor', () => {
  it('carries out commands one after the other and remembers', async () => {
    const { add, count, region } = openCounters()
    expect(await Promise.all([add(1, 'a'), add(2, 'a'), add(3, 'a')])).toMatchObject([
      { value: 1 },
      { value: 3 },
      { value: 6 },
    ])
    expect(await count('a')).toBe(6)
    await region.stop()
  })
  it('is another one for a key that differs only in a character that actor names may not contain', async () => {
    const { add, count, region } = openCounters()
    const ids = Array.from({ length: 100 }, (_, n) => `a${String.fromCodePoint(0x100 + n)}b`)
    await Promise.all(ids.map((id, n) => add(n, id)))
    expect(await Promise.all(ids.map(count))).toEqual(ids.map((_, n) => n))
    await region.stop()
  })
  it('refuses and records nothing', async () => {
    const { add, journal, region } = openCounters()
    expect(await add(-1, 'a')).toMatchObject({ ok: false, fault: { kind: 'conflict', reason: '0 and -1' } })
    expect(await journal.feed('', 10)).toEqual([])
    await region.stop()
  })
  it('answers a repeated command and does not carry it out again', async () => {
    const { region, count } = openCounters()
    const work = adding(5, 'a')
    expect(await region.tell(key('a'), work)).toEqual({ ok: true, value: 5 })
    expect(await region.tell(key('a'), work)).toEqual({ ok: true, value: null })
    expect(await count('a')).toBe(5)
    await region.stop()
  })
  it('answers a command that was repeated long after, by the journal', async () => {
    const { region, add, count } = openCounters()
    const work = adding(5, 'a')
    await region.tell(key('a'), work)
    for (let n = 0; n < 40; n++) await add(1, 'a')
    expect(await region.tell(key('a'), work)).toEqual({ ok: true, value: null })
    expect(await count('a')).toBe(45)
    await region.stop()
  })
  it('whose name has odd characters is an actor like any other', async () => {
    const { add, count, region } = openCounters()
    for (const name of ['a/b', 'a.b', 'a$2f.b', 'ä 中', '😀', '']) await add(1, name)
    for (const name of ['a/b', 'a.b', 'a$2f.b', 'ä 中', '😀', '']) expect(await count(name)).toBe(1)
    await region.stop()
  })
  it('killed in the middle of an append is answered, and the next one sees what was written', async () => {
    const gate = door()
    const { add, region, count } = openCounters({ beforeCommit: gate.pass })
    const answer = add(1, 'a')
    await until(() => gate.knocks() === 1)
    expect(region.kill(key('a'))).toBe(true)
    expect(await answer).toMatchObject(unavailable)
    gate.open()
    expect(await count('a')).toBe(1)
    await region.stop()
  })
  it('killed in the middle of an append does not mislead the next one that read before it was written', async () => {
    const gate = door()
    const { add, region, count } = openCounters({ beforeCommit: gate.pass })
    const answer = add(1, 'a')
    await until(() => gate.knocks() === 1)
    region.kill(key('a'))
    await answer
    expect(await count('a')).toBe(0)
    gate.open()
    await until(() => region.residents().length === 1)
    await expect.poll(() => count('a')).toBe(1)
    expect(await add(-1, 'a')).toMatchObject({ ok: true })
    await region.stop()
  })
  it('that cannot be read is answered, and the next one tries again', async () => {
    let broken = true
    const { add, crashes, region } = openCounters({
      beforeRead: async () => {
        if (broken) throw new Error('no connection')
      },
    })
    expect(await add(1, 'a')).toMatchObject(unavailable)
    expect(crashes).toEqual([key('a')])
    broken = false
    expect(await add(1, 'a')).toMatchObject({ ok: true, value: 1 })
    await region.stop()
  })
  it('whose journal can never be read is answered as broken, not told to come again', async () => {
    const { add, region } = openCounters({
      beforeRead: () => Promise.reject(new Unreadable('the journal is damaged', { permanent: true })),
    })
    const broken = { ok: false, fault: { kind: 'broken', reason: 'the journal is damaged' } }
    expect(await add(1, 'a')).toMatchObject(broken)
    expect(await region.readCurrent(counter, key('a'))).toMatchObject(broken)
    await region.stop()
  })
  it('with a bug in its plan is stopped; whoever waits is answered, and the next one is sound', async () => {
    const { region, add, crashes } = openCounters()
    const bad = { ...adding(1, 'a'), plan: () => [].at(0)!['x'] }
    const answers = await Promise.all([region.tell(key('a'), bad), add(1, 'a')])
    expect(answers).toMatchObject([unavailable, unavailable])
    expect(crashes).toHaveLength(1)
    expect(await add(1, 'a')).toMatchObject({ ok: true, value: 1 })
    await region.stop()
  })
  it('is looked at once by all who ask before it comes to it, and again by whoever asks later', async () => {
    let reads = 0
    const { region, count } = openCounters({ exclusive: false, beforeRead: async () => void reads++ })
    await count('a')
    reads = 0
    expect(await Promise.all([count('a'), count('a'), count('a')])).toEqual([0, 0, 0])
    expect(reads).toBe(1)
    await count('a')
    expect(reads).toBe(2)
    expect(await region.readCached(counter, key('a'))).toMatchObject({ ok: true })
    expect(reads).toBe(2)
    await region.stop()
  })
  it('that could not answer a look in time is asked anew by whoever comes then', async () => {
    const gate = door()
    const { add, count, region } = openCounters({ beforeCommit: gate.pass }, SHORT)
    void add(1, 'a')
    const early = count('a')
    expect(await early).toBe('unavailable')
    const late = count('a')
    gate.open()
    expect(await late).toBe(1)
    await region.stop()
  })
  it('is not asked any more once the region has stopped', async () => {
    const { region, add, count } = openCounters()
    await add(1, 'a')
    await region.stop()
    expect(await count('a')).toBe('unavailable')
    expect(await add(1, 'a')).toMatchObject(unavailable)
  })
})

describe('a region', () => {
  it('stops who is idle, and nobody who has work', async () => {
    const gate = door()
    const { add, region } = openCounters({ beforeCommit: gate.pass }, { idleMs: 0 })
    const answer = add(1, 'a')
    await region.readCurrent(counter, key('b'))
    await until(() => gate.knocks() === 1)
    expect(region.passivate()).toBe(1)
    expect(region.residents()).toEqual([key('a')])
    gate.open()
    await answer
    await region.stop()
  })
  it('stops the longest idle first when there are too many', async () => {
    const { count, region } = openCounters({}, { residentMax: 2 })
    for (const name of ['a', 'b', 'c', 'd']) {
      await count(name)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(region.passivate()).toBe(2)
    expect(region.residents()).toEqual([key('c'), key('d')])
    await region.stop()
  })
  it('loses nothing when actors are stopped in the middle of traffic', async () => {
    const { add, count, region } = openCounters({}, { idleMs: 0 })
    const names = ['a', 'b', 'c', 'd', 'e']
    const stopping = setInterval(() => region.passivate(), 0)
    const work = Array.from({ length: 500 }, async (_, n) => {
      await new Promise((resolve) => setTimeout(resolve, n % 40))
      return add(1, names[n % 5]!)
    })
    const answers = await Promise.all(work)
    clearInterval(stopping)
    expect(answers.filter(({ ok }) => !ok)).toEqual([])
    expect(await Promise.all(names.map(count))).toEqual([100, 100, 100, 100, 100])
    await region.stop()
  })
  it('waits for what is in hand when it stops', async () => {
    const gate = door()
    const { add, region } = openCounters({ beforeCommit: gate.pass })
    const answer = add(1, 'a')
    await until(() => gate.knocks() === 1)
    const stopped = region.stop()
    gate.open()
    await stopped
    expect(await answer).toMatchObject({ ok: true, value: 1 })
  })
  it('answers in time although an actor does not', async () => {
    const gate = door()
    const { add, region } = openCounters({ beforeCommit: gate.pass }, SHORT)
    expect(await add(1, 'a')).toMatchObject(unavailable)
    gate.open()
    await region.stop()
  })
})
