/**
 * How many accelerators there are of each kind, and how many can be granted: every handle counts once, and all of them
 * together. Over all stores.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'

const CARDS = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 4 }] }
const over = (pool: Pool): void => {
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)
  test('what is bound, withheld and disabled is counted, by kind and host', async () => {
    const clock = handClock()
    const store = await pool.take(clock.now)
    const cloud = await openCloud(CARDS, { 'resources:FPGA': '1' }, { clock }, store)
    await cloud.shows('h2', { seed: 2, devices: [{ kind: 'gpu', handles: 2 }] })
    const counted = async () => {
      await clock.pass(5100)
      const { lines } = value(await cloud.control.capacity())
      return lines.map(({ resourceClass, amount, hosts }) => [resourceClass, amount, hosts.map(({ host }) => host)])
    }
    const none = { held: 0, withheld: 0, broken: 0 }
    expect(await counted()).toEqual([
      ['FPGA', { ...none, total: 4, free: 4 }, ['h1']],
      ['PGPU', { ...none, total: 2, free: 2 }, ['h2']],
    ])
    await cloud.start()
    const [spare] = (await cloud.handles()).filter(({ state, hostname }) => state === 'free' && hostname === 'h1')
    value(await cloud.control.handles.quarantine(NOVA, spare!.uuid, { by: 'me', reason: 'a test' }))
    const [gpu] = value(await cloud.control.devices.list({ hostname: 'h2' }, {})).items
    value(await cloud.control.devices.setStatus(NOVA, gpu!.uuid, 'maintaining'))
    expect(await counted()).toEqual([
      ['FPGA', { total: 4, held: 1, free: 2, withheld: 1, broken: 0 }, ['h1']],
      ['PGPU', { ...none, total: 2, free: 0, withheld: 2 }, ['h2']],
    ])
    await cloud.stop()
    await store.close()
  })
}
describe('in memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))
