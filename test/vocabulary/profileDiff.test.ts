/** What differs between two versions of a device profile, and which two are compared. */
import { describe, expect, test } from 'vitest'
import { type Content, differencesOf, pairOf } from '../../src/vocabulary/profileDiff.ts'

const content = (groups: Content['groups'], description: string | null = null): Content => ({ groups, description })

describe('two versions', () => {
  test('differ in resources, traits and properties, each added, removed or changed', () => {
    const one = content([{ 'resources:FPGA': '1', 'trait:A': 'required', 'trait:B': 'required' }])
    const other = content([{ 'resources:FPGA': '2', 'trait:A': 'required', 'accel:x': 'y' }])
    expect(differencesOf(one, other)).toEqual({
      added: [],
      removed: [],
      same: 1,
      parts: [
        { group: 0, key: 'resources:FPGA', change: 'changed', from: '1', to: '2' },
        { group: 0, key: 'trait:B', change: 'removed', from: 'required', to: null },
        { group: 0, key: 'accel:x', change: 'added', from: null, to: 'y' },
      ],
    })
  })
  test('differ in whole groups, which are known by their place', () => {
    const [one, other] = [content([{ a: '1' }]), content([{ a: '1' }, { b: '2' }, { c: '3' }])]
    expect(differencesOf(one, other)).toMatchObject({ added: [1, 2], removed: [], same: 1 })
    const back = differencesOf(other, one)
    expect(back).toMatchObject({ added: [], removed: [1, 2] })
    expect(back.parts.map(({ change, group, key }) => [change, group, key])).toEqual([
      ['removed', 1, 'b'],
      ['removed', 2, 'c'],
    ])
  })
  test('differ in the description, also if only one has any', () => {
    expect(differencesOf(content([], 'x'), content([], null)).parts).toEqual([
      { group: null, key: 'description', change: 'removed', from: 'x', to: null },
    ])
    expect(differencesOf(content([], ''), content([], null)).parts).toHaveLength(1)
  })
  test('that ask for the same do not differ', () => {
    const same = content([{ a: '1', b: '2' }], 'x')
    expect(differencesOf(same, { ...same, groups: [{ b: '2', a: '1' }] })).toMatchObject({ parts: [], same: 3 })
  })
  test('with names that every object has are compared by what they hold', () => {
    expect(differencesOf(content([{}]), content([{ constructor: '1', toString: '2' }])).parts).toMatchObject([
      { key: 'constructor', from: null, to: '1' },
      { key: 'toString', from: null, to: '2' },
    ])
  })
})

describe('which two', () => {
  const versions = [2, 3, 5].map((version) => ({ version }))
  test('without numbers the newest one and the one before it; of a single version that one twice', () => {
    expect(pairOf(versions, {})).toEqual({ from: { version: 3 }, to: { version: 5 } })
    expect(pairOf(versions.slice(0, 1), {})).toEqual({ from: { version: 2 }, to: { version: 2 } })
  })
  test('those that are named, in that direction', () => {
    expect(pairOf(versions, { from: '5', to: '2' })).toEqual({ from: { version: 5 }, to: { version: 2 } })
    expect(pairOf(versions, { from: '2' })).toEqual({ from: { version: 2 }, to: { version: 5 } })
  })
  test.each([
    [{ from: '9' }, 'from: there is no version 9, or it is too old to be kept; there are 2 to 5'],
    [{ to: '4' }, 'to: there is no version 4, or it is too old to be kept; there are 2 to 5'],
    [{ to: 'x' }, 'to: it must be the number of a version (is x)'],
    [{ from: '' }, 'from: it must be the number of a version (is )'],
    [{ from: '02' }, 'from: it must be the number of a version (is 02)'],
  ])('%j is no version', (asked, said) => expect(pairOf(versions, asked)).toBe(said))
  test('of none there are no two', () => expect(pairOf([], {})).toBe('it has no version'))
})
