/** CLUSTER: a host belongs to one cloud. */
import { beforeEach, expect, test } from 'vitest'
import { orderRecord, readDeadLetter } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { CLUSTER_HEADER } from '../../src/wire/seal.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
let lab: HostLab
let letters: string[]
beforeEach(async () => {
  lab = await openHostLab()
  letters = []
  const take = async (record: Parameters<typeof readDeadLetter>[0]) => {
    const letter = readDeadLetter(record)
    if (letter.ok) letters.push(letter.value.body.reason)
  }
  await lab.bus.consume({ topic: 'dead-letters.v1', group: 'test', from: 'earliest', take })
})
const say = async (order: Order, cluster: string | null) => {
  const plain = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
  const headers = cluster === null ? plain.headers : { ...plain.headers, [CLUSTER_HEADER]: cluster }
  await lab.bus.publish([{ ...plain, headers }])
  await quiet(40)
}
const outcomes = () => lab.results().map(({ number, result }) => `${number} ${result.status}`)
const clusters = () => lab.heard.map(({ headers }) => headers[CLUSTER_HEADER] ?? null)

test('CLUSTER-1 the first order that names a cloud decides it, on disk before it has an effect', async () => {
  await lab.boot()
  expect(new Set(clusters())).toEqual(new Set([null]))
  await say(lab.order('PrepareSlot', 1), OURS)
  expect(JSON.parse((await lab.disk.read('/state/cluster.json'))!)).toEqual({ cluster: OURS })
  expect(outcomes()).toEqual(['1 done'])
  expect(clusters().at(-1)).toBe(OURS)
})
test('CLUSTER-2 an order of another cloud is refused aloud and touches nothing, also after a restart', async () => {
  const host = await lab.boot()
  await say(lab.order('PrepareSlot', 1), OURS)
  await say(lab.order('ReleaseSlot', 2), THEIRS)
  await lab.kill(host)
  await lab.boot()
  await say(lab.order('ReleaseSlot', 3), THEIRS)
  expect(new Set(outcomes())).toEqual(new Set(['1 done']))
  expect(Object.keys((await lab.effects()).prepared)).toHaveLength(1)
  expect(letters.length).toBeGreaterThanOrEqual(2)
  expect(letters[0]).toContain(`order of cloud ${THEIRS}, and this host belongs to cloud ${OURS}`)
  expect(lab.log.said.filter(({ message }) => message === 'host.foreignOrder').length).toBeGreaterThanOrEqual(2)
})
test('CLUSTER-2 a value that is no id is no cloud of ours', async () => {
  await lab.boot()
  await say(lab.order('PrepareSlot', 1), OURS)
  await say(lab.order('ReleaseSlot', 2), 'x')
  expect(outcomes()).toEqual(['1 done'])
})
test('an order of release 0.2.0, which names no cloud, is carried out and decides nothing', async () => {
  await lab.boot()
  await say(lab.order('PrepareSlot', 1), null)
  expect(await lab.disk.read('/state/cluster.json')).toBe(null)
  await say(lab.order('ReleaseSlot', 2), OURS)
  await say(lab.order('PrepareSlot', 3), null)
  expect(outcomes()).toEqual(['1 done', '2 done', '3 done'])
})
test('CLUSTER-3 a host does not start with a file that names no cloud', async () => {
  await lab.disk.replace('/state/cluster.json', '{}')
  await expect(lab.boot()).rejects.toThrow('/state/cluster.json')
})
