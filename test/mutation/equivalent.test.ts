import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { EQUIVALENT, isKnown } from './equivalent.ts'
import { mutantsOf } from './mutants.ts'

it('each mutant that is said to change nothing is a mutant of the program', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const unknown = EQUIVALENT.filter((one) => {
    const text = readFileSync(join(root, one.path), 'utf8')
    return !mutantsOf(one.path, text).some((mutant) => isKnown([one], mutant, text))
  })
  expect(unknown).toEqual([])
})
