/** A standby takes the place of the server while a store is open: with all rows, and without the last ones. */
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Verdict } from '../../src/actors/runtime/ports.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { type Proxy, openProxy } from '../chaos/proxy.ts'
import { describeWith } from '../support/needs.ts'
import { sqlOnce } from '../support/postgres.ts'
import { ownServer } from '../support/postgresOwn.ts'
import * as sample from './samples.ts'

const LIMIT_MS = 30_000
type Own = Awaited<ReturnType<typeof ownServer>>
type Standby = Awaited<ReturnType<Own['standby']>>

describeWith('postgres', 'when a standby takes over', (bin) => {
  let primary: Own
  let standby: Standby
  let proxy: Proxy
  let port: number
  let stores: readonly Store[]
  beforeEach(async () => {
    primary = await ownServer(bin)
    port = primary.port
    standby = await primary.standby()
    proxy = await openProxy(() => port)
    const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`
    stores = [await openStore({ kind: 'postgres', url }), await openStore({ kind: 'postgres', url })]
  }, 60_000)
  afterEach(async () => {
    await Promise.all(stores.map((store) => store.close()))
    await proxy.close()
    await standby.end()
    await primary.end()
  }, 60_000)

  const positions = `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as at`
  const replayed = `select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as at`
  const at = async (url: string, text: string) => BigInt((await sqlOnce(url, text)).rows[0].at)
  /** Until the standby has everything that the server has now. */
  const caughtUp = async () => {
    const goal = await at(primary.url, positions)
    while ((await at(standby.url, replayed)) < goal) await wait(20)
  }
  const failOver = async () => {
    await primary.stop()
    port = standby.port
    await standby.promote()
  }
  /** Repeats an append until it is answered otherwise than by "not now". */
  const append = async (
    store: Store,
    key: string,
    version: number,
  ): Promise<{ readonly verdict: Verdict; readonly stops: Set<string> }> => {
    const stops = new Set<string>()
    const wanted = sample.one(key, version)
    for (const end = performance.now() + LIMIT_MS; performance.now() < end; await wait(100)) {
      const verdict = await store.journal.append(wanted)
      if (typeof verdict === 'object' && 'stopped' in verdict) stops.add(verdict.stopped)
      if (verdict === 'appended' || verdict === 'seen' || verdict === 'stale') return { verdict, stops }
    }
    return { verdict: 'unknown', stops }
  }

  test('that has every row, writing goes on after a wait in which every control has looked', async () => {
    const [one, two] = stores
    const key = sample.newKey()
    expect(await one!.journal.append(sample.one(key, 1))).toBe('appended')
    await caughtUp()
    const before = one!.journal.incarnation
    await failOver()
    const { verdict, stops } = await append(one!, key, 2)
    expect(verdict).toBe('appended')
    expect([...stops]).toEqual([expect.stringContaining('the database server has changed')])
    expect(one!.journal.incarnation).not.toBe(before)
    expect(await sample.versionsOf(two!.journal, key)).toEqual([1, 2])
    await expect(one!.expectWriting()).resolves.toBeUndefined()
    expect(await one!.isStopped()).toBe(false)
  }, 90_000)

  test('that lacks a row which was acknowledged, nobody writes any more, and what is gone is kept', async () => {
    const [one, two] = stores
    const [key, other] = [sample.newKey(), sample.newKey()]
    expect(await one!.journal.append(sample.one(key, 1))).toBe('appended')
    await caughtUp()
    await standby.stop()
    const lost = sample.one(key, 2)
    expect(await one!.journal.append(lost)).toBe('appended')
    // it starts again without the server, so that it can not fetch what it lacks
    await primary.stop()
    await standby.start()
    port = standby.port
    await standby.promote()
    const stopped = async (store: Store): Promise<string> => {
      for (const end = performance.now() + LIMIT_MS; performance.now() < end; await wait(100)) {
        const verdict = await store.journal.append(sample.one(other, 1))
        expect(verdict).not.toBe('appended')
        if (typeof verdict === 'object' && 'stopped' in verdict && verdict.stopped.includes('lost rows'))
          return verdict.stopped
      }
      return 'never'
    }
    expect(await stopped(one!)).toContain('accelerando migrate --adopt')
    // the other control has lost nothing of its own, and does not write either
    expect(await stopped(two!)).toContain('accelerando migrate --adopt')
    await expect(two!.expectWriting()).rejects.toThrow('writing is stopped')
    expect(await Promise.all(stores.map((store) => store.isStopped()))).toEqual([true, true])
    const { rows } = await sqlOnce(standby.url, 'select key, version, command, data from lost_rows')
    expect(rows).toEqual([{ key, version: 2, command: lost.rows[0]!.commandId, data: lost.rows[0]!.events }])
    // what is there can be read
    expect(await sample.versionsOf(one!.journal, key)).toEqual([1])
  }, 90_000)

  test('a server that became read-only is left for one that can be written', async () => {
    const [one] = stores
    const key = sample.newKey()
    expect(await one!.journal.append(sample.one(key, 1))).toBe('appended')
    await caughtUp()
    await sqlOnce(primary.url, 'alter system set default_transaction_read_only = on')
    await sqlOnce(primary.url, 'select pg_reload_conf()')
    for (let refused = 0; refused < 3; await wait(100))
      if ((await one!.journal.append(sample.one(key, 2))) === 'busy') refused++
    await expect(one!.expectWriting()).rejects.toThrow(/read-only|no session/)
    await failOver()
    expect((await append(one!, key, 2)).verdict).toBe('appended')
  }, 90_000)

  test('a standby is not taken for a server', async () => {
    await expect(openStore({ kind: 'postgres', url: standby.url })).rejects.toThrow('is a standby')
  })
})
