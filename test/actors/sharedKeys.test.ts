/** ONE-KEY: each host has a key of its own, whatever image its machine was made from. */
import { describe, expect, it } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { Store } from '../../src/persistence/store.ts'
import { reportRecord } from '../../src/wire/message.ts'
import type { Report } from '../../src/wire/reports.ts'
import { signerOf } from '../support/keys.ts'
import { memoryLog } from '../support/lab.ts'
import { openPlane, NOVA, value } from '../support/plane.ts'
import { heartbeatOf, inventoryOf } from '../support/reports.ts'
import { onStoresOfSeveral } from '../support/storeOfSeveral.ts'

const NOTE = { by: 'ops', reason: 'compared' }
const [image, own] = [signerOf('golden image'), signerOf('own')]
const RULE = (other: string) =>
  `key ${image.publicKey} is that of host ${other}: each host needs a key of its own; remove key.pem in the data folder of the new host and restart it`
const CONFLICT = (other: string) => ({ fault: { kind: 'conflict', reason: expect.stringContaining(RULE(other)) } })

const openControl = async (store?: Store, enrollment: 'first-use' | 'approve' = 'first-use') => {
  const log = memoryLog()
  const w = await openPlane({ options: { enrollment }, log }, store)
  let number = 0
  const send = async (report: Report, signer = image) => {
    const admitted = w.plane.reports.admit(signer.signed(reportRecord(report, systemIds.uuid(), 0)))
    if ('refused' in admitted) return admitted.refused
    const taken = await w.plane.reports.take(report, systemIds.uuid(), admitted.signer)
    return taken.ok ? 'taken' : taken.fault.kind === 'forbidden' ? taken.fault.rule : JSON.stringify(taken.fault)
  }
  return {
    ...w,
    log,
    send,
    reports: (host: string, signer = image) => send(inventoryOf(host, ++number), signer),
    key: async (name: string) => {
      const got = await w.control.hosts.get(NOVA, name)
      return got.ok ? got.value.public_key : 'unknown'
    },
    rekey: (name: string, key: string | null) => w.control.hosts.rekey(NOVA, name, NOTE, key),
    approve: (name: string, key: string | null) => w.control.hosts.approve(NOVA, name, NOTE, key),
    remove: async (name: string) => value(await w.control.hosts.remove(NOVA, name, NOTE, false)),
    restore: (name: string) => w.control.hosts.restore(NOVA, name, NOTE),
    refused: () => w.plane.counts().refusedReports.shared_key,
  }
}
type Control = Awaited<ReturnType<typeof openControl>>
/** As a release that gives no key to anybody has recorded it. */
const acceptedBefore = async ({ store }: Control, name: string): Promise<void> => {
  const { key, version } = (await store.journal.history([`host/${name}`], 100)).at(-1)!
  const event = { type: 'LivenessSet', liveness: 'up', by: name, key: { did: 'pinned', name, key: image.publicKey } }
  const row = { key, version: version + 1, commandId: systemIds.uuid(), events: [event], at: Date.now(), cause: {} }
  expect(await store.journal.append({ rows: [row], changes: [] })).toBe('appended')
}

describe('the key of another host', () => {
  it('is not accepted by first use: the report is refused with the remedy, counted, and changes nothing', async () => {
    const w = await openControl()
    expect(await w.reports('gpu-01')).toBe('taken')
    expect(await w.reports('gpu-02')).toBe(`signer: ${RULE('gpu-01')}`)
    expect(await w.send(heartbeatOf('gpu-02'))).toBe('taken')
    expect(await w.reports('gpu-02', own)).toBe('taken')
    expect([await w.key('gpu-01'), await w.key('gpu-02')]).toEqual([image.publicKey, own.publicKey])
    expect(w.refused()).toBe(1)
  })
  it('does not wait for approval, and no operator can approve it or name it instead of another key', async () => {
    const w = await openControl(undefined, 'approve')
    value(await w.approve('gpu-01', image.publicKey))
    expect(await w.reports('gpu-02')).toBe(`signer: ${RULE('gpu-01')}`)
    expect(await w.key('gpu-02')).toBe('unknown')
    expect(await w.approve('gpu-02', image.publicKey)).toMatchObject(CONFLICT('gpu-01'))
    value(await w.approve('gpu-02', own.publicKey))
    expect(await w.rekey('gpu-02', image.publicKey)).toMatchObject(CONFLICT('gpu-01'))
    expect(await w.key('gpu-02')).toBe(own.publicKey)
  })
  it('that waited before the other host had it is not approved', async () => {
    const w = await openControl(undefined, 'approve')
    for (const name of ['gpu-01', 'gpu-02']) expect(await w.reports(name)).toBe('taken')
    value(await w.approve('gpu-01', null))
    expect(await w.approve('gpu-02', null)).toMatchObject(CONFLICT('gpu-01'))
  })
  it('is recorded as refused of a host that is known', async () => {
    const w = await openControl()
    await w.reports('gpu-01')
    await w.reports('gpu-02', own)
    value(await w.rekey('gpu-02', null))
    expect(await w.reports('gpu-02')).toContain(RULE('gpu-01'))
    const events = (await w.store.journal.history(['host/gpu-02'], 100)).flatMap((row) => row.events)
    expect(events).toContainEqual({ type: 'ReportRefused', reason: 'shared_key', detail: `signer: ${RULE('gpu-01')}` })
  })
  it('is free when that host has another one, and its own again when it comes back', async () => {
    const w = await openControl()
    await w.reports('gpu-01')
    value(await w.rekey('gpu-01', own.publicKey))
    expect(await w.reports('gpu-02')).toBe('taken')
    expect(await w.rekey('gpu-01', image.publicKey)).toMatchObject(CONFLICT('gpu-02'))
    value(await w.rekey('gpu-02', signerOf('third').publicKey))
    value(await w.rekey('gpu-01', image.publicKey))
    expect(await w.key('gpu-01')).toBe(image.publicKey)
  })
  it('is free when that host was removed, which is then not restored with it', async () => {
    const w = await openControl()
    await w.reports('gpu-01')
    await w.remove('gpu-01')
    expect(await w.reports('gpu-02')).toBe('taken')
    expect(await w.restore('gpu-01')).toMatchObject({
      fault: { kind: 'conflict', reason: expect.stringMatching(/is that of host gpu-02: .*host rekey$/) },
    })
    value(await w.rekey('gpu-01', null))
    value(await w.restore('gpu-01'))
    expect(await w.reports('gpu-01')).toContain(RULE('gpu-02'))
  })
  it('is not that of a host which was removed and restored before another one showed it', async () => {
    const w = await openControl()
    await w.reports('gpu-01')
    await w.remove('gpu-01')
    value(await w.restore('gpu-01'))
    expect(await w.reports('gpu-02')).toContain(RULE('gpu-01'))
  })
})

describe('a key that a former release accepted', () => {
  it('belongs to its host', async () => {
    const before = await openControl()
    await before.reports('gpu-01', own)
    await acceptedBefore(before, 'gpu-01')
    await before.plane.stop()
    const w = await openControl(before.store)
    expect(await w.reports('gpu-02')).toContain(RULE('gpu-01'))
  })
  it('for two hosts stays accepted for both, and the log names them', async () => {
    const before = await openControl()
    for (const name of ['gpu-01', 'gpu-02']) {
      await before.reports(name, signerOf(name))
      await acceptedBefore(before, name)
    }
    await before.plane.stop()
    const w = await openControl(before.store)
    for (const name of ['gpu-01', 'gpu-02']) expect(await w.reports(name)).toBe('taken')
    expect(await w.reports('gpu-03')).toContain(RULE('gpu-01'))
    expect(w.log.said.filter(({ message }) => message === 'host.keyShared').map(({ detail }) => detail)).toEqual([
      { key: image.publicKey, hosts: ['gpu-01', 'gpu-02'] },
    ])
    value(await w.rekey('gpu-01', own.publicKey))
    expect(await w.reports('gpu-03')).toContain(RULE('gpu-02'))
  })
})

/** Each call opens the store of one more control. */
const atOnce = async (open: () => Promise<Store>) => {
  const controls = [await openControl(await open()), await openControl(await open())] as const
  const said = await Promise.all(controls.map((control, at) => control.reports(`gpu-0${at + 1}`)))
  const refused = controls[0].refused() + controls[1].refused()
  for (const { plane, store } of controls) {
    await plane.stop()
    await store.close()
  }
  return { taken: said.filter((one) => one === 'taken').length, refused }
}

onStoresOfSeveral((withStores) => {
  it('of two hosts that show one key to two controls at the same time, one is refused', async () => {
    expect(await withStores(atOnce)).toEqual({ taken: 1, refused: 1 })
  })
})
