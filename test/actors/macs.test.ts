/** What a control does with MACs: whose it takes, and which orders carry one. */
import { describe, expect, test } from 'vitest'
import { systemIds } from '../../src/clock.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { orderRecord, reportRecord } from '../../src/wire/message.ts'
import type { InventoryReport, Report } from '../../src/wire/reports.ts'
import { BOOT_HEADER, CLOUD_HEADER } from '../../src/wire/seal.ts'
import { MAC_HEADER, SIGNATURE_HEADER, SIGNER_HEADER, type Signer, createVerify } from '../../src/wire/signature.ts'
import { openPlane as open, NOVA, value } from '../support/plane.ts'
import { signerOf } from '../support/keys.ts'
import { heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'

const [OURS, THEIRS] = ['0a11ce00-0000-4000-8000-000000000001', '0a11ce00-0000-4000-8000-000000000002']
const [cloud, own, other] = [signerOf('cloud'), signerOf('h1'), signerOf('other')]
const NOTE = { by: 'ops', reason: 'compared' }
type Made = (record: BusRecord) => BusRecord
const unsigned: Made = (record) => record
const signedBy =
  (signer: Signer): Made =>
  (record) =>
    signer.signed(record)
const macBy =
  (signer: Signer, receiver = cloud): Made =>
  (record) =>
    signer.signedFor(record, receiver.publicKey)
const inTheNameOf =
  (signer: Signer, made: Made): Made =>
  (record) => {
    const forged = made(record)
    return { ...forged, headers: { ...forged.headers, [SIGNER_HEADER]: signer.publicKey } }
  }

const openPlane = async (enrollment: 'first-use' | 'approve' = 'first-use', store?: Store) => {
  const w = await open({ options: { enrollment }, cloud: { id: OURS, signer: cloud } }, store)
  let number = 0
  /** As the inbox does it. */
  const arrives = async (report: Report, made: Made, cluster = OURS) => {
    const plain = reportRecord(report, systemIds.uuid(), 0)
    const admitted = w.plane.reports.admit(made({ ...plain, headers: { ...plain.headers, [CLOUD_HEADER]: cluster } }))
    if ('refused' in admitted) return admitted.refused
    const taken = await w.plane.reports.take(report, systemIds.uuid(), admitted.signer)
    return taken.ok ? 'taken' : taken.fault.kind === 'forbidden' ? taken.fault.rule : JSON.stringify(taken.fault)
  }
  const inventory = (made: Made, more: Partial<InventoryReport> = {}) =>
    arrives(inventoryOf('h1', ++number, { macs: true, ...more }), made)
  const order = async (): Promise<BusRecord> => {
    const handle = { type: 'PCI', info: { domain: '0', bus: '0', device: '0', function: '0' } } as const
    const slot = systemIds.uuid()
    const head = { host: 'h1', slot, number: 1, driver: 'd', deployable: 'n', deployableUuid: slot, deadline: 0 }
    const [sealed] = await w.plane.seal([orderRecord({ ...head, type: 'ReleaseSlot', handle }, 'x', 0)])
    return sealed!
  }
  /** How an order for the host says whom it is from. */
  const proof = async () => {
    const { headers } = await order()
    return [MAC_HEADER, SIGNATURE_HEADER].filter((name) => name in headers).join(' and ')
  }
  const host = async () => {
    const got = await w.control.hosts.get(NOVA, 'h1')
    return got.ok ? got.value : null
  }
  const counts = () => w.plane.counts().refusedReports
  return { ...w, arrives, inventory, order, proof, host, counts }
}

describe('orders', () => {
  test('for a start that checks MACs, of a host whose key is known, have one that only this host can check', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own), { bootNumber: 7 })
    expect(await w.proof()).toBe(MAC_HEADER)
    const order = await w.order()
    expect(order.headers).toMatchObject({ [CLOUD_HEADER]: OURS, [BOOT_HEADER]: '7' })
    expect(createVerify(own)(order)).toEqual({ signer: cloud.publicKey })
    expect(createVerify(other)(order)).toHaveProperty('wrong')
  })
  test('for any other host are signed: an unknown one, one that signs nothing, one that does not say that it checks MACs', async () => {
    const w = await openPlane()
    expect(await w.proof()).toBe(SIGNATURE_HEADER)
    await w.inventory(unsigned)
    expect(await w.proof()).toBe(SIGNATURE_HEADER)
    await w.inventory(signedBy(own), { macs: undefined })
    expect([(await w.host())!.public_key, await w.proof()]).toEqual([own.publicKey, SIGNATURE_HEADER])
  })
  test('are signed again for a later start that does not say it, as after a step back, and have MACs after the next', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own), { bootNumber: 1 })
    expect(await w.proof()).toBe(MAC_HEADER)
    await w.inventory(signedBy(own), { bootId: systemIds.uuid(), bootNumber: 2, macs: undefined })
    expect(await w.proof()).toBe(SIGNATURE_HEADER)
    await w.inventory(signedBy(own), { bootId: systemIds.uuid(), bootNumber: 3 })
    expect(await w.proof()).toBe(MAC_HEADER)
  })
  test('are not changed by an old announcement that is repeated', async () => {
    const w = await openPlane()
    const former = inventoryOf('h1', 1, { macs: true, bootNumber: 1 })
    await w.arrives(former, signedBy(own))
    await w.inventory(signedBy(own), { bootId: systemIds.uuid(), bootNumber: 2, macs: undefined })
    await w.arrives(former, signedBy(own))
    expect(await w.proof()).toBe(SIGNATURE_HEADER)
  })
  test('have MACs once a start says it that was recorded by a control of an earlier release', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own), { macs: undefined })
    await w.inventory(signedBy(own))
    expect(await w.proof()).toBe(MAC_HEADER)
  })
  test('of a host that shows a key with which there is no secret are signed, and those of other hosts go on', async () => {
    const w = await openPlane()
    const useless = 'A'.repeat(43)
    value(await w.plane.reports.take(inventoryOf('h1', 1, { macs: true }), 'x', useless))
    expect([(await w.host())!.public_key, await w.proof()]).toEqual([useless, SIGNATURE_HEADER])
  })
  test('follow what an operator says of the key: for the named one, and signed while the next one is awaited', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own))
    value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, other.publicKey))
    expect(createVerify(other)(await w.order())).toEqual({ signer: cloud.publicKey })
    value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, null))
    expect(await w.proof()).toBe(SIGNATURE_HEADER)
  })
})

describe('reports', () => {
  test('with a MAC of the known key are taken, and so are signed ones', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own))
    expect(await w.arrives(heartbeatOf('h1'), macBy(own))).toBe('taken')
    expect(await w.inventory(macBy(own), { aliases: ['more'] })).toBe('taken')
    expect(await w.inventory(signedBy(own), { aliases: ['most'] })).toBe('taken')
    expect(await w.host()).toMatchObject({ aliases: ['most'], public_key: own.publicKey })
  })
  const refused: readonly (readonly [string, string, RegExp, Made])[] = [
    ['another host', 'foreign_key', /is signed with key/, macBy(other)],
    ['another host in its name', 'bad_signature', /^mac: does not fit/, inTheNameOf(own, macBy(other))],
    ['the cloud itself', 'foreign_key', /is signed with key/, macBy(cloud)],
    ['the cloud in its name, for the host', 'bad_signature', /^mac: /, inTheNameOf(own, macBy(cloud, own))],
    ['the host for another control', 'bad_signature', /^mac: does not fit/, macBy(own, other)],
    ['nobody, though the host has used MACs', 'unsigned', /this is not signed/, unsigned],
  ]
  test.each(refused)(
    'in the name of a host, made by %s, are refused as %s and change nothing',
    async (...[, reason, rule, made]) => {
      const w = await openPlane()
      await w.inventory(signedBy(own))
      await w.arrives(heartbeatOf('h1'), macBy(own))
      expect(await w.inventory(made, { aliases: ['forged'] })).toMatch(rule)
      expect(await w.arrives(resultOf('h1', 1), made)).toMatch(rule)
      expect(await w.host()).toMatchObject({ aliases: ['h1'], public_key: own.publicKey })
      expect(w.counts()).toMatchObject({ [reason]: 2 })
    },
  )
  test('of a host of another cloud are refused as such, though their MAC cannot be checked here', async () => {
    const w = await openPlane()
    expect(await w.arrives(heartbeatOf('h1'), macBy(own, other), THEIRS)).toMatch(/^cluster: host h1 belongs to cloud/)
    expect(w.counts()).toMatchObject({ foreign_cluster: 1, bad_signature: 0 })
  })
  test('that name another cloud than they did when their MAC was made are refused', async () => {
    const w = await openPlane()
    const moved: Made = (record) => {
      const made = macBy(own)({ ...record, headers: { ...record.headers, [CLOUD_HEADER]: THEIRS } })
      return { ...made, headers: { ...made.headers, [CLOUD_HEADER]: OURS } }
    }
    expect(await w.arrives(heartbeatOf('h1'), moved)).toMatch(/^mac: does not fit/)
  })
  test('with a MAC decide the key of a host that has none, or wait, as signed ones do', async () => {
    const w = await openPlane()
    expect(await w.inventory(macBy(own))).toBe('taken')
    expect(await w.host()).toMatchObject({ public_key: own.publicKey })
    const approving = await openPlane('approve')
    await approving.inventory(macBy(own))
    expect(await approving.host()).toMatchObject({ liveness: 'pending', offered_key: own.publicKey, public_key: null })
  })
  test('of a former key are refused once an operator has named another one', async () => {
    const w = await openPlane()
    await w.inventory(signedBy(own))
    value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, other.publicKey))
    expect(await w.inventory(macBy(own))).toContain('is signed with key')
    expect(await w.inventory(macBy(other), { aliases: ['new'] })).toBe('taken')
  })
})
