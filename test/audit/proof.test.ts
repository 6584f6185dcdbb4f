/** How a violation is proven, how positions compare, and how a journal is read as a sequence of appends. */
import { describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { arqStates, stepsOf, walk } from '../../src/audit/history.ts'
import { comesBefore } from '../../src/audit/positions.ts'
import { prove } from '../../src/audit/prove.ts'
import {
  type Append,
  type Entry,
  arq,
  bindStarted,
  created,
  instance,
  isBound,
  journalOf,
  left,
} from './cases/scene.ts'

describe('positions', () => {
  it.each([
    ['1', '2'],
    ['2', '10'],
    ['9.99', '10.1'],
    ['10.1', '10.2'],
    ['10', '10.0'],
    ['10.1', '10.1.0'],
    ['', '0'],
    ['x', '1'],
    ['1x', '1'],
    ['x1', '1'],
    ['9007199254740993', '9007199254740994'],
  ])('%s comes before %s', (one, other) => {
    expect(comesBefore(one, other)).toBe(true)
    expect(comesBefore(other, one)).toBe(false)
  })
  it.each(['', '1', '10.2', 'x'])('%s does not come before itself', (one) => expect(comesBefore(one, one)).toBe(false))
})

const many = Array.from({ length: 13 }, (_, n) => created(`b${n}`))
const journal = journalOf(created('a1'), created('a2'), [arq('a1', bindStarted()), instance('i1', left('a1'))], many)
const proven = (finding: object, rows = journal) =>
  prove(rows, { found: '', ...finding }).map((entry) =>
    entry.of === 'journal' ? `${entry.key} ${entry.version}` : entry.of,
  )

describe('a finding is proven by', () => {
  it('the rows of its append', () => expect(proven({ rowCount: 4 })).toEqual(['arq/a1 2', 'instance/i1 1']))
  it('the rows of its append, when that is the first of the journal', () =>
    expect(proven({ rowCount: 1 })).toEqual(['arq/a1 1']))
  it('the rows of the only append', () =>
    expect(proven({ rowCount: 2 }, journalOf([created('a1'), created('a2')]))).toEqual(['arq/a1 1', 'arq/a2 1']))
  it('the last rows up to it of what it names, before those of its append, each once', () =>
    expect(proven({ rowCount: 4, keys: ['arq/a2', 'arq/a1', 'arq/none'] })).toEqual([
      'arq/a2 1',
      'arq/a1 2',
      'instance/i1 1',
    ]))
  it('nothing that came after it', () =>
    expect(proven({ rowCount: 2, keys: ['arq/a1', 'instance/i1'] })).toEqual(['arq/a1 1', 'arq/a2 1']))
  it('the last rows of all of what it names, when it is of no append', () =>
    expect(proven({ keys: ['arq/a1', 'arq/b12', 'arq/none'] })).toEqual(['arq/a1 2', 'arq/b12 1']))
  it('only the rows it names of an append that is long', () =>
    expect(proven({ rowCount: 17, keys: ['arq/b3', 'arq/a1'] })).toEqual(['arq/b3 1', 'arq/a1 2']))
  it('all rows of an append of twelve', () => {
    const twelve = journalOf(many.slice(1))
    expect(proven({ rowCount: 12 }, twelve)).toEqual(twelve.map(({ key }) => `${key} 1`))
  })
  it('twelve entries at most, its own proof first', () => {
    const keys = many.map(({ key }: Entry) => key)
    const own = { of: 'host', host: 'h', step: null } as const
    expect(proven({ keys, proof: [own] })).toEqual(['host', ...keys.slice(0, 11).map((key) => `${key} 1`)])
  })
  it('nothing at a place where nothing is', () => expect(proven({ rowCount: 0 })).toEqual([]))
  it('all that a row says, without the contents of its events', () => {
    const [row] = journalOf({ ...arq('a1', bindStarted(), isBound), command: 'c' })
    const entry = {
      of: 'journal',
      key: 'arq/a1',
      version: 1,
      commandId: 'c',
      at: 1000,
      events: ['BindStarted', 'Bound'],
    }
    expect(prove([row!], { found: '', rowCount: 1 })).toEqual([entry])
    expect(prove([{ ...row!, position: '7' }], { found: '', rowCount: 1 })).toEqual([{ ...entry, position: '7' }])
  })
})

describe('a journal is read as appends', () => {
  const steps = (...appends: readonly Append[]) =>
    [...stepsOf(journalOf(...appends))].map(({ rowCount, changes }) => [rowCount, ...changes.map(({ row }) => row.key)])
  it('of rows that follow each other with one command', () =>
    expect(steps([created('a1'), created('a2')], created('a3'))).toEqual([
      [2, 'arq/a1', 'arq/a2'],
      [3, 'arq/a3'],
    ]))
  it('a command that comes again for the same entity is another append', () =>
    expect(steps([created('a1'), created('a1')])).toEqual([
      [1, 'arq/a1'],
      [2, 'arq/a1'],
    ]))
  it('in which each row knows the states before and after it', () => {
    const states: string[] = []
    const two = journalOf(created('a1'), arq('a1', bindStarted()))
    walk({ journal: two, now: 0 }, (_, after, before) => {
      states.push(`${before.arq('a1').status} ${after.arq('a1').status} ${after.arq('a9').status}`)
    })
    expect(states).toEqual(['Absent Initial Absent', 'Initial BindStarted Absent'])
  })
  it('and tells the states between two moments', () => {
    const some = journalOf(created('a1'), created('a2'), arq('a1', bindStarted()), arq('a1', isBound))
    const history = walk({ journal: some, now: 0, clients: [] }, () => {})
    const between = (from: number, to: number) => arqStates(history, 'a1', from, to).map(({ status }) => status)
    expect(between(0, 0)).toEqual(['Absent'])
    expect(between(0, 1)).toEqual(['Absent', 'Initial'])
    expect(between(1, 2)).toEqual(['Initial'])
    expect(between(2, 3)).toEqual(['Initial', 'BindStarted'])
    expect(between(3, 4)).toEqual(['BindStarted', 'Bound'])
    expect(between(9, 9)).toEqual(['Bound'])
  })
})

describe('the check', () => {
  it('keeps five findings of each invariant, with their proofs', () => {
    const found = check({
      journal: journalOf(...many.map(({ key }) => ({ ...created(key), key, version: 2 }))),
      now: 0,
    })
    expect(found.map(({ invariant, found, proof }) => [invariant, found, proof.length])).toEqual(
      [0, 1, 2, 3, 4].map((n) => ['S4', `at ${n + 1}: arq/b${n} has version 2 after 0`, 1]),
    )
    expect(found[0]!.meaning).toContain('numbered from 1')
  })
})
