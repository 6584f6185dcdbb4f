/** Places for costly work: what a project may have, what is left to others, and who comes next. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SHARES, type Share, createPlaces, shareOf } from '../../src/vocabulary/shares.ts'
import { quiet } from '../support/lab.ts'

const SHARE: Share = { what: 'lists', all: 3, project: 1, waiting: 2, retryAfterSeconds: 7 }
const of = (projectId: string, isAdmin = false) => ({ projectId, isAdmin })
const opened = (share: Partial<Share> = {}) => {
  const { inTurn, take, patiently } = createPlaces({ ...SHARE, ...share })
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
  }
  const end = async (name: string) => {
    ends.get(name)!()
    await quiet()
  }
  return { inTurn, take, patiently, work, begun, end }
}
const crowded = (reason: string) => ({ ok: false, fault: { kind: 'crowded', reason, retryAfterSeconds: 7 } })
const SHARE_TAKEN = crowded('The project has 1 of the 3 places for lists, which is its share.')
const ALL_TAKEN = (count: number) => ({
  ok: false,
  fault: { kind: 'unavailable', reason: `all ${count} places for lists are taken`, retryAfterSeconds: 7 },
})

describe('a place', () => {
  test('is refused to a project that has its share, and later given to it, however often it gives one back', () => {
    const { take } = opened()
    const place = take(of('a'))
    expect(take(of('a'))).toEqual(SHARE_TAKEN)
    if (!place.ok) throw new Error('no place')
    place.value()
    place.value()
    expect(take(of('a')).ok).toBe(true)
    expect(take(of('a'))).toEqual(SHARE_TAKEN)
  })
  test('is kept for administrators, who do not share with the others of their project', () => {
    const { take } = opened()
    expect([take(of('a')).ok, take(of('b')).ok]).toEqual([true, true])
    expect(take(of('c'))).toEqual(ALL_TAKEN(2))
    expect(take(of('a', true)).ok).toBe(true)
    expect(take(of('d', true))).toEqual(ALL_TAKEN(3))
  })
})

describe('work', () => {
  test('of a project waits behind its own, and beyond a number is refused at once', async () => {
    const { inTurn, work, begun, end } = opened()
    const all = ['a1', 'a2', 'a3'].map((name) => inTurn(of('a'), work(name)))
    expect(await inTurn(of('a'), work('a4'))).toEqual(SHARE_TAKEN)
    const other = inTurn(of('b'), work('b1'))
    await quiet()
    expect(begun).toEqual(['a1', 'b1'])
    for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name)
    expect(await Promise.all([...all, other])).toEqual(['a1', 'a2', 'a3', 'b1'])
  })
  test('begins by turns of the projects that wait, not in the order of asking', async () => {
    const { inTurn, work, begun, end } = opened({ all: 2, waiting: 9 })
    const asked = ['a', 'b', 'b', 'b', 'c', 'b'].map((project, at) => inTurn(of(project), work(`${project}${at}`)))
    await quiet()
    expect(begun).toEqual(['a0'])
    for (const name of ['a0', 'b1', 'c4', 'b2', 'b3', 'b5']) await end(name)
    expect(begun).toEqual(['a0', 'b1', 'c4', 'b2', 'b3', 'b5'])
    await Promise.all(asked)
  })
  test('is not begun when nobody waits for it any more, and holds up nobody', async () => {
    const { inTurn, work, begun, end } = opened()
    const first = inTurn(of('a'), work('a1'))
    let isOver = false
    const gone = [1, 2].map(() => inTurn({ ...of('a'), isOver: () => isOver }, work('gone')))
    await quiet()
    isOver = true
    await end('a1')
    await first
    expect((await Promise.all(gone)).map((one) => (one as { ok?: boolean }).ok)).toEqual([false, false])
    const next = inTurn(of('a'), work('a2'))
    await quiet()
    await end('a2')
    expect([await next, begun]).toEqual(['a2', ['a1', 'a2']])
  })
  test('that fails gives its place back', async () => {
    const { inTurn } = opened()
    await expect(inTurn(of('a'), () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await inTurn(of('a'), async () => 'done')).toBe('done')
  })
  test('that has a number of its own waits however much waits, also after its answer was due', async () => {
    const { patiently, work, begun, end } = opened({ waiting: 0 })
    const asker = { ...of('a'), isOver: () => true }
    const all = ['a1', 'a2', 'a3'].map((name) => patiently(asker, work(name)))
    await quiet()
    for (const name of ['a1', 'a2', 'a3']) await end(name)
    expect([await Promise.all(all), begun]).toEqual([
      ['a1', 'a2', 'a3'],
      ['a1', 'a2', 'a3'],
    ])
  })
})

test('the contract has the table', () => {
  const contract = readFileSync(new URL('../../docs/contract/rest-api.md', import.meta.url), 'utf8')
  for (const { what, all, project, waiting } of Object.values(SHARES))
    expect(contract).toContain(`\n| ${what} | ${all} | ${project} | ${waiting} |\n`)
})

test('no project may have all places of anything, nor all that are left to projects', () => {
  for (const { all, project } of Object.values(SHARES)) expect(2 * project).toBeLessThanOrEqual(all - project)
  expect([1, 5, 6, 1000].map(shareOf)).toEqual([1, 1, 2, 200])
})
