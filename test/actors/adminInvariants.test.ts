/** What the invariants make of an operator's word: the lawful passes, and the same without the word is found. */
import { describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { bond, created, id, WORD } from './samples.ts'

const row = (
  key: string,
  version: number,
  at: number,
  by: string,
  ...events: readonly JournalRow['events'][number][]
): JournalRow => ({
  key,
  version,
  commandId: id(0x1000 + at + version),
  events,
  at,
  cause: { by },
})
const found = (name: string, ...journal: readonly JournalRow[]) =>
  check({ journal, now: 1_000_000 }).flatMap(({ invariant, found: line }) => (invariant === name ? [line] : []))

const PROFILE = `profile/${id(0xb1)}`
const ARQ = `arq/${id(0xa1)}`
const facts = { uuid: id(0xb1), name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }
const changed = (at: number) =>
  row(PROFILE, 2, at, 'op', { type: 'ProfileRegrouped', ...WORD }, {
    type: 'ProfileCreated',
    profile: { ...facts, groups: [{ 'resources:PGPU': '1' }] },
  } as JournalRow['events'][number])
const made = row(PROFILE, 1, 1, 'op', { type: 'ProfileCreated', profile: facts } as JournalRow['events'][number])

describe('S15, the group of a request', () => {
  it('is the one its profile had, whatever the profile is given later', () => {
    expect(found('S15', made, row(ARQ, 1, 2, 'u1', created), changed(3))).toEqual([])
  })
  it('may be the one that was read a moment before it changed', () => {
    expect(found('S15', made, changed(3), row(ARQ, 1, 5000, 'u1', created))).toEqual([])
  })
  it('is not one that its profile had long ago, and not one it never had', () => {
    const late = row(ARQ, 1, 500_000, 'u1', created)
    expect(found('S15', made, changed(3), late)).toEqual([expect.stringContaining('its profile does not have')])
    const other = row(ARQ, 1, 5000, 'u1', Object.assign({}, created, { group: { 'resources:VGPU': '1' } }))
    expect(found('S15', made, changed(3), other)).toHaveLength(1)
  })
})

describe('S10, a bound request', () => {
  const bound = [
    row(ARQ, 1, 2, 'u1', created),
    row(ARQ, 2, 3, 'service', { type: 'BindStarted', bond, projectId: null } as JournalRow['events'][number]),
  ]
  const unbound = (more: object) =>
    row(ARQ, 3, 4, 'u1', { type: 'Unbound', was: bond, ...more } as JournalRow['events'][number])
  it('may be unbound by an operator by force, and by nobody else without a service token', () => {
    expect(found('S10', ...bound, unbound({ forced: WORD }))).toEqual([])
    expect(found('S10', ...bound, unbound({}))).toEqual([expect.stringContaining('Unbound of')])
  })
})
