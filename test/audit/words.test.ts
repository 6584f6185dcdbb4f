/**
 * What an operator reads where a view is not what the journal folds to: which row, what it is, what it should be, and
 * the proof.
 */
import { expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { canonicalJson } from './cases/scene.ts'
import { soundEvidence } from './soundEvidence.ts'

const evidence = await soundEvidence()
const arqs = evidence.views!.arqs!
const row = arqs[0]!
const text = canonicalJson(row)

/** The findings when the view holds these rows, with the row and the entities whose journal proves them. */
const found = (changed: readonly object[]) =>
  check({ ...evidence, views: { ...evidence.views, arqs: changed as typeof arqs } })
    .filter(({ invariant }) => invariant === 'S13')
    .map(({ found: line, proof }) => ({
      line,
      view: proof.flatMap((one) => (one.of === 'view' ? [`${one.view}/${one.key}`] : [])),
      entities: [...new Set(proof.flatMap((one) => (one.of === 'journal' ? [one.key] : [])))],
    }))
const provedBy = (uuid: string) => ({ view: [`arqs/${uuid}`], entities: [`arq/${uuid}`] })

test('a row that is missing is absent, and its fold is shown', () =>
  expect(found(arqs.slice(1))).toEqual([
    { line: `view: arqs/${row.uuid} is absent, its fold is ${text}`, ...provedBy(row.uuid) },
  ]))

test('a row that differs is shown beside its fold', () => {
  const other = { ...row, state: 'Deleting' }
  expect(found([other, ...arqs.slice(1)])).toEqual([
    { line: `view: arqs/${row.uuid} is ${canonicalJson(other)}, its fold is ${text}`, ...provedBy(row.uuid) },
  ])
})

test('a row that nothing folds to is shown, and its fold is absent', () => {
  const stray = { ...row, uuid: 'stray' }
  expect(found([...arqs, stray])).toEqual([
    { line: `view: arqs/stray is ${canonicalJson(stray)}, its fold is absent`, view: ['arqs/stray'], entities: [] },
  ])
})

test('a binding that the journal does not hold, and one that is another there; one that is missing is no violation', () => {
  const [one] = evidence.views!.usage!
  const judged = (usage: readonly object[]) =>
    check({ ...evidence, views: { ...evidence.views, usage: usage as (typeof one)[] as never } })
      .filter(({ invariant }) => invariant === 'S13')
      .map(({ found: line }) => line)
  const longer = { ...one!, until_at: one!.until_at + 1 }
  expect(judged([longer])).toEqual([
    `view: usage/${one!.id} is ${canonicalJson(longer)}, no binding of the journal is that`,
  ])
  expect([judged([one!]), judged([])]).toEqual([[], []])
})
