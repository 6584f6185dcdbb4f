/** Runs before each test file of a recording: what follows is run for that file. */
import { relative } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { RECORDING } from './recording.ts'

const flush = (): void => (globalThis as { readonly __flushHits?: () => void }).__flushHits?.()
beforeAll(() => {
  // what loading its modules has run belongs to it as well
  process.env[RECORDING.file] = relative(process.cwd(), expect.getState().testPath!)
})
afterAll(flush)
