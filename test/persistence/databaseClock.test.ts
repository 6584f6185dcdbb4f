/**
 * The clock of the database jumps: leases and claims of a dead process are over after their duration all the same, and
 * not before.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { put } from '../../src/actors/runtime/views.ts'
import { openStore } from '../../src/persistence/open.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase, sqlOnce } from '../support/postgres.ts'
import * as sample from './samples.ts'

const FOR_MS = 600

describeWith('postgres', 'when the clock of the database steps', (bin) => {
  test.each([
    ['back', "+ interval '1 hour'"],
    ['forward', "- interval '1 hour'"],
  ])('%s, what a dead process held is free after its duration', async (_, step) => {
    const { url, drop } = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url })
    const other = await openStore({ kind: 'postgres', url })
    const entity = sample.newKey()
    await store.journal.append({ rows: [], changes: [put('due', { entity, kind: 'x', at: 1 })] })
    await store.sharing.acquire('relay', 'dead', FOR_MS)
    await store.sharing.claimDue(['x'], 10, 1, FOR_MS)
    // as a clock that was stepped sees what was written before
    await sqlOnce(url, `update leases set until = until ${step}; update claims set until = until ${step}`)
    const take = async () => [
      (await other.sharing.acquire('relay', 'alive', FOR_MS))?.epoch ?? null,
      (await other.sharing.claimDue(['x'], 10, 1, FOR_MS)).length,
    ]
    expect(await take()).toEqual([null, 0])
    await wait(FOR_MS / 3)
    expect(await take()).toEqual([null, 0])
    await wait(FOR_MS)
    expect(await take()).toEqual([2, 1])
    await store.close()
    await other.close()
    await drop()
  })

  test('back, a host that is heard from is recorded again at once, and one that is not is not taken for heard from', async () => {
    const { url, drop } = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url })
    await store.sharing.noteSeen(['alive', 'dead'])
    await sqlOnce(url, `update host_seen set seen_at = seen_at + interval '1 hour'`)
    const before = await store.sharing.silences()
    for (const { ms } of before.values()) expect(ms).toBeLessThan(-3_500_000)
    await store.sharing.noteSeen(['alive'])
    const after = await store.sharing.silences()
    expect(Math.abs(after.get('alive')!.ms)).toBeLessThan(60_000)
    expect(after.get('alive')!.mark).not.toBe(before.get('alive')!.mark)
    expect(after.get('dead')!.mark).toBe(before.get('dead')!.mark)
    await store.close()
    await drop()
  })

  test('a process that has the database to itself takes over at once', async () => {
    const { url, drop } = await freshDatabase(bin)
    const dead = await openStore({ kind: 'postgres', url, sole: true })
    await dead.sharing.acquire('relay', 'dead', 60_000)
    await dead.close()
    const store = await openStore({ kind: 'postgres', url, sole: true })
    expect(await store.sharing.acquire('relay', 'alive', 60_000)).toEqual({ epoch: 2 })
    await store.close()
    await drop()
  })
})
