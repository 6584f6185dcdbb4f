/** CLOUD: a host belongs to one cloud. */
import { beforeEach, expect, test } from 'vitest'
import { orderRecord, readDeadLetter } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import { CLOUD_HEADER } from '../../src/wire/seal.ts'
import type { Signer } from '../../src/wire/signature.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { signerOf } from '../support/keys.ts'
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
const say = async (order: Order, cluster: string | null, signer: Signer | null = null) => {
  const plain = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
  const headers = cluster === null ? plain.headers : { ...plain.headers, [CLOUD_HEADER]: cluster }
  const record = { ...plain, headers }
  await lab.bus.publish([signer === null ? record : signer.signed(record)])
  await quiet(40)
}
const kept = async () => JSON.parse((await lab.disk.read('/state/cluster.json'))!) as unknown
const outcomes = () => lab.results().map(({ number, result }) => `${number} ${result.status}`)
const clusters = () => lab.heard.map(({ headers }) => headers[CLOUD_HEADER] ?? null)

test('CLOUD-1 the first order that names a cloud decides it, on disk before it has an effect', async () => {
  await lab.boot()
  expect(new Set(clusters())).toEqual(new Set([null]))
  await say(lab.order('PrepareSlot', 1), OURS)
  expect(JSON.parse((await lab.disk.read('/state/cluster.json'))!)).toEqual({ cluster: OURS })
  expect(outcomes()).toEqual(['1 done'])
  expect(clusters().at(-1)).toBe(OURS)
})
test('CLOUD-2 an order of another cloud is refused aloud and touches nothing, also after a restart', async () => {
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
test('CLOUD-2 a value that is no id is no cloud of ours', async () => {
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
test('CLOUD-3 a host does not start with a file that names no cloud', async () => {
  await lab.disk.replace('/state/cluster.json', '{}')
  await expect(lab.boot()).rejects.toThrow('/state/cluster.json')
})

const [ours, theirs] = [signerOf('our cloud'), signerOf('their cloud')]
test('CLOUD-4 the first signed order decides the key of the cloud, on disk before it has an effect', async () => {
  await lab.boot()
  await say(lab.order('PrepareSlot', 1), OURS, ours)
  expect(await kept()).toEqual({ cluster: OURS, publicKey: ours.publicKey })
  expect(outcomes()).toEqual(['1 done'])
})
test.each([
  ['unsigned', null, `it is not signed, and the orders of cloud ${OURS} are signed with key ${ours.publicKey}`],
  ['signed with another key', theirs, `it is signed with key ${theirs.publicKey}`],
])('CLOUD-4 an order that is %s is refused from then on, also after a restart', async (_, signer, reason) => {
  const host = await lab.boot()
  await say(lab.order('PrepareSlot', 1), OURS, ours)
  await say(lab.order('ReleaseSlot', 2), OURS, signer)
  await lab.kill(host)
  await lab.boot()
  await say(lab.order('ReleaseSlot', 3), OURS, signer)
  await say(lab.order('ReleaseSlot', 4), null, signer)
  expect(new Set(outcomes())).toEqual(new Set(['1 done']))
  expect(Object.keys((await lab.effects()).prepared)).toHaveLength(1)
  expect(letters.filter((letter) => letter.includes(reason)).length).toBeGreaterThanOrEqual(3)
  await say(lab.order('ReleaseSlot', 5), OURS, ours)
  expect(outcomes().at(-1)).toBe('5 done')
})
test('CLOUD-4 an order that was changed on its way is refused, and decides nothing', async () => {
  await lab.boot()
  const changing: Signer = {
    ...ours,
    signed: (record) => ({ ...ours.signed(record), value: record.value.replace('PrepareSlot', 'ReleaseSlot') }),
  }
  await say(lab.order('PrepareSlot', 1), OURS, changing)
  expect([outcomes(), await lab.disk.read('/state/cluster.json')]).toEqual([[], null])
  expect(letters).toEqual([expect.stringContaining('signature: does not fit')])
})
test('CLOUD-4 a file without a key, of an earlier release, is completed by the next signed order', async () => {
  await lab.disk.replace('/state/cluster.json', JSON.stringify({ cluster: OURS }))
  await lab.boot()
  await say(lab.order('PrepareSlot', 1), OURS, null)
  await say(lab.order('ReleaseSlot', 2), THEIRS, theirs)
  expect(await kept()).toEqual({ cluster: OURS })
  await say(lab.order('ReleaseSlot', 3), OURS, ours)
  expect(await kept()).toEqual({ cluster: OURS, publicKey: ours.publicKey })
  expect(outcomes()).toEqual(['1 done', '3 done'])
})
test('CLOUD-4 a key that could not be written decides nothing, and the order is taken when it comes again', async () => {
  let full = true
  const disk = {
    ...lab.disk,
    replace: (path: string, text: string) =>
      full && path.endsWith('cluster.json') ? Promise.reject(new Error('ENOSPC')) : lab.disk.replace(path, text),
  }
  await lab.boot({ disk })
  await say(lab.order('PrepareSlot', 1), OURS, theirs)
  expect(outcomes()).toEqual([])
  full = false
  await lab.clock.pass(60_000)
  await quiet(40)
  expect(await kept()).toEqual({ cluster: OURS, publicKey: theirs.publicKey })
  expect(outcomes()).toEqual(['1 done'])
})
