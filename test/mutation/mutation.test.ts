/** The mutation tool tells a planted fault that tests notice from one that they do not. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { mutate } from './mutation.ts'

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': '{ "compilerOptions": { "module": "nodenext", "noEmit": true, "strict": true, "types": [] } }',
  'vitest.config.ts': `export const INCLUDE = ['test/*.test.ts']
export const EXCLUDE = []
export default { test: { include: INCLUDE, exclude: EXCLUDE } }`,
  'src/limits.ts': `export const larger = (a: number, b: number): number =>
  a > b ? a : b
`,
  'test/limits.test.ts': `import { expect, it } from 'vitest'
import { larger } from '../src/limits.ts'
it('is larger', () => expect([larger(1, 2), larger(2, 1), larger(2, 2)]).toEqual([2, 2, 2]))
`,
}

test('a fault that no test can notice is listed as a survivor', { timeout: 300_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-planted-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const folder of ['src', 'test']) mkdirSync(join(root, folder))
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(root, path), text)
  const verdicts = await mutate({
    root,
    only: ['src/limits.ts:2'],
    count: 100,
    seed: 1,
    workers: 1,
    filesMax: 5,
    onlyTests: '',
    note: () => undefined,
    stop: new AbortController().signal,
  })
  const told = verdicts.map(({ mutant, verdict }) => `${verdict} ${mutant.original} ${mutant.mutated}`)
  expect(told.toSorted()).toEqual(['noticed > <=', 'noticed a : b b : a', 'survived > >='])
})
