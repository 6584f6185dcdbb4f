/** What the kernel says of a process. */
import { describe, expect, test } from 'vitest'
import { hasEnded, procStat } from '../../src/vocabulary/procStat.ts'

const statOf = (name: string, state: string): string =>
  `77 (${name}) ${state} 1 ${Array.from({ length: 17 }, (_, at) => at).join(' ')} 4211 0 0`

describe('the line of a process in /proc', () => {
  test('has its fields also where the name contains spaces and parentheses', () =>
    expect(procStat(statOf('a (b) c', 'S'))).toEqual({ name: 'a (b) c', state: 'S', parent: '1', started: '4211' }))
  test('that cannot be read has no fields, and is not that of a process that has ended', () => {
    expect(procStat('')).toEqual({ name: '', state: '', parent: '', started: '' })
    expect(hasEnded(procStat(''))).toBe(false)
  })
  test.each(['Z', 'X'])('of a process that has ended says %s', (state) =>
    expect(hasEnded(procStat(statOf('a', state)))).toBe(true),
  )
})
