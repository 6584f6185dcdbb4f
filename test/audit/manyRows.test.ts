/** Of many snapshots, and of many commands of one entity, none is left out, at whatever place it is. */
import { expect, it } from 'vitest'
import { remember } from '../../src/actors/entities.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { INVARIANTS, findingsOf } from '../../src/audit/check.ts'
import { arq, created, journalOf } from './cases/scene.ts'

const JOURNAL = INVARIANTS.filter(({ name }) => ['S4', 'S12', 'S13'].includes(name))
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
  findingsOf(JOURNAL, { journal, now: 0, views: { snapshots: snapshots as never } }).flatMap(({ findings }) =>
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

it('a command that is carried out again is found, however many came between', () => {
  const rows = (...commands: readonly number[]) =>
    journalOf(...commands.map((n) => ({ ...arq('a1', { type: 'Polished' }), command: `c${n}` })))
  const judged = (...commands: readonly number[]) =>
    findingsOf(JOURNAL, { journal: rows(...commands), now: 0 }).flatMap(({ findings }) =>
      findings.map((one) => one.found),
    )
  const again = (rowCount: number, n: number) => `at ${rowCount}: arq/a1 carried out command c${n} again`
  const twenty = Array.from({ length: 20 }, (_, at) => at + 1)
  expect(judged(...twenty)).toEqual([])
  expect(judged(...twenty, 1, 16, 17, 18, 20)).toEqual([1, 16, 17, 18, 20].map((n, at) => again(21 + at, n)))
  expect(judged(...twenty.slice(0, 16), 1, 16)).toEqual([again(17, 1), again(18, 16)])
  expect(judged(1, 2, 1)).toEqual([again(3, 1)])
})
