/** Which row of a list the keys j and k lead to. */
import { expect, test } from 'vitest'
import { nextRow } from '../../src/ui/browser/rows.ts'

test.each([
  ['from nowhere down: the first', -1, 1, 3, 0],
  ['from nowhere up: the last', -1, -1, 3, 2],
  ['down', 0, 1, 3, 1],
  ['up', 2, -1, 3, 1],
  ['at the end it stays', 2, 1, 3, 2],
  ['at the start it stays', 0, -1, 3, 0],
  ['of a list without rows: none', -1, -1, 0, -1],
] as const)('%s', (_name, at, by, count, next) => expect(nextRow(at, by, count)).toBe(next))
