/** ADMISSION and ENROLLMENT: whose reports are believed. */
import { describe, expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { reportRecord } from '../../src/wire/message.ts'
import type { Report } from '../../src/wire/reports.ts'
import type { Signer } from '../../src/wire/signature.ts'
import { openPlane as open, NOVA, value } from '../support/plane.ts'
import { signerOf } from '../support/keys.ts'
import { memoryLog } from '../support/lab.ts'
import { heartbeatOf, inventoryOf } from '../support/reports.ts'

const PENDING_MAX = 1000

const [own, other] = [signerOf('h1'), signerOf('other')]
const CLOUD = { id: '0a11ce00-0000-4000-8000-000000000001', signer: signerOf('cloud') }
const openPlane = async (
  enrollment: 'first-use' | 'approve' = 'first-use',
  store?: Store,
  cloud: typeof CLOUD | null = null,
) => {
  const log = memoryLog()
  const w = await open({ options: { enrollment }, log, ...(cloud === null ? {} : { cloud }) }, store)
  const { reports } = w.plane
  let number = 0
  /** As the inbox does it. */
  const arrives = async (record: BusRecord, report: Report) => {
    const admitted = reports.admit(record)
    if ('refused' in admitted) return admitted.refused
    const taken = await reports.take(report, systemIds.uuid(), admitted.signer)
    return taken.ok ? 'taken' : taken.fault.kind === 'forbidden' ? taken.fault.rule : JSON.stringify(taken.fault)
  }
  const send = (report: Report, signer: Signer | null) => {
    const plain = reportRecord(report, systemIds.uuid(), 0)
    return arrives(signer === null ? plain : signer.signed(plain), report)
  }
  const inventory = (signer: Signer | null, host = 'h1', aliases: readonly string[] = []) =>
    send(inventoryOf(host, ++number, { aliases }), signer)
  const host = async (name = 'h1') => {
    const got = await w.control.hosts.get(NOVA, name)
    return got.ok ? got.value : null
  }
  const rows = async (name = 'h1') => w.store.journal.history([`host/${name}`], 1000)
  const events = async (name = 'h1') => (await rows(name)).flatMap((row) => row.events)
  const counts = () => w.plane.counts().refusedReports
  const shownKeys = () => log.said.filter(({ message }) => message === 'host.keyPresented').map(({ detail }) => detail)
  return { ...w, arrives, send, inventory, host, rows, events, counts, shownKeys }
}
const NOTE = { by: 'ops', reason: 'compared' }

describe('ENROLLMENT-2 first-use', () => {
  test('the first signed report decides the key, and later ones with it are believed', async () => {
    const w = await openPlane()
    expect(await w.inventory(own)).toBe('taken')
    expect(await w.host()).toMatchObject({ public_key: own.publicKey, offered_key: null, liveness: 'up' })
    expect(await w.inventory(own, 'h1', ['more'])).toBe('taken')
    expect(await w.host()).toMatchObject({ aliases: ['more'] })
    expect((await w.events()).filter((event) => 'key' in event)).toHaveLength(1)
    expect(w.shownKeys()).toEqual([{ host: 'h1', key: own.publicKey, enrollment: 'first-use' }])
  })
  test.each(['first-use', 'approve'] as const)(
    'ADMISSION-5 with %s a host that signs nothing is refused, and nothing is recorded of it before it has a key',
    async (enrollment) => {
      const w = await openPlane(enrollment, undefined, CLOUD)
      expect(await w.inventory(null)).toBe(
        'signer: this is not signed: host h1 has to be upgraded to release 0.3.0 first',
      )
      // a heartbeat is worth no dead letter
      expect(await w.send(heartbeatOf('h1'), null)).toBe('taken')
      expect([await w.host(), await w.rows(), w.counts().unsigned]).toEqual([null, [], 2])
      await w.inventory(own)
      if (enrollment === 'approve') value(await w.control.hosts.approve(NOVA, 'h1', NOTE, own.publicKey))
      expect(await w.inventory(own)).toBe('taken')
      expect(await w.inventory(null, 'h1', ['forged'])).toMatch(
        /^signer: host h1 signs with key .* and this is not signed/,
      )
      expect(await w.host()).toMatchObject({ public_key: own.publicKey, aliases: [] })
      value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, null))
      expect(await w.inventory(null, 'h1', ['forged'])).toContain('this is not signed')
      expect(await w.host()).toMatchObject({ aliases: [] })
    },
  )
  test('of two keys that are shown at once, one is accepted and the other refused', async () => {
    const w = await openPlane()
    const said = await Promise.all([w.inventory(own), w.inventory(other)])
    expect(said.filter((one) => one === 'taken')).toHaveLength(1)
    expect(w.shownKeys()).toHaveLength(1)
  })
  test('a heartbeat of an unknown host decides nothing', async () => {
    const w = await openPlane()
    expect(await w.send(heartbeatOf('h1'), own)).toBe('taken')
    expect(await w.rows()).toEqual([])
  })
})

describe('ENROLLMENT-1 another key', () => {
  test('is refused for good, naming both keys and the remedy, counted, recorded once, and changes nothing', async () => {
    const w = await openPlane()
    await w.inventory(own)
    const said = await w.inventory(other, 'h1', ['forged'])
    expect(said).toContain(own.publicKey)
    expect(said).toContain(other.publicKey)
    expect(said).toContain('host rekey')
    await w.inventory(other, 'h1', ['forged'])
    expect(await w.host()).toMatchObject({ aliases: [], public_key: own.publicKey })
    expect(w.counts()).toMatchObject({ foreign_key: 2 })
    expect((await w.events()).filter(({ type }) => type === 'ReportRefused')).toMatchObject([{ reason: 'foreign_key' }])
  })
  test('does not count as a sign of life, and its heartbeats are no dead letters', async () => {
    const w = await openPlane()
    await w.inventory(own)
    const seen = (await w.host())!.last_seen_at!
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await w.send(heartbeatOf('h1'), other)).toBe('taken')
    expect(w.counts()).toMatchObject({ foreign_key: 1 })
    expect(Math.abs((await w.host())!.last_seen_at! - seen)).toBeLessThan(10)
    await w.send(heartbeatOf('h1'), own)
    expect((await w.host())!.last_seen_at! - seen).toBeGreaterThan(10)
  })
  test('is not believed for an inventory that is known already', async () => {
    const w = await openPlane()
    const report = inventoryOf('h1', 1)
    await w.send(report, own)
    const seen = { host: 'h1', boot: report.bootId, number: 2, digest: 'x' }
    const { digest } = JSON.parse(JSON.stringify(await w.events())).find(
      (one: { picture?: object }) => one.picture,
    ).picture
    await new Promise((resolve) => setTimeout(resolve, 600))
    await w.send(inventoryOf('h1', 2), own)
    expect(w.plane.reports.unchanged({ ...seen, number: 3, digest }, other.publicKey)).toBe(false)
    expect(w.plane.reports.unchanged({ ...seen, number: 3, digest }, null)).toBe(false)
    expect(w.plane.reports.unchanged({ ...seen, number: 3, digest }, own.publicKey)).toBe(true)
  })
})

test('ADMISSION-1 a message that was changed on its way is refused, counted, and nothing is recorded', async () => {
  const w = await openPlane()
  const report = inventoryOf('h1', 1)
  const record = own.signed(reportRecord(report, 'id', 0))
  const forged = { ...record, value: record.value.replace('"h1"', '"h2"') }
  expect(await w.arrives(forged, report)).toMatch(/^signature: does not fit/)
  expect([await w.rows(), w.counts().bad_signature]).toEqual([[], 1])
})

describe('ENROLLMENT-2 approve', () => {
  test('nothing of a host is recorded but that it waits, until an operator approves its key', async () => {
    const w = await openPlane('approve')
    for (let n = 0; n < 5; n++) expect(await w.inventory(own)).toBe('taken')
    expect(await w.host()).toMatchObject({
      liveness: 'pending',
      offered_key: own.publicKey,
      public_key: null,
      boot_id: null,
    })
    expect(value(await w.control.hosts.list({})).items).toMatchObject([{ name: 'h1', liveness: 'pending' }])
    expect(await w.rows()).toHaveLength(1)
    expect(w.counts()).toMatchObject({ not_approved: 5 })
    value(await w.control.hosts.approve(NOVA, 'h1', NOTE, own.publicKey))
    expect(await w.inventory(own)).toBe('taken')
    expect(await w.host()).toMatchObject({ liveness: 'up', offered_key: null, public_key: own.publicKey })
    expect(value(await w.control.hosts.approve(NOVA, 'h1', NOTE, null))).toMatchObject({ public_key: own.publicKey })
  })
  test('another key than the one that the operator compared is not approved', async () => {
    const w = await openPlane('approve')
    await w.inventory(other)
    expect(await w.control.hosts.approve(NOVA, 'h1', NOTE, own.publicKey)).toMatchObject({
      fault: { kind: 'conflict' },
    })
    expect(await w.host()).toMatchObject({ public_key: null })
  })
  test('a key may be approved before the host has reported; then no other is taken', async () => {
    const w = await openPlane('approve')
    value(await w.control.hosts.approve(NOVA, 'h1', NOTE, own.publicKey))
    expect(await w.inventory(other)).toContain('is signed with key')
    expect(await w.inventory(own)).toBe('taken')
    expect(await w.host()).toMatchObject({ liveness: 'up' })
  })
  test('a host that nobody knows, and that shows no key, cannot be approved', async () => {
    const w = await openPlane('approve')
    expect(await w.inventory(null)).toBe('taken')
    expect(await w.control.hosts.approve(NOVA, 'h1', NOTE, null)).toMatchObject({ fault: { kind: 'conflict' } })
    expect(await w.control.hosts.rekey(NOVA, 'h1', NOTE, null)).toMatchObject({ fault: { kind: 'not_found' } })
    expect(await w.rows()).toEqual([])
  })
  test('ENROLLMENT-4 many keys shown for one host are one entry in its journal', async () => {
    const w = await openPlane('approve')
    for (let n = 0; n < 10; n++) await w.inventory(signerOf(`key ${n}`))
    expect(await w.rows()).toHaveLength(1)
  })
  test('a host that waits and is not wanted is removed, and is not shown as waiting again', async () => {
    const w = await openPlane('approve')
    await w.inventory(own)
    value(await w.control.hosts.remove(NOVA, 'h1', NOTE, false))
    await w.inventory(other)
    expect(await w.host()).toMatchObject({ liveness: 'removed' })
    expect(await w.rows()).toHaveLength(2)
    expect(value(await w.control.hosts.restore(NOVA, 'h1', NOTE))).toMatchObject({ liveness: 'pending' })
  })
  test('ADMISSION-3 no more than a thousand hosts wait', async () => {
    const before = await openPlane()
    await before.inventory(null)
    await before.plane.stop()
    const w = await openPlane('approve', before.store)
    for (let n = 0; n < PENDING_MAX + 3; n++)
      value(await w.plane.reports.take(inventoryOf(`stranger-${n}`, 1), `${n}`, own.publicKey))
    const pending = value(await w.control.hosts.list({})).items.filter(({ liveness }) => liveness === 'pending')
    expect(pending).toHaveLength(PENDING_MAX)
    expect(await w.rows(`stranger-${PENDING_MAX + 1}`)).toEqual([])
    // a host that is known already needs no room
    expect(await w.inventory(own)).toBe('taken')
    expect(await w.host()).toMatchObject({ offered_key: own.publicKey })
  })
  test('a host that was believed before goes on', async () => {
    const w = await openPlane()
    await w.inventory(own)
    await w.plane.stop()
    const later = await open({ options: { enrollment: 'approve' } }, w.store)
    const report = inventoryOf('h1', 9, { aliases: ['later'] })
    const { signer } = later.plane.reports.admit(own.signed(reportRecord(report, 'x', 0))) as { signer: string }
    value(await later.plane.reports.take(report, systemIds.uuid(), signer))
    expect(value(await later.control.hosts.get(NOVA, 'h1'))).toMatchObject({ aliases: ['later'] })
  })
})

describe('ENROLLMENT-3 rekey', () => {
  test('the named key is believed from then on, and the old one is not', async () => {
    const w = await openPlane()
    await w.inventory(own)
    value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, other.publicKey))
    expect(await w.inventory(own)).toContain('is signed with key')
    expect(await w.inventory(other, 'h1', ['new'])).toBe('taken')
    expect(await w.host()).toMatchObject({ public_key: other.publicKey, aliases: ['new'] })
  })
  test('without a name the next key counts as the first one', async () => {
    const w = await openPlane()
    await w.inventory(own)
    value(await w.control.hosts.rekey(NOVA, 'h1', NOTE, null))
    expect(await w.host()).toMatchObject({ public_key: null })
    expect(await w.inventory(other)).toBe('taken')
    expect(await w.inventory(own)).toContain('is signed with key')
  })
  test('that another control carried out counts here after a sweep at most', async () => {
    const stores = memoryStores({ exclusive: false })
    const [w, second] = [await openPlane('first-use', stores()), await open({}, stores())]
    await w.inventory(own)
    value(await second.control.hosts.rekey(NOVA, 'h1', NOTE, other.publicKey))
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(await w.inventory(own)).toContain('is signed with key')
    expect(await w.inventory(other)).toBe('taken')
    await second.plane.stop()
  })
})
