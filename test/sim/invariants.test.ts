import { beforeAll, describe, expect, it } from 'vitest'
import { COMPARISON } from '../../src/actors/deployable/slots.ts'
import { markKey } from '../../src/actors/placement/marks.ts'
import { INVARIANTS, check } from '../../src/audit/check.ts'
import type { Evidence } from '../../src/audit/evidence.ts'
import { FORGERIES } from '../audit/forgeries.ts'
import { soundEvidence } from '../audit/soundEvidence.ts'
import { recordedTwice } from './returning.ts'
import { falseDifferences } from './slots.ts'

describe('invariants', () => {
  let evidence: Evidence
  beforeAll(async () => {
    evidence = await soundEvidence()
  })
  const broken = (change: Partial<Evidence>) => check({ ...evidence, ...change })

  it('hold over evidence that nobody touched', () => expect(check(evidence)).toEqual([]))
  it('judge by the journal alone when there is nothing else', () =>
    expect(check({ journal: evidence.journal, now: evidence.now, pauses: evidence.pauses! })).toEqual([]))
  it.each(FORGERIES)('%s: %s', (name, _, forgery) =>
    expect(broken(forgery(evidence)).map(({ invariant }) => invariant)).toContain(name),
  )
  it.each(FORGERIES)('prove what breaks %s, as when %s', (name, _, forgery) => {
    const proofs = broken(forgery(evidence)).filter(({ invariant }) => invariant === name)
    expect(proofs.filter(({ proof }) => proof.length === 0)).toEqual([])
  })
  it('tell that a device was recorded a second time', () => {
    const row = evidence.journal.find(({ events }) => events.some(({ type }) => type === 'DeviceRecorded'))!
    expect(recordedTwice(evidence)).toEqual([])
    expect(recordedTwice({ journal: [...evidence.journal, { ...row, key: 'device/another' }] })).toHaveLength(1)
  })
  it('tell that a handle was taken for different though its host has what the journal holds', () => {
    const row = { ...evidence.journal[0]!, key: 'deployable/d' }
    const withheld = { type: 'HandleQuarantined', handle: 'h', until: 'released', by: COMPARISON, reason: 'why' }
    const again = { type: 'Granted', handle: 'h', arq: 'a', order: null, repeated: 'why' }
    for (const event of [withheld, again]) {
      const journal = [{ ...row, events: [event] }]
      expect(falseDifferences({ journal }, new Set(['h']))).toEqual([])
      expect(falseDifferences({ journal }, new Set())).toHaveLength(1)
    }
    const shown = (key: string, uuid: string) => {
      const description = { handles: [{ uuid, attachType: 'TEST_PCI', attachInfo: { bus: '0c', device: '00' } }] }
      return { ...row, key, events: [{ type: 'DeployableRecorded', identity: { host: 'h1', name: key }, description }] }
    }
    const answers = (type: string) => ({
      ...row,
      key: 'deployable/part',
      events: [{ type, slot: 'of part', number: 2 }],
    })
    const compared = { ...row, events: [withheld] }
    const found = (...rows: object[]) =>
      falseDifferences(
        { journal: [shown('deployable/d', 'h'), shown('deployable/part', 'of part'), ...rows] as never },
        new Set(),
      )
    // a part of the card, made by an image that is gone, is still prepared, because its release has failed
    expect(found(answers('OrderFailed'), compared)).toEqual([])
    expect(found(compared, answers('OrderFailed'))).toHaveLength(1)
    expect(found(answers('OrderFailed'), answers('OrderDone'), compared)).toHaveLength(1)
    // an operator has released the handle itself although its release had failed
    const own = (type: string) => ({ ...row, events: [{ type, slot: 'h', handle: 'h', number: 2 }] })
    expect(found(own('OrderFailed'), own('HandleCleared'), compared)).toEqual([])
    expect(found(own('OrderFailed'), compared)).toHaveLength(1)
    expect(found(own('HandleCleared'), compared)).toHaveLength(1)
    // only a lost row tells that a handle which the host may still have prepared was of this hardware
    const rows = [shown('deployable/part', 'of part')]
    const lostRows = { journal: [shown('deployable/d', 'h'), compared], lost: [{ rows, fromMs: 0, toMs: 0 }] }
    expect(falseDifferences(lostRows as never, new Set(['of part']))).toEqual([])
    expect(falseDifferences({ ...lostRows, lost: [] }, new Set(['of part']))).toHaveLength(1)
    const byHand = { ...row, events: [{ ...withheld, by: 'op' }] }
    expect(falseDifferences({ journal: [byHand] }, new Set())).toEqual([])
  })
  it('hold while a host is marked as due for Placement, and not when any other row is spare', () => {
    const spare = (entity: string) => {
      const row = { entity, kind: 'placement', at: 1 }
      const { views = {} } = evidence
      return broken({ views: { ...views, due: [...(views.due ?? []), row] } }).map(({ invariant }) => invariant)
    }
    expect(spare(markKey('h1'))).toEqual([])
    expect(spare('placement/h9')).toContain('S13')
  })
  it('are all shown to be able to fail', () => {
    const shown = new Set(FORGERIES.map(([name]) => name))
    expect(INVARIANTS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })
})
