/**
 * What every store must do with journals of what ended (ARCHIVE-1 to ARCHIVE-3), under a control plane that goes on.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import type { Store } from '../../src/persistence/store.ts'
import { type Cloud, FPGA, NOVA, openCloud, value } from '../actors/cloud.ts'
import { expectRebuilt } from '../actors/rebuilt.ts'
import { handClock } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import type { Opened } from './journal.contract.ts'

const DAY = 86_400_000
const YEAR = 365 * DAY
const LATER = 8_000_000_000_000

const allOf = async ({ archiveEnded }: Store, before = LATER, limit = 7): Promise<number> => {
  const { rows, more } = await archiveEnded({ before, limit })
  return more ? rows + (await allOf({ archiveEnded } as Store, before, limit)) : rows
}
const fedKeys = async ({ journal }: Store): Promise<ReadonlySet<string>> =>
  new Set((await journal.feed('', 1000)).map(({ key }) => key))
const markPublished = async (store: Store): Promise<void> =>
  store.journal.saveCheckpoint('relay', await store.journalEnd())
/** Hosts have answered all orders; the feed of a server may come a moment late. */
const answered = async (store: Store, pump: () => Promise<void>): Promise<void> => {
  const end = performance.now() + 20_000
  for (;;) {
    await pump()
    const unanswered = await store.reads.page({ view: 'pending_orders', where: {}, sort: 'slot', limit: 1 })
    if (unanswered!.length === 0) return
    if (performance.now() > end) throw new Error('an order has no answer')
    await wait(20)
  }
}
/** Bound to its instance, unbound, deleted, and its handle released. */
const lifeOf = async (cloud: Cloud, instance?: string) => {
  const [arq] = await cloud.create()
  const at = instance ?? crypto.randomUUID()
  value(await cloud.bind([arq!], at))
  await answered(cloud.store, cloud.pump)
  value(await cloud.control.arqs.unbind(NOVA, [arq!]))
  await answered(cloud.store, cloud.pump)
  value(await cloud.control.arqs.remove(NOVA, [arq!]))
  await answered(cloud.store, cloud.pump)
  return { arq: `arq/${arq!}`, instance: `instance/${at}`, at }
}
/** Whole rows without the place, which only an order has. */
const history = async ({ journal }: Store, key: string) => journal.history([key], 1000)
const folded = async ({ journal }: Store, key: string) => (await journal.recall([{ key, after: 0 }])).get(key)!.rows

export const archiveContract = (open: () => Promise<Opened>): void => {
  const opened = async () => {
    const { store, dispose } = await open()
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, {}, store)
    const close = async () => {
      await cloud.stop()
      await dispose()
    }
    return { store, cloud, close, dispose }
  }

  test('what ended leaves the feed and stays in histories; what lives stays', async () => {
    const { store, cloud, close } = await opened()
    const living = await cloud.start()
    await answered(cloud.store, cloud.pump)
    const ended = await lifeOf(cloud)
    const was = [await history(store, ended.arq), await history(store, ended.instance)]
    await markPublished(store)
    // of the instance the last row stays
    const rows = was[0]!.length + was[1]!.length - 1
    expect(await store.archiveEnded({ before: LATER, limit: 1000 })).toEqual({ entities: 2, rows, more: false })
    expect(await store.archiveEnded({ before: LATER, limit: 1000 })).toEqual({ entities: 0, rows: 0, more: false })
    const keys = await fedKeys(store)
    expect(keys.has(ended.arq)).toBe(false)
    expect(keys.has(`arq/${living.arq}`)).toBe(true)
    expect(keys.has(`instance/${living.instance}`)).toBe(true)
    expect([await history(store, ended.arq), await history(store, ended.instance)]).toEqual(was)
    expect(await cloud.states([living.arq])).toEqual(['Bound'])
    await expectRebuilt(store)
    await close()
  })

  test('the newest row, and the row at a position, are found in the archive too', async () => {
    const { store, cloud, close } = await opened()
    const { landmarks } = store
    const { arq } = await lifeOf(cloud)
    const fed = await store.journal.feed('', 1000)
    const ended = fed.filter(({ key }) => key === arq)
    expect(ended.length).toBeGreaterThan(2)
    const found = async () => ({
      newest: await landmarks.newest(),
      each: await Promise.all(ended.map(({ position }) => landmarks.at(position))),
    })
    expect(await found()).toEqual({ newest: fed.at(-1), each: ended })
    expect(await landmarks.horizon()).toBe('')
    await markPublished(store)
    expect(await allOf(store)).toBeGreaterThan(0)
    expect(await fedKeys(store)).not.toContain(arq)
    expect(await found()).toEqual({ newest: fed.at(-1), each: ended })
    expect(landmarks.isBefore(await landmarks.horizon(), ended.at(-1)!.position)).toBe(false)
    for (const none of ['999999999.9', '999999999', 'none', '', '1.1 or true'])
      expect([none, await landmarks.at(none)]).toEqual([none, null])
    const [first, second] = ended as [FeedRow, FeedRow]
    expect(landmarks.isBefore(first.position, second.position)).toBe(true)
    expect(landmarks.isBefore(second.position, first.position)).toBe(false)
    expect(landmarks.isBefore(first.position, first.position)).toBe(false)
    await close()
  })

  test('what leaves in portions is all of it, counted once', async () => {
    const { store, cloud, close } = await opened()
    const [one, other] = [await lifeOf(cloud), await lifeOf(cloud)]
    const lengths = await Promise.all(
      [one, other].flatMap(({ arq, instance }) => [history(store, arq), history(store, instance)]),
    )
    await markPublished(store)
    const runs = [await store.archiveEnded({ before: LATER, limit: 3 })]
    while (runs.at(-1)!.more) runs.push(await store.archiveEnded({ before: LATER, limit: 3 }))
    const sum = (of: (run: (typeof runs)[0]) => number) => runs.reduce((all, run) => all + of(run), 0)
    expect(runs.length).toBeGreaterThan(1)
    expect(sum(({ entities }) => entities)).toBe(4)
    expect(sum(({ rows }) => rows)).toBe(lengths.flat().length - 2)
    await close()
  })

  test('a row that is dated into the future holds nothing up, and one that is dated into the past does not go early', async () => {
    const { store, dispose } = await open()
    const clock = handClock()
    let by = 0
    const set = { ...clock, now: () => clock.now() + by }
    const cloud = await openCloud(
      FPGA,
      { 'resources:FPGA': '1' },
      { clock: set, options: { sweepEveryMs: YEAR } },
      store,
    )
    const removed = async (wrongMs: number) => {
      by = wrongMs
      const [arq] = await cloud.create()
      value(await cloud.control.arqs.remove(NOVA, [arq!]))
      by = 0
      return `arq/${arq!}`
    }
    const [first, ahead, second] = [await removed(0), await removed(YEAR), await removed(0)]
    await clock.pass(10 * DAY)
    const [behind, third] = [await removed(-YEAR), await removed(0)]
    await markPublished(store)
    expect(await allOf(store, clock.now() - 7 * DAY, 1000)).toBeGreaterThan(0)
    const left = await fedKeys(store)
    expect([first, ahead, second, behind, third].map((key) => left.has(key))).toEqual([false, false, false, true, true])
    await clock.pass(10 * DAY)
    await removed(0)
    await markPublished(store)
    await allOf(store, clock.now() - 7 * DAY, 1000)
    const last = await fedKeys(store)
    expect([behind, third].map((key) => last.has(key))).toEqual([false, false])
    await cloud.stop()
    await dispose()
  })

  test('nothing moves that a reader has not passed, or that ended too late', async () => {
    const { store, cloud, close } = await opened()
    const ended = await lifeOf(cloud)
    expect(await allOf(store)).toBe(0)
    const rows = await history(store, ended.arq)
    await store.journal.saveCheckpoint('relay', await store.journalEnd())
    await store.journal.saveCheckpoint('relay.unsettled', `from ${rows.at(-2)!.position}`)
    expect(await allOf(store)).toBe(0)
    await store.journal.saveCheckpoint('relay.unsettled', 'settled')
    expect(await allOf(store, rows[0]!.at)).toBe(0)
    expect(await history(store, ended.arq)).toEqual(rows)
    expect((await fedKeys(store)).has(ended.arq)).toBe(true)
    expect(await allOf(store)).toBeGreaterThan(0)
    await close()
  })

  test('an instance is bound again, by who remembers it and by who does not', async () => {
    const { store, cloud, dispose } = await opened()
    const first = await lifeOf(cloud)
    await markPublished(store)
    expect(await allOf(store)).toBeGreaterThan(0)
    const versions = async () => (await folded(store, first.instance)).map(({ version }) => version)
    const count = (await versions()).length
    await lifeOf(cloud, first.at)
    await markPublished(store)
    expect(await allOf(store)).toBeGreaterThan(0)
    const [arq] = await cloud.create()
    await cloud.stop()
    const cold = await openPlane({}, store)
    value(await cold.control.arqs.bind(NOVA, [cloud.bindingOf(arq!, first.at)]))
    await answered(store, cold.pump)
    expect(value(await cold.control.arqs.get(NOVA, arq!)).state).toBe('Bound')
    const now = await versions()
    expect(now.length).toBeGreaterThan(2 * count)
    expect(now).toEqual(now.map((_, index) => index + 1))
    await expectRebuilt(store)
    await cold.plane.stop()
    await dispose()
  })
}
