import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coverageOf, keptRecording, recordCoverage, recordedTimes } from './coverage.ts'
import { type Mutant, mutantsOf } from './mutants.ts'
import { innermost, probed } from './probes.ts'
import { makeTrees } from './tree.ts'
import { passedOn } from '../support/program.ts'

describe('functions that note that they run', () => {
  it.each([
    ['const f = () => 1', 'const f = () => (globalThis.__hit?.(5),1)'],
    ['const f = () => ({ a: 1 })', 'const f = () => (globalThis.__hit?.(5),({ a: 1 }))'],
    ['function f() {}', 'function f() {globalThis.__hit?.(5);}'],
    [
      'const f = async (a = () => 2) => { go() }',
      'const f = async (a = () => (globalThis.__hit?.(6),2)) => {globalThis.__hit?.(5); go() }',
    ],
    ['const f = () => () => 1', 'const f = () => (globalThis.__hit?.(5),() => (globalThis.__hit?.(6),1))'],
    ['class A { b() { return 1 } }', 'class A { b() {globalThis.__hit?.(5); return 1 } }'],
    ['type T = () => void', 'type T = () => void'],
  ])('%s', (text, expected) => expect(probed('a.ts', text, 5).text).toBe(expected))
  it('are known by the innermost one around a place', () => {
    const text = 'const f = () => () => 1; const g = 2'
    const { functions } = probed('a.ts', text, 0)
    expect(['() => ()', '1', 'g'].map((part) => innermost(functions, text.indexOf(part)))).toEqual([0, 1, -1])
  })
})

describe('a recording', () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-recorded-'))
  const put = (path: string, text: string) => writeFileSync(join(root, path), text)
  const setup = fileURLToPath(new URL('hits.setup.ts', import.meta.url))
  const source = `export const one = () => 1
export const two = () => 2
export const three = () => 3
export const four = 4
const five = () => 5
export const loaded = five()
`
  beforeAll(() => {
    for (const folder of ['src', 'test']) mkdirSync(join(root, folder))
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
    put('package.json', '{ "type": "module" }')
    put(
      'vitest.config.ts',
      `export default { test: { include: ['test/*.test.ts'], isolate: false, maxWorkers: 1, setupFiles: [${JSON.stringify(setup)}] } }`,
    )
    put('src/numbers.ts', source)
    put('src/program.ts', `import { three } from './numbers.ts'\nif (three() !== 3) process.exit(1)\n`)
    put(
      'test/one.test.ts',
      `import { expect, it } from 'vitest'\nimport { one } from '../src/numbers.ts'\nit('is 1', () => expect(one()).toBe(1))\n`,
    )
    put(
      'test/two.test.ts',
      `import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { two } from '../src/numbers.ts'
it('is 2', () => expect(two()).toBe(2))
it('is run', () => void execFileSync(process.execPath, ['src/program.ts']))
`,
    )
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it(
    'tells of each test file which functions it runs, in programs that it starts as well; what loading runs is of all files',
    { timeout: 120_000 },
    async () => {
      const trees = makeTrees(root)
      const { signal } = new AbortController()
      const record = () => recordCoverage(trees.copy('recorded'), signal)
      const kept = join(root, 'kept.json')
      const recording = await keptRecording(kept, record, signal)
      const covers = coverageOf(recording, root)
      trees.remove()
      const mutants = mutantsOf('src/numbers.ts', source).filter(({ kind }) => kind === 'constant')
      expect(recordedTimes(recording)('test/two.test.ts')).toBeGreaterThan(0)
      expect(recordedTimes(recording)('test/unknown.test.ts')).toBe(null)
      const runs = (test: string) => mutants.filter((mutant: Mutant) => covers(test, mutant)).map(({ line }) => line)
      expect(runs('test/one.test.ts')).toEqual([1, 4, 5])
      expect(runs('test/two.test.ts')).toEqual([2, 3, 4, 5])
      expect(runs('test/unknown.test.ts')).toEqual([1, 2, 3, 4, 5])
      const never = () => Promise.reject(new Error('it is recorded already'))
      put('test/one.test.ts', '// another test')
      const again = coverageOf(await keptRecording(kept, never, signal), root)
      const runsAgain = (test: string) => mutants.filter((mutant) => again(test, mutant)).map(({ line }) => line)
      expect(runsAgain('test/one.test.ts')).toEqual([1, 2, 3, 4, 5])
      expect(runsAgain('test/two.test.ts')).toEqual([2, 3, 4, 5])
      put('src/numbers.ts', `${source}// more\n`)
      const changed = coverageOf(await keptRecording(kept, never, signal), root)
      expect(mutants.every((mutant) => changed('test/two.test.ts', mutant))).toBe(true)
    },
  )
})

it('the options of Node that record what is run are passed on to programs only while that is recorded', () => {
  const options = { NODE_OPTIONS: '--import=x' }
  expect(passedOn({ ...options, VITEST: '1', ACCELERANDO_DATA: 'd', HOME: 'h' })).toEqual({ HOME: 'h' })
  const recording = { ...options, MUTATION_HITS: 'folder', MUTATION_TEST: 'a.test.ts' }
  expect(passedOn({ ...recording, VITEST: '1', ACCELERANDO_DATA: 'd' })).toEqual(recording)
})
