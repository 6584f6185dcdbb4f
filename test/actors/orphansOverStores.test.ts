/**
 * The list and the collection of orphans read pages of two states and delete several requests at once: on the SQL
 * stores too.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { check } from '../../src/audit/check.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { KNOWN, novaServersOf } from '../support/novaServers.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'

const OPERATOR = { ...NOVA, userId: 'kim', isAdmin: true, isService: false }
const SETTLED = 600_000
const CARD = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 4 }] }

const over = (pool: Pool): void => {
  // the first one takes longer than a test may
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)

  test('what Nova does not know is listed from each place on, and deleted, and the rest stays', async () => {
    const clock = handClock()
    const said = new Map<string, NovaServer>()
    const parts = { clock, novaServers: novaServersOf(said).servers, options: { sweepEveryMs: 24 * 3_600_000 } }
    const store = await pool.take(clock.now)
    const cloud = await openCloud(CARD, { 'resources:PGPU': '1' }, parts, store, 'at once')
    const { control } = cloud
    const bound = []
    for (const answer of [{ is: 'unknown' }, KNOWN, { is: 'unknown' }] as const) {
      const one = await cloud.start()
      await cloud.pump()
      said.set(one.instance, answer)
      bound.push(one)
      await clock.pass(1000)
    }
    const [first, known, last] = bound
    await clock.pass(SETTLED)
    const found = async (after: string | null) => {
      const { orphans, asked, next } = value(await control.orphans.list(after))
      return { orphans: orphans.map(({ arqs }) => arqs), asked, next }
    }
    expect(await found(null)).toEqual({ orphans: [[first!.arq], [last!.arq]], asked: 3, next: null })
    expect(await found(first!.arq)).toEqual({ orphans: [[last!.arq]], asked: 2, next: null })
    const collecting = control.orphans.collect(
      OPERATOR,
      bound.map(({ instance }) => instance),
    )
    // a database answers when it likes: the pause between the two questions may not have begun yet
    for (let ended = false; !ended; await clock.pass(1000))
      ended = await Promise.race([collecting.then(() => true), sleep(50).then(() => false)])
    const { orphans, kept } = value(await collecting)
    expect([orphans.map(({ arqs }) => arqs), kept.map((one) => one.instance)]).toEqual([
      [[first!.arq], [last!.arq]],
      [known!.instance],
    ])
    expect(value(await control.arqs.list(NOVA, {}, {})).items.map(({ uuid }) => uuid)).toEqual([known!.arq])
    // an operator may do it, and no audit finds fault with it
    const journal = await store.journal.feed('', 1000)
    expect(check({ journal, now: clock.now() }).filter(({ invariant }) => invariant === 'S10')).toEqual([])
    await cloud.stop()
    await store.close()
  })
}

describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))
