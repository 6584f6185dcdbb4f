/** What a host does with MACs: whose it takes, and when its own reports carry one. */
import { beforeEach, expect, test } from 'vitest'
import type { BusRecord } from '../../src/wire/envelope.ts'
import type { Host } from '../../src/host/host.ts'
import { orderRecord, readDeadLetter, reportRecord } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import type { Report } from '../../src/wire/reports.ts'
import { CLOUD_HEADER } from '../../src/wire/seal.ts'
import { MAC_HEADER, SIGNATURE_HEADER, SIGNER_HEADER } from '../../src/wire/signature.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { privateKeyOf, signerOf } from '../support/keys.ts'
import { quiet } from '../support/lab.ts'
import { heartbeatOf } from '../support/reports.ts'

const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
const [cloud, other, own] = [signerOf('our cloud'), signerOf('another cloud'), signerOf('the host')]
let lab: HostLab
let host: Host
let letters: string[]
const boot = async (): Promise<void> => {
  host = await lab.boot({ newKey: () => privateKeyOf('the host') })
}
beforeEach(async () => {
  lab = await openHostLab()
  letters = []
  const take = async (record: BusRecord) => {
    const letter = readDeadLetter(record)
    if (letter.ok) letters.push(letter.value.body.reason)
  }
  await lab.bus.consume({ topic: 'dead-letters.v1', group: 'test', from: 'earliest', take })
  await boot()
})
const plain = (order: Order, cluster: string): BusRecord => {
  const record = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
  return { ...record, headers: { ...record.headers, [CLOUD_HEADER]: cluster } }
}
const say = async (record: BusRecord): Promise<void> => {
  await lab.bus.publish([record])
  await quiet(40)
}
const sayWithMac = (order: Order, by = cloud, cluster = OURS) => say(by.signedFor(plain(order, cluster), own.publicKey))
const outcomes = () => lab.results().map(({ number, result }) => `${number} ${result.status}`)
const kept = async () => JSON.parse((await lab.disk.read('/state/cluster.json'))!) as unknown
/** How the last report of this type says whom it is from. */
const proofOf = (type: Report['type']): string | undefined => {
  const last = lab.heard.findLast(({ report }) => report.type === type)!
  return [MAC_HEADER, SIGNATURE_HEADER].filter((name) => name in last.headers).join(' and ')
}
const beat = async (): Promise<void> => {
  await lab.clock.pass(5000)
  await quiet(40)
}

test('each inventory says that this start checks MACs', () => {
  expect(lab.inventories().map(({ macs }) => macs)).toEqual([true])
})
test('CLOUD-4 an order with a MAC decides cloud and key, on disk before it has an effect, as a signed one does', async () => {
  await sayWithMac(lab.order('PrepareSlot', 1))
  expect(await kept()).toEqual({ cluster: OURS, publicKey: cloud.publicKey })
  expect(outcomes()).toEqual(['1 done'])
})
test('CLOUD-5 after an order with a MAC, results and heartbeats have one for the cloud, and inventories a signature', async () => {
  await beat()
  expect(proofOf('Heartbeat')).toBe(SIGNATURE_HEADER)
  await sayWithMac(lab.order('PrepareSlot', 1))
  await beat()
  await host.reportNow()
  await quiet(40)
  expect([proofOf('OrderResult'), proofOf('Heartbeat'), proofOf('Inventory')]).toEqual([
    MAC_HEADER,
    MAC_HEADER,
    SIGNATURE_HEADER,
  ])
  expect(new Set(lab.heard.map(({ headers }) => headers[SIGNER_HEADER]))).toEqual(new Set([own.publicKey]))
})
test('CLOUD-5 orders that are signed are answered with signatures, also by a host that knows the cloud already', async () => {
  await say(cloud.signed(plain(lab.order('PrepareSlot', 1), OURS)))
  expect([outcomes(), proofOf('OrderResult')]).toEqual([['1 done'], SIGNATURE_HEADER])
  await lab.kill(host)
  await boot()
  await beat()
  await say(cloud.signed(plain(lab.order('ReleaseSlot', 2), OURS)))
  expect([outcomes().at(-1), proofOf('OrderResult'), proofOf('Heartbeat')]).toEqual([
    '2 done',
    SIGNATURE_HEADER,
    SIGNATURE_HEADER,
  ])
})
test('a MAC of an order does not keep signed orders of the same cloud away, and neither lets an unsigned one in', async () => {
  await sayWithMac(lab.order('PrepareSlot', 1))
  await say(cloud.signed(plain(lab.order('ReleaseSlot', 2), OURS)))
  await say(plain(lab.order('PrepareSlot', 3), OURS))
  expect(outcomes()).toEqual(['1 done', '2 done'])
  expect(letters).toEqual([expect.stringContaining('it is not signed')])
})

/** Orders that are not of the cloud whose key is known. */
const FORGED: readonly (readonly [string, RegExp, (order: Order) => BusRecord])[] = [
  [
    'with a MAC by another key',
    /^it is signed with key/,
    (order) => other.signedFor(plain(order, OURS), own.publicKey),
  ],
  [
    'with a MAC by another key in the name of the cloud',
    /^mac: does not fit/,
    (order) => {
      const made = other.signedFor(plain(order, OURS), own.publicKey)
      return { ...made, headers: { ...made.headers, [SIGNER_HEADER]: cloud.publicKey } }
    },
  ],
  [
    'with a MAC of the cloud for another host',
    /^mac: does not fit/,
    (order) => cloud.signedFor(plain(order, OURS), other.publicKey),
  ],
  [
    'with a MAC of the host itself, of which it could be an echo',
    /^mac: does not fit|^it is signed with key/,
    (order) => own.signedFor(plain(order, OURS), own.publicKey),
  ],
  [
    'with a MAC of the host for the cloud',
    /^mac: does not fit/,
    (order) => own.signedFor(plain(order, OURS), cloud.publicKey),
  ],
  [
    'with a MAC of another cloud',
    /^it is an order of cloud/,
    (order) => other.signedFor(plain(order, THEIRS), own.publicKey),
  ],
]
test.each(FORGED)('an order %s is refused, and nothing is learnt from it', async (_, reason, forge) => {
  await say(cloud.signed(plain(lab.order('PrepareSlot', 1), OURS)))
  await say(forge(lab.order('ReleaseSlot', 2)))
  expect(outcomes()).toEqual(['1 done'])
  expect(Object.keys((await lab.effects()).prepared)).toHaveLength(1)
  expect(letters).toEqual([expect.stringMatching(reason)])
  await say(cloud.signed(plain(lab.order('ReleaseSlot', 3), OURS)))
  expect([outcomes().at(-1), proofOf('OrderResult')]).toEqual(['3 done', SIGNATURE_HEADER])
})
test('a report of the host that comes back as an order is refused', async () => {
  await sayWithMac(lab.order('PrepareSlot', 1))
  const { headers } = lab.heard.findLast(({ report }) => report.type === 'OrderResult')!
  await say({ ...plain(lab.order('ReleaseSlot', 2), OURS), headers })
  const beating = own.signedFor(reportRecord(heartbeatOf('h1'), 'x', 0), cloud.publicKey)
  await say({ ...beating, topic: 'host.orders.v1' })
  expect([outcomes(), letters.length]).toEqual([['1 done'], 2])
})
test('a key of the cloud that could not be written is not answered with MACs', async () => {
  await lab.kill(host)
  const disk = {
    ...lab.disk,
    replace: (path: string, text: string) =>
      path.endsWith('cluster.json') ? Promise.reject(new Error('ENOSPC')) : lab.disk.replace(path, text),
  }
  await lab.boot({ disk })
  await sayWithMac(lab.order('PrepareSlot', 1))
  await beat()
  expect([outcomes(), proofOf('Heartbeat')]).toEqual([[], SIGNATURE_HEADER])
})
