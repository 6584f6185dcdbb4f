/** Lists of several portions, as text: how many rows are asked for each time, and what follows the last of them. */
import { describe, expect, test } from 'vitest'
import type { Listed, Page } from '../../src/actors/control.ts'
import { type Outcome, done, refuse } from '../../src/fault.ts'
import { PORTION, PortionFailed, answerList } from '../../src/http/listing.ts'

type Row = { readonly id: string }
const rows = (from: number, count: number): readonly Row[] =>
  Array.from({ length: count }, (_, n) => ({ id: `r${from + n}` }))
const next = (n: number) => ({ value: n, key: `r${n}` })
/** The pages of the control, in order; a function has the place of an answer that is no page. */
const answer = async (
  page: Page,
  pages: readonly (Listed<Row> | (() => Outcome<Listed<Row>>))[],
  item = ({ id }: Row): unknown => id,
) => {
  const asked: Page[] = []
  const read = async (given: Page): Promise<Outcome<Listed<Row>>> => {
    const one = pages[asked.push(given) - 1]!
    return typeof one === 'function' ? one() : done(one)
  }
  const pairs = new Map([
    ['limit', ['9']],
    ['name', ['a', 'b']],
    ['marker', ['old']],
  ])
  const listing = { key: 'rows', collection: 'things', base: 'http://h', pairs, item, markerOf: ({ id }: Row) => id }
  return { answered: await answerList(read, page, listing), asked }
}
const piecesOf = async (answered: Awaited<ReturnType<typeof answer>>['answered']): Promise<readonly string[]> => {
  if (!answered.ok || answered.pieces === undefined) throw new Error('it is answered at once')
  const pieces: string[] = []
  for await (const piece of answered.pieces) pieces.push(piece)
  return pieces
}
const link = (marker: string) => [
  { rel: 'next', href: `http://h/accelerator/v2/things?limit=9&name=a&name=b&marker=${marker}` },
]

test('a portion is 500 rows, and a piece 128 Ki characters', () =>
  expect(PORTION).toEqual({ rows: 500, characters: 131_072 }))

describe('a list of one portion is one document', () => {
  test.each<[Page, Listed<Row>, object, Page]>([
    [{}, { items: rows(1, 2), next: null }, { rows: ['r1', 'r2'] }, { limit: 500 }],
    [{ limit: 2 }, { items: rows(1, 2), next: next(2) }, { rows: ['r1', 'r2'], rows_links: link('r2') }, { limit: 2 }],
    [{ limit: 500 }, { items: rows(1, 1), next: next(1) }, { rows: ['r1'], rows_links: link('r1') }, { limit: 500 }],
    [{ limit: 900, marker: 'm' }, { items: [], next: null }, { rows: [] }, { limit: 500, marker: 'm' }],
  ])('%j', async (page, listed, body, asked) => {
    const got = await answer(page, [listed])
    expect([got.answered, got.asked]).toEqual([{ ok: true, status: 200, body }, [asked]])
  })
})
describe('a longer one is sent in the same form', () => {
  test('to its end, from the place where each portion ended', async () => {
    const { answered, asked } = await answer({ marker: 'm', sort: 's' }, [
      { items: rows(1, 2), next: next(2) },
      { items: rows(3, 1), next: next(3) },
      { items: rows(4, 1), next: null },
    ])
    expect((await piecesOf(answered)).join('')).toBe(JSON.stringify({ rows: ['r1', 'r2', 'r3', 'r4'] }))
    const page = { marker: 'm', sort: 's', limit: 500 }
    expect(asked).toEqual([page, { ...page, after: next(2) }, { ...page, after: next(3) }])
  })
  test('to the limit, with the link that follows the last row', async () => {
    const { answered, asked } = await answer({ limit: 503 }, [
      { items: rows(1, 500), next: next(500) },
      { items: rows(501, 2), next: next(502) },
      { items: rows(503, 1), next: next(503) },
    ])
    const all = rows(1, 503).map(({ id }) => id)
    expect((await piecesOf(answered)).join('')).toBe(JSON.stringify({ rows: all, rows_links: link('r503') }))
    expect(asked.map(({ limit }) => limit)).toEqual([500, 3, 1])
  })
  test('without a link where its last portions are empty', async () => {
    const { answered } = await answer({ limit: 501 }, [
      { items: rows(1, 500), next: next(500) },
      { items: [], next: next(500) },
      { items: [], next: null },
    ])
    expect(JSON.parse((await piecesOf(answered)).join(''))).toEqual({ rows: rows(1, 500).map(({ id }) => id) })
  })
  test('in pieces that begin anew once one is long enough', async () => {
    const item = ({ id }: Row) => id.padEnd(65_000, 'x')
    const { answered } = await answer(
      {},
      [
        { items: rows(1, 3), next: next(3) },
        { items: rows(4, 1), next: null },
      ],
      item,
    )
    const pieces = await piecesOf(answered)
    expect(pieces.map(({ length }) => length > 65_000)).toEqual([true, true])
    expect(JSON.parse(pieces.join(''))).toEqual({ rows: rows(1, 4).map(item) })
  })
  test('in a piece that is exactly long enough', async () => {
    const [before, between] = ['{"rows":[', ',']
    const item = ({ id }: Row) => (id === 'r1' ? 'x'.repeat(PORTION.characters - before.length - '""'.length) : id)
    const { answered } = await answer(
      {},
      [
        { items: rows(1, 1), next: next(1) },
        { items: rows(2, 1), next: null },
      ],
      item,
    )
    expect((await piecesOf(answered)).map(({ length }) => length)).toEqual([131_072, `${between}"r2"]}`.length])
  })
  test.each([
    [refuse({ kind: 'unavailable', reason: 'not now', retryAfterSeconds: 1 }), 'not now'],
    [refuse({ kind: 'not_found', resource: 'x', id: 'y' }), 'not_found'],
  ])('and is broken off where a portion is refused', async (refusal, why) => {
    const { answered } = await answer({}, [{ items: rows(1, 1), next: next(1) }, () => refusal])
    const failed = await piecesOf(answered).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(PortionFailed)
    expect(failed).toMatchObject({ name: 'PortionFailed', message: `the next portion of the list: ${why}` })
  })
  test('but a first portion that is refused is the answer', async () => {
    const refusal = refuse({ kind: 'conflict', reason: 'no' })
    expect((await answer({}, [() => refusal])).answered).toBe(refusal)
  })
})
