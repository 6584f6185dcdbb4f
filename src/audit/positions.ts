/**
 * Compares positions of one journal, which are numbers separated by dots. All other code treats positions as opaque.
 */
import type { Position } from '../actors/runtime/ports.ts'

const parts = (position: Position): readonly bigint[] =>
  position === '' ? [] : position.split('.').map((part) => BigInt(/^\d+$/.test(part) ? part : 0))

export const comesBefore = (one: Position, other: Position): boolean => {
  const [a, b] = [parts(one), parts(other)]
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x, y] = [a[at] ?? -1n, b[at] ?? -1n]
    if (x !== y) return x < y
  }
  return false
}
