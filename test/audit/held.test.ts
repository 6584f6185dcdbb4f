/** Values of which most are held compressed are read as a map of them is. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openHeld } from '../../src/audit/held.ts'

type Value = { readonly n: number; readonly text: string }
const wide = (n: number): Value => ({ n, text: 'x'.repeat(n % 7 === 0 ? 20_000 : n % 90) })

describe('values held compressed', () => {
  it.each([1, 2, 16, 17, 1_000])(
    'are those that were set, however they are used, with %d of them as objects',
    (max) => {
      const act = fc.record({ key: fc.nat({ max: 60 }), sets: fc.boolean() })
      fc.assert(
        fc.property(fc.array(act, { maxLength: 300 }), (acts) => {
          const [held, map] = [openHeld<Value>(max), new Map<string, Value>()]
          for (const [n, { key, sets }] of acts.entries()) {
            if (sets) {
              held.set(`k${key}`, wide(n))
              map.set(`k${key}`, wide(n))
            }
            expect(held.get(`k${key}`)).toEqual(map.get(`k${key}`))
          }
          expect([...held.entries()]).toEqual([...map])
        }),
        { numRuns: 30, seed: 4711 },
      )
    },
  )
  it('are read again and again without being changed', () => {
    const held = openHeld<Value>(4)
    for (let n = 0; n < 500; n++) held.set(`k${n}`, wide(n))
    const keys = Array.from({ length: 500 }, (_, n) => `k${n}`)
    for (let round = 0; round < 3; round++) {
      expect([...held.entries()].map(([key]) => key)).toEqual(keys)
      expect(keys.map((key) => held.get(key)!.n)).toEqual(keys.map((_, n) => n))
    }
  })
  it('the same object is read while it is among those used last', () => {
    const [held, value] = [openHeld<Value>(4), wide(1)]
    held.set('k', value)
    expect(held.get('k')).toBe(value)
  })
  it('HELD-2 the rest of a block is kept as objects as soon as half of it has been taken out and one more is', () => {
    // a full block of k0 to k15; k16 to k31 are objects
    const held = openHeld<Value>(16)
    for (let n = 0; n < 32; n++) held.set(`k${n}`, { n, text: '' })
    const objects = () => {
      const [first, second] = [new Map(held.entries()), new Map(held.entries())]
      return [...first.keys()].filter((key) => first.get(key) === second.get(key))
    }
    const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `k${from + n}`)
    expect(objects()).toEqual(keys(16, 32))
    for (const key of keys(0, 8)) held.get(key)
    expect(objects()).toEqual(keys(0, 8))
    held.get('k8')
    expect(objects()).toEqual(keys(0, 16))
  })
})
