/**
 * Runs before each test file of a recording: what follows is run for that file. What loading its modules runs is run
 * once in a process, whichever file comes first, and is noted for all.
 */
import { relative } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { RECORDING } from './recording.ts'

const flush = (): void => (globalThis as { readonly __flushHits?: () => void }).__flushHits?.()
const noteFor = (file: string): void => {
  flush()
  process.env[RECORDING.file] = file
}
noteFor(RECORDING.loading)
beforeAll(() => noteFor(relative(process.cwd(), expect.getState().testPath!)))
afterAll(() => noteFor(RECORDING.loading))
