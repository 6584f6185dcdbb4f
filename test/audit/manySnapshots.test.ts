/** Snapshots are compared in portions, and none of them is left out: neither the first nor the last of a portion. */
import { expect, it } from 'vitest'
import { remember } from '../../src/actors/entities.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { findingsOf } from '../../src/audit/check.ts'
import { journalInvariants } from '../../src/audit/journal.ts'
import { created, journalOf } from './cases/scene.ts'

const uuids = Array.from({ length: 130 }, (_, at) => `a${at}`)
const journal = journalOf(...uuids.map((uuid) => created(uuid)))
const snapshotOf = (uuid: string, wrong = false) => {
  const entity = `arq/${uuid}` as const
  const { state, recent, at } = remember(
    entity,
    journal.filter(({ key }) => key === entity),
  )
  const memory = { state: { ...(state as object), ...(wrong ? { reason: 'wrong' } : {}) }, recent, at }
  return { entity, version: 1, memory, schema: snapshotSchemaOf(entity) }
}
const found = (snapshots: readonly object[]) =>
  findingsOf(journalInvariants, { journal, now: 0, views: { snapshots: snapshots as never } }).flatMap(({ findings }) =>
    findings.map((one) => one.found),
  )
const wrong = (uuid: string, version = 1) =>
  `view: the snapshot of arq/${uuid} at ${version} is not what the journal folds to`

it('all that are right are found to be right', () => {
  for (const count of [1, 64, 65, 128, 130])
    expect(found(uuids.slice(0, count).map((one) => snapshotOf(one)))).toEqual([])
})
it('those that are wrong are found in every portion', () => {
  const bad = ['a0', 'a63', 'a64', 'a128', 'a129']
  expect(found(uuids.map((one) => snapshotOf(one, bad.includes(one))))).toEqual(bad.map((one) => wrong(one)))
})
it('one of an entity that the journal does not hold is wrong', () => {
  expect(found([{ ...snapshotOf('a1'), entity: 'arq/unknown' }, snapshotOf('a2')])).toEqual([wrong('unknown')])
})
