/**
 * How many accelerators there are of each kind, and how many can be granted: every handle counts once, and all of them
 * together. Over all stores.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CapacityRows, capacityOf } from '../../src/actors/capacity/tally.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'

const attributes = [{ rc: 'FPGA' }, { trait0: 'CUSTOM_B' }, { trait1: 'CUSTOM_A' }]
const device = { uuid: 'd1', status: 'enabled', presence: 'present', failing: null } as const
const deployable = {
  ...{ uuid: 'p1', root_uuid: null, device_uuid: 'd1', hostname: 'h1', attributes, presence: 'present' },
  bitstream_id: null,
} as const
const handle = (state: string) => ({ deployable_uuid: 'p1', state })
const amountOf = (
  change: object,
  states: readonly string[],
  host: object = {},
  orders: CapacityRows['orders'] = [],
) => {
  const rows = {
    hosts: [{ name: 'h1', liveness: 'up', out_of_service: null, ...host }],
    devices: [{ ...device, ...change }],
    deployables: [deployable],
    handles: states.map(handle),
    orders,
  }
  return capacityOf(rows)[0]!.amount
}
const ALL = ['free', 'held', 'releasing', 'quarantined', 'missing']

describe('a handle counts as', () => {
  test('what its state says, where device and host are in order', () =>
    expect(amountOf({}, ALL)).toEqual({ total: 5, held: 2, free: 1, withheld: 1, broken: 1 }))
  test.each([
    [
      'withheld when its device is disabled',
      { status: 'maintaining' },
      {},
      { held: 2, free: 0, withheld: 2, broken: 1 },
    ],
    ['broken when its device fails', { failing: 'too hot' }, {}, { held: 2, free: 0, withheld: 0, broken: 3 }],
    ['broken when its device is not there', { presence: 'missing' }, {}, { held: 2, free: 0, withheld: 0, broken: 3 }],
    ['withheld when its host is down', {}, { liveness: 'down' }, { held: 2, free: 0, withheld: 2, broken: 1 }],
    [
      'withheld when its host is silent for a while',
      {},
      { liveness: 'stale' },
      { held: 2, free: 0, withheld: 2, broken: 1 },
    ],
    [
      'withheld when its host is out of service, though it does not report the device any more',
      { presence: 'missing' },
      { out_of_service: true },
      { held: 2, free: 0, withheld: 2, broken: 1 },
    ],
  ])('%s', (_, change, host, wanted) => expect(amountOf(change, ALL, host)).toEqual({ total: 5, ...wanted }))
})

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
