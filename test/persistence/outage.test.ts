/**
 * A server that is gone for a while, or stands still: every append ends, none is lost or written twice, and the store
 * goes on by itself.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Verdict } from '../../src/actors/runtime/ports.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { describeWith } from '../support/needs.ts'
import { ownServer } from '../support/postgresOwn.ts'
import type { OwnServer } from '../support/postgresOwn.ts'
import * as sample from './samples.ts'

type Told = { readonly key: string; version: number; readonly verdicts: Set<Verdict> }

/** Says an append until it is known to be written, as an actor does: what is unknown is looked up first. */
const settle = async ({ journal }: Store, told: Told): Promise<void> => {
  const wanted = sample.one(told.key, told.version + 1)
  for (;;) {
    const verdict = await journal.append(wanted)
    told.verdicts.add(verdict)
    if (verdict === 'appended' || verdict === 'seen') break
    const found = await sample.versionsOf(journal, told.key).catch(() => null)
    if (found?.includes(told.version + 1) === true) break
    await wait(50)
  }
  told.version++
}

/** Appends without a pause to so many keys; `stop` lets each come to its end. */
const appending = (store: Store, keys: number) => {
  let going = true
  const all = Array.from({ length: keys }, (): Told => ({ key: sample.newKey(), version: 0, verdicts: new Set() }))
  const work = async (told: Told): Promise<void> => {
    while (going) await settle(store, told)
  }
  const done = Promise.all(all.map(work))
  const stop = async (): Promise<readonly Told[]> => {
    going = false
    await done
    return all
  }
  const written = () => all.reduce((sum, { version }) => sum + version, 0)
  return { stop, written }
}

describeWith('postgres', 'a server that fails in the middle of appends', (bin) => {
  let server: OwnServer
  let stores: readonly Store[]
  beforeAll(async () => {
    server = await ownServer(bin)
    stores = await Promise.all([1, 2].map(() => openStore({ kind: 'postgres', url: server.url })))
  }, 60_000)
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await server.end()
  }, 60_000)

  const more = async (work: ReturnType<typeof appending>, rows: number): Promise<void> => {
    const goal = work.written() + rows
    const end = performance.now() + 30_000
    while (work.written() < goal) {
      if (performance.now() > end) throw new Error(`only ${work.written()} of ${goal} rows`)
      await wait(20)
    }
  }
  const expectWhole = async (all: readonly Told[]): Promise<void> => {
    for (const store of stores) {
      const tails = await store.journal.recall(all.map(({ key }) => ({ key, after: 0 })))
      for (const { key, version } of all)
        expect(tails.get(key)!.rows.map((row) => row.version)).toEqual(Array.from({ length: version }, (_, n) => n + 1))
    }
    const feeds = await Promise.all(stores.map(async ({ journal }) => sample.fedAll(journal)))
    expect(feeds[0]!.map(({ position }) => position)).toEqual(feeds[1]!.map(({ position }) => position))
    const own = new Set(all.map(({ key }) => key))
    expect(feeds[0]!.filter(({ key }) => own.has(key))).toHaveLength(all.reduce((sum, { version }) => sum + version, 0))
  }

  test('stopped at once and started again, twice', async () => {
    const works = stores.map((store) => appending(store, 20))
    for (let round = 0; round < 2; round++) {
      await Promise.all(works.map((work) => more(work, 200)))
      await server.stop()
      await server.start()
    }
    await Promise.all(works.map((work) => more(work, 200)))
    const all = (await Promise.all(works.map((work) => work.stop()))).flat()
    expect(all.some(({ verdicts }) => verdicts.has('unknown'))).toBe(true)
    await expectWhole(all)
  }, 90_000)

  test('standing still for eight seconds', async () => {
    const works = stores.map((store) => appending(store, 20))
    await Promise.all(works.map((work) => more(work, 200)))
    server.pause()
    await wait(8_000)
    server.resume()
    await Promise.all(works.map((work) => more(work, 200)))
    const all = (await Promise.all(works.map((work) => work.stop()))).flat()
    expect(all.some(({ verdicts }) => verdicts.has('unknown'))).toBe(true)
    await expectWhole(all)
  }, 90_000)

  test('reads asked while it is away are answered when it is back', async () => {
    const key = sample.newKey()
    expect(await stores[0]!.journal.append(sample.one(key, 1))).toBe('appended')
    await server.stop()
    const versions = sample.versionsOf(stores[0]!.journal, key)
    const seen = stores[0]!.sharing.silences()
    await server.start()
    expect(await versions).toEqual([1])
    expect(await seen).toEqual(new Map())
  }, 60_000)
})
