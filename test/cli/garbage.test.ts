/** How the garbage of a process is kept small: which flags of V8 are set. */
import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'
import { expect, test, vi } from 'vitest'
import { keepGarbageSmall } from '../../src/cli/garbage.ts'

test('the heap grows by a fifth, and the space for new objects stays as it is', () => {
  const set = vi.spyOn(v8, 'setFlagsFromString').mockReturnValue()
  syncBuiltinESMExports()
  try {
    keepGarbageSmall()
    expect(set.mock.calls).toEqual([['--heap-growing-percent=20'], ['--semi-space-growth-factor=1']])
  } finally {
    set.mockRestore()
    syncBuiltinESMExports()
  }
})
