/** CLOUD: which orders a host takes, by the cloud and the key that it knows, and what it keeps of both. */
import { describe, expect, test } from 'vitest'
import { type Disk, memoryDisk } from '../../src/host/disk.ts'
import { openMembership } from '../../src/host/cloud.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { CLOUD_HEADER } from '../../src/wire/seal.ts'
import { MAC_HEADER } from '../../src/wire/signature.ts'
import { signerOf } from '../support/keys.ts'

const PATH = '/state/cluster.json'
const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
const [KEY, OTHER] = [signerOf('our cloud').publicKey, signerOf('another cloud').publicKey]
/** `signer`: whose key the order is signed with, as the host finds it. */
type Sent = {
  readonly cloud?: string
  readonly signer?: string | null
  readonly mac?: boolean
  readonly wrong?: string
}
const open = async (text: string | null = null, wrapped: (disk: Disk) => Disk = (disk) => disk) => {
  const disk = memoryDisk()
  if (text !== null) await disk.replace(PATH, text)
  let verified = 0
  const sent = new Map<BusRecord, Sent>()
  const membership = await openMembership(wrapped(disk), PATH, (record) => {
    verified++
    const { signer = null, wrong } = sent.get(record)!
    return wrong === undefined ? { signer } : { wrong }
  })
  return {
    membership,
    verified: () => verified,
    kept: async () => JSON.parse((await disk.read(PATH)) ?? 'null') as unknown,
    judge: (given: Sent) => {
      const headers = {
        ...(given.cloud === undefined ? {} : { [CLOUD_HEADER]: given.cloud }),
        ...(given.mac ? { [MAC_HEADER]: 'mac' } : {}),
      }
      const record = { topic: 'host.orders.v1', key: 'h1', value: '{}', headers }
      sent.set(record, given)
      return membership.judge(record)
    },
  }
}
const known = JSON.stringify({ cluster: OURS, publicKey: KEY })
const FOREIGN = `it is an order of cloud ${THEIRS}, and this host belongs to cloud ${OURS} (${PATH})`
const SIGNED = `and the orders of cloud ${OURS} are signed with key ${KEY} (${PATH})`

describe('a host that belongs to no cloud', () => {
  test.each<[Sent, unknown]>([
    [{}, null],
    [{ signer: KEY }, null],
    [{ signer: KEY, mac: true }, null],
    [{ cloud: OURS }, { cluster: OURS }],
    [
      { cloud: OURS, signer: KEY },
      { cluster: OURS, publicKey: KEY },
    ],
  ])('takes an order with %j, and keeps %j', async (given, kept) => {
    const it = await open()
    expect([await it.judge(given), await it.kept(), it.membership.id()]).toEqual([
      null,
      kept,
      kept === null ? null : OURS,
    ])
  })
  test('takes no order whose signature is wrong, and learns nothing from it', async () => {
    const it = await open()
    expect([await it.judge({ cloud: OURS, wrong: 'it is forged' }), await it.kept(), it.membership.id()]).toEqual([
      'it is forged',
      null,
      null,
    ])
  })
})

describe('a host that belongs to a cloud', () => {
  test.each<[Sent, string | null]>([
    [{ cloud: OURS, signer: KEY }, null],
    [{ signer: KEY }, null],
    [{ cloud: OURS, signer: OTHER }, `it is signed with key ${OTHER}, ${SIGNED}`],
    [{ cloud: OURS }, `it is not signed, ${SIGNED}`],
    [{}, `it is not signed, ${SIGNED}`],
    [{ cloud: OURS, wrong: 'it is forged' }, 'it is forged'],
    [{ cloud: THEIRS, signer: KEY }, FOREIGN],
    [{ cloud: THEIRS, wrong: 'it is forged' }, FOREIGN],
  ])('and knows its key answers an order with %j by %j, and keeps what it has', async (given, answer) => {
    const it = await open(known)
    expect([await it.judge(given), await it.kept()]).toEqual([answer, JSON.parse(known)])
    // a MAC of another cloud may be for a key that this host does not have
    expect(it.verified()).toBe(answer === FOREIGN ? 0 : 1)
  })
  test('learns its key from the first signed order that names it', async () => {
    const it = await open(JSON.stringify({ cluster: OURS }))
    expect([await it.judge({}), await it.judge({ signer: OTHER }), await it.kept()]).toEqual([
      null,
      null,
      { cluster: OURS },
    ])
    expect([await it.judge({ cloud: OURS, signer: KEY }), await it.kept()]).toEqual([null, JSON.parse(known)])
    expect(await it.judge({ cloud: OURS, signer: OTHER })).toBe(`it is signed with key ${OTHER}, ${SIGNED}`)
  })
  test('takes an order again whose cloud could not be written', async () => {
    let full = true
    const it = await open(null, (disk) => ({
      ...disk,
      replace: (path, text) => (full ? Promise.reject(new Error('ENOSPC')) : disk.replace(path, text)),
    }))
    await expect(it.judge({ cloud: OURS, signer: KEY })).rejects.toThrow('ENOSPC')
    expect(it.membership.id()).toBe(null)
    full = false
    expect([await it.judge({ cloud: THEIRS }), it.membership.id(), await it.kept()]).toEqual([
      null,
      THEIRS,
      { cluster: THEIRS },
    ])
  })
})

describe('the cloud checks MACs', () => {
  test('once an order of it has carried one, in this start', async () => {
    const it = await open(known)
    const checks = async (given: Sent) => (await it.judge(given), it.membership.checksMacs())
    expect(await checks({ cloud: OURS, signer: KEY })).toBe(null)
    expect(await checks({ cloud: OURS, signer: OTHER, mac: true })).toBe(null)
    expect(await checks({ cloud: OURS, signer: KEY, mac: true })).toBe(KEY)
    expect(await checks({ cloud: OURS, signer: KEY })).toBe(KEY)
    expect((await open(known)).membership.checksMacs()).toBe(null)
  })
  test('not where the key is not that of the cloud', async () => {
    const it = await open()
    await it.judge({ signer: OTHER, mac: true })
    expect(it.membership.checksMacs()).toBe(null)
    await it.judge({ cloud: OURS, signer: KEY })
    expect(it.membership.checksMacs()).toBe(null)
  })
})

test.each(['', '{}', '{"cluster":"x"}', `{"cluster":"${OURS}","publicKey":"x"}`, '[]'])(
  'a file that holds %j is no cloud, and the host does not start',
  async (text) =>
    await expect(open(text)).rejects.toThrow(
      `${PATH}: it does not name a cloud; correct it, or remove it if this host may join any cloud`,
    ),
)
