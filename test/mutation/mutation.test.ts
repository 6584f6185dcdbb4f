import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAlive } from '../support/program.ts'
import { parse } from '../tidy/source.ts'
import { affordable } from './judge.ts'
import { type Mutant, applied, mutantsOf } from './mutants.ts'
import { mutate, possible } from './mutation.ts'
import { mentionsIn } from './mentions.ts'
import { loadersOf, nearestTests } from './nearest.ts'
import { type Ran, makeRunner } from './runs.ts'
import { strataOf } from './sample.ts'
import { failed, makeTests } from './tests.ts'
import { makeTrees, withText } from './tree.ts'

const never = new AbortController().signal
const become = (text: string, kind?: string): readonly string[] =>
  mutantsOf('src/a.ts', text)
    .filter((one) => kind === undefined || one.kind === kind)
    .map((one) => applied(text, one))

describe('mutants', () => {
  it.each([
    ['operator', 'a < b', ['a <= b', 'a >= b']],
    ['operator', 'a !== b', ['a === b']],
    ['operator', 'n += m', ['n -= m']],
    ['logical', 'a && b', ['((a) || (b))', '(a)', '(b)']],
    ['logical', 'a ?? b', ['(a)', '(b)']],
    ['condition', 'if (a) go()', ['if (true) go()', 'if (false) go()']],
    ['branches', 'a ? b : c', ['a ? c : b']],
    ['constant', 'go(true, 7, 1n)', ['go(false, 7, 1n)', 'go(true, 8, 1n)', 'go(true, 7, 2n)']],
    ['constant', `go('x', '')`, [`go('', '')`, `go('x', 'mutated')`]],
    ['constant', 'sleep(10); open({ readers: 1, max: 2 })', ['sleep(10); open({ readers: 1, max: 3 })']],
    ['template', 'go(`${a}/b`)', ['go(``)']],
    ['statement', 'await go(); n = 1; log.warn(n)', ['; n = 1; log.warn(n)', 'await go(); ; log.warn(n)']],
    [
      'statement',
      'const f = () => { if (a) return; go() }',
      ['const f = () => { if (a) ; go() }', 'const f = () => { if (a) return; ; }'],
    ],
    ['leftLoop', 'for (;;) { break }', ['for (;;) { ; }']],
    ['element', 'go([a, b, ])', ['go([b, ])', 'go([a ])']],
    ['property', 'go({ a: 1, ...b })', ['go({ ...b })', 'go({ a: 1 })']],
    ['negation', 'go(!a, -b)', ['go(a, -b)', 'go(!a, b)']],
    ['step', 'n++', ['n--']],
    ['anchor', '/^a$/.test(b)', ['/a$/.test(b)', '/^a/.test(b)']],
    ['waiting', 'go(await a)', ['go(a)']],
    ['optional', 'a?.b; a?.[0]; a?.()', ['a!.b; a?.[0]; a?.()', 'a?.b; a![0]; a?.()', 'a?.b; a?.[0]; a!()']],
    ['method', 'a.toString(); b.constructor()', []],
    ['method', 'Math.min(a, b)', ['Math.max(a, b)']],
    ['method', 'a.filter(b).some(c)', ['a.filter(b).every(c)', 'a.some(c)']],
  ])('of the kind %s: %s', (kind, text, expected) => expect(become(text, kind)).toEqual(expected))

  it('leave types, imports and what is only said to people alone', () =>
    expect(
      become(`import a from 'b'
type T = { readonly kind: 'x'; readonly size: 3 }
const f = (n: 1 | 2 = a as 1): 'y' => n as unknown as 'y'
log.info('said', { n: 1 })
const route = { summary: 'words' }
throwing(() => new Error(\`no \${a}\`))`),
    ).toEqual([expect.stringContaining(`summary: 'words' }\n;`)]))
})

describe('a sample', () => {
  const mutants = Array.from({ length: 400 }, (_, n): Mutant => {
    const room = n < 4 ? 'wire' : n < 100 ? 'http' : 'actors'
    return {
      path: `src/${room}/a.ts`,
      line: n,
      kind: n % 9 ? 'constant' : 'anchor',
      start: n,
      end: n,
      original: '',
      mutated: '',
    }
  })
  it('gives each room its share, the small ones too, and is the same for the same seed', () => {
    const strata = strataOf(mutants, 40, 1)
    expect(strata.map(({ room, wanted }) => [room, wanted])).toEqual([
      ['actors', 28],
      ['http', 9],
      ['wire', 3],
    ])
    expect(strataOf(mutants, 40, 1)).toEqual(strata)
    expect(strataOf(mutants, 40, 2)).not.toEqual(strata)
    expect(strataOf(mutants, 2, 1).reduce((sum, { wanted }) => sum + wanted, 0)).toBe(2)
    expect(strataOf(mutants, 1000, 1).reduce((sum, { wanted }) => sum + wanted, 0)).toBe(400)
  })
})

it('the nearest tests are those that load the file by few steps or are named like it; types do not count', () => {
  const sources = [
    parse('src/actors/arq/decider.ts', ''),
    parse('src/actors/plane.ts', `import './arq/decider.ts'`),
    parse('src/cli/main.ts', `import '../actors/plane.ts'`),
    parse('test/far.test.ts', `new URL('../src/cli/main.ts', import.meta.url)`),
    parse('test/near.test.ts', `import '../src/actors/plane.ts'`),
    parse('test/actors/arq.test.ts', `import '../../src/actors/plane.ts'`),
    parse('test/types.test.ts', `import type { A } from '../src/actors/arq/decider.ts'`),
  ]
  const isTest = (path: string) => path.endsWith('.test.ts')
  expect(nearestTests(loadersOf(sources), 'src/actors/arq/decider.ts', isTest)).toEqual([
    'test/actors/arq.test.ts',
    'test/near.test.ts',
    'test/far.test.ts',
  ])
})

it('of the tests that are equally near, the one that shares the most words with the file comes first', () => {
  const sources = [
    parse('src/actors/plane.ts', ''),
    ...['admission', 'bind', 'retire'].map((name) => parse(`test/${name}.test.ts`, `import '../src/actors/plane.ts'`)),
  ]
  const alike = new Map([
    ['test/retire.test.ts', 1],
    ['test/bind.test.ts', 0.5],
  ])
  const isTest = (path: string) => path.endsWith('.test.ts')
  expect(nearestTests(loadersOf(sources), 'src/actors/plane.ts', isTest, alike)).toEqual([
    'test/retire.test.ts',
    'test/bind.test.ts',
    'test/admission.test.ts',
  ])
})

it('a test speaks of a place when it contains rare words that stand there', () => {
  const common = Array.from({ length: 11 }, (_, n) => [`test/${n}.test.ts`, 'expect(counts)'] as const)
  const mentions = mentionsIn(
    new Map([
      ...common,
      ['test/ttl.test.ts', 'expect(counts().unboundDeleted).toBe(1)'],
      ['test/log.test.ts', `expect(said).toContain('arq.unbound_too_long')`],
    ]),
  )
  const text = ['', '', 'counts.unboundDeleted++', '', '', '', '', `log('arq.unbound_too_long')`].join('\n')
  expect(mentions.ofPlace(text, 1)).toEqual(['test/ttl.test.ts'])
  expect(mentions.ofPlace(text, 8)).toEqual(['test/log.test.ts'])
  expect(mentions.ofPlace(text, 6)).toEqual(['test/log.test.ts'])
  expect(mentions.ofPlace('counts', 1)).toEqual([])
  const ofFile = [...mentions.ofFile(text)]
  expect(ofFile.slice(0, 2).map(([file]) => file)).toEqual(['test/ttl.test.ts', 'test/log.test.ts'])
  expect(ofFile[0]![1]).toBe(1)
  expect(ofFile[1]![1]).toBeGreaterThan(0.5)
  expect(ofFile[2]![1]).toBeLessThan(0.1)
  expect([...mentions.ofFile('nothing')]).toEqual([])
})

it('of the tests beyond the nearest the quick ones are asked first, then as many others as the budget allows', () => {
  const times = [4000, 1, null, 1, 1, 5000, 20, 9000, 30]
  const files = times.map((_, n) => `test/${n}.test.ts`)
  const msOf = (file: string) => times[files.indexOf(file)]!
  const numbers = (budgetMs: number) => affordable(files, msOf, budgetMs).map((file) => files.indexOf(file))
  expect(numbers(60_000)).toEqual([0, 1, 3, 4, 6, 8, 5, 7, 2])
  expect(numbers(30_000)).toEqual([0, 1, 3, 4, 6, 8, 5, 7])
  expect(numbers(10_000)).toEqual([0, 1, 3, 4, 6, 8, 5])
  expect(numbers(4023)).toEqual([0, 1, 3, 4, 6])
})

describe('a run', () => {
  const passed = { file: 'test/a.test.ts', state: 'passed', ms: 1, failed: null }
  const ran = { files: [passed], unhandled: null, late: false }
  const how = (change: Partial<Ran>, asked = ['test/a.test.ts']) =>
    failed({ ...ran, ...change }, asked, 15_000)?.how ?? null
  it('has noticed nothing when every file that it was asked for passed', () => {
    expect(how({})).toBe(null)
    expect(how({ files: [{ ...passed, failed: 'is 1' }] })).toBe('is 1')
    expect(how({ files: [{ ...passed, state: 'failed' }] })).toBe('it cannot be loaded')
    expect(how({ unhandled: 'a rejection' })).toBe('the run failed: a rejection')
    expect(how({ late: true })).toBe('no end within 15 s')
  })
  it('that left a file out has not passed', () => {
    expect(how({}, ['test/a.test.ts', 'test/b.test.ts'])).toBe('test/b.test.ts was not run')
    expect(how({ files: [{ ...passed, state: 'pending' }] })).toBe('test/a.test.ts was not run')
  })
})

describe('a mutation test', () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-planted-'))
  const put = (path: string, text: string) => writeFileSync(join(root, path), text)
  const only = ['src/limits.ts:1', 'src/limits.ts:3']
  beforeAll(() => {
    for (const folder of ['src', 'test']) mkdirSync(join(root, folder))
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(root, 'node_modules'))
    put('package.json', '{ "type": "module" }')
    put('tsconfig.json', '{ "compilerOptions": { "module": "nodenext", "noEmit": true, "strict": true, "types": [] } }')
    put(
      'vitest.config.ts',
      `export const INCLUDE = ['test/*.test.ts']\nexport const EXCLUDE = []\nexport default { test: { include: INCLUDE, exclude: EXCLUDE } }`,
    )
    put(
      'src/limits.ts',
      `export const isFull = (count: number, max: number): boolean => count >= max
export const larger = (a: number, b: number): number =>
  a > b ? a : b
`,
    )
    put(
      'test/limits.test.ts',
      `import { expect, it } from 'vitest'
import { isFull, larger } from '../src/limits.ts'
it('is full', () => expect([1, 2, 3].map((count) => isFull(count, 2))).toEqual([false, true, true]))
it('is larger', () => expect([larger(1, 2), larger(2, 1), larger(2, 2)]).toEqual([2, 2, 2]))
`,
    )
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('tells what is noticed from what cannot be', { timeout: 300_000 }, async () => {
    const warned: string[] = []
    const verdicts = await mutate({
      root,
      count: 100,
      seed: 1,
      only,
      workers: 1,
      filesMax: 5,
      budgetMs: 10_000,
      coverage: false,
      coverageFile: null,
      equivalent: [],
      note: () => undefined,
      warn: (line) => warned.push(line),
      stop: never,
    })
    const told = verdicts.map(({ mutant, verdict }) => `${verdict} ${mutant.line} ${mutant.original} ${mutant.mutated}`)
    expect(told.toSorted()).toEqual([
      'noticed 1 >= <',
      'noticed 1 >= >',
      'noticed 3 > <=',
      'noticed 3 a : b b : a',
      'survived 3 > >=',
    ])
    expect(warned).toEqual([])
  })
  it(
    'ends a run that hangs with all that it started, and runs the next in a new process',
    { timeout: 120_000 },
    async () => {
      const trees = makeTrees(root)
      const tree = trees.copy('hanging')
      const runner = makeRunner(tree, never)
      const pidFile = join(tree, 'tmp', 'pid')
      writeFileSync(
        join(tree, 'test/hanging.test.ts'),
        `import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { it } from 'vitest'
it('hangs', () => {
  const child = spawn('sleep', ['100'], { detached: true, stdio: 'ignore' })
  writeFileSync(${JSON.stringify(pidFile)}, String(child.pid))
  for (;;);
})
`,
      )
      expect(await runner.run({ files: ['test/hanging.test.ts'], changed: [] }, 15_000)).toMatchObject({ late: true })
      const pid = Number(readFileSync(pidFile, 'utf8'))
      expect(pid).toBeGreaterThan(0)
      await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
      const next = await runner.run({ files: ['test/limits.test.ts'], changed: [] }, 60_000)
      runner.end()
      trees.remove()
      expect(next).toMatchObject({
        late: false,
        unhandled: null,
        files: [{ file: 'test/limits.test.ts', state: 'passed' }],
      })
    },
  )
  it('forgets a fault that was taken out before it looks at the next', { timeout: 120_000 }, async () => {
    const trees = makeTrees(root)
    const tree = trees.copy('again')
    const tests = makeTests(tree, new Map(), () => undefined, never)
    const faulty = readFileSync(join(tree, 'src/limits.ts'), 'utf8').replace('count >= max', 'count > max')
    const noticed = await withText(join(tree, 'src/limits.ts'), faulty, () =>
      tests.failureOf(['test/limits.test.ts'], 'src/limits.ts'),
    )
    const next = await tests.failureOf(['test/limits.test.ts'], 'src/other.ts')
    tests.end()
    trees.remove()
    expect([noticed?.how, next]).toEqual(['is full', null])
  })
  it(
    'tells of the files that it was asked for, also when another one has failed before',
    { timeout: 120_000 },
    async () => {
      const trees = makeTrees(root)
      const tree = trees.copy('failing')
      const runner = makeRunner(tree, never)
      writeFileSync(
        join(tree, 'test/failing.test.ts'),
        `import { expect, it } from 'vitest'\nit('fails', () => expect(1).toBe(2))\n`,
      )
      const stateOf = async (file: string) => {
        const { files } = await runner.run({ files: [file], changed: [] }, 60_000)
        return files.map((one) => [one.file, one.failed])
      }
      expect(await stateOf('test/failing.test.ts')).toEqual([['test/failing.test.ts', 'fails']])
      expect(await stateOf('test/limits.test.ts')).toEqual([['test/limits.test.ts', null]])
      runner.end()
      trees.remove()
    },
  )
  it('does not plant what is known to change nothing', () => {
    const known = {
      path: 'src/limits.ts',
      line: 'a > b ? a : b',
      original: '>',
      mutated: '>=',
      reason: 'equal numbers are the same number',
    }
    const left = possible({ root, only, equivalent: [known] })
    expect(left.map(({ line, mutated }) => [line, mutated])).toEqual([
      [1, '>'],
      [1, '<'],
      [3, 'b : a'],
      [3, '<='],
    ])
  })
})
