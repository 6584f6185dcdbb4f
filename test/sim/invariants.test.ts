import { beforeAll, describe, expect, it } from 'vitest'
import { INVARIANTS, check } from '../../src/audit/check.ts'
import type { Evidence } from '../../src/audit/evidence.ts'
import { FORGERIES, soundEvidence } from '../audit/forgeries.ts'
import { recordedTwice } from './returning.ts'

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
  it('are all shown to be able to fail', () => {
    const shown = new Set(FORGERIES.map(([name]) => name))
    expect(INVARIANTS.map(({ name }) => name).filter((name) => !shown.has(name))).toEqual([])
  })
})
