/** Commands on a store that nobody uses, and a configuration nobody can use. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { type Exit, runProgram, tempFolder } from '../support/program.ts'

const TIMEOUT = { timeout: 90_000 }
const folder = tempFolder('stopped')
const data = join(folder.path, 'data')
afterAll(folder.remove)

const ran = async (...args: readonly string[]): Promise<Exit & { out: string; err: string }> => {
  const program = runProgram({ args: [...args] })
  const exit = await program.exited
  return { ...exit, out: program.stdout().trimEnd(), err: program.stderr() }
}
const seed = (arqs: number) =>
  ran(
    'seed',
    '--data',
    data,
    '--hosts',
    '2',
    '--devices',
    '2',
    '--handles',
    '4',
    '--arqs',
    String(arqs),
    '--projects',
    '3',
  )

/** The views as text. */
const viewsOf = async (): Promise<readonly string[]> => {
  const store = await openStore({ kind: 'pglite', dir: join(data, 'store') })
  const lines: string[] = []
  for await (const line of store.dumpViews()) lines.push(line)
  await store.close()
  return lines
}

const bound = (views: readonly string[]) => views.filter((line) => /^arqs .*"state":"Bound"/.test(line))
const distinct = (lines: readonly string[], column: string) =>
  new Set(lines.map((line) => new RegExp(`"${column}":"([^"]*)"`).exec(line)?.[1]))
let views: readonly string[]

beforeAll(() => embeddedStoreIn(join(data, 'store')), 90_000)

test('seed brings an empty store to so many bound ARQs, each with a handle of its own', TIMEOUT, async () => {
  const { code, out, err } = await seed(10)
  expect(code, err).toBe(0)
  expect(out).toMatch(/^seeded: 10 bound ARQs \(10 added\)/)
  views = await viewsOf()
  expect(bound(views)).toHaveLength(10)
  expect(distinct(bound(views), 'handle_uuid')).toHaveLength(10)
  expect(distinct(bound(views), 'project_id')).toHaveLength(3)
})
test('the same seed again adds nothing, a larger one what is missing, a smaller one is refused', TIMEOUT, async () => {
  expect((await seed(10)).out).toMatch(/^seeded: 10 bound ARQs \(0 added\)/)
  expect((await seed(12)).out).toMatch(/^seeded: 12 bound ARQs \(2 added\)/)
  const { code, err } = await seed(5)
  expect(code).toBe(1)
  expect(err).toMatch(/holds 12 bound ARQs already/)
  const before = bound(views)
  views = await viewsOf()
  expect(bound(views)).toHaveLength(12)
  expect(bound(views)).toEqual(expect.arrayContaining(before))
})
const isMark = (line: string): boolean => line.includes('"entity":"placement-mark/')
test(
  'rebuild-views leaves the views as they were, byte for byte, and marks each host for a comparison with Placement',
  TIMEOUT,
  async () => {
    const { code, out, err } = await ran('rebuild-views', '--data', data)
    expect(code, err).toBe(0)
    expect(out).toMatch(/^rebuilt: \d+ view rows from \d+ journal rows/)
    const rebuilt = await viewsOf()
    expect(rebuilt.filter((line) => !isMark(line))).toEqual(views)
    expect(distinct(rebuilt.filter(isMark), 'entity')).toEqual(
      new Set(['placement-mark/sim-1', 'placement-mark/sim-2']),
    )
  },
)
test('a bad configuration is refused with all its problems', TIMEOUT, async () => {
  const program = runProgram({
    args: ['start', '--listen', 'nowhere', '--data', join(folder.path, 'never')],
    env: { ACCELERANDO_BIND_DEADLINE_SECONDS: 'soon', ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '[{"vendor_id": "x"}]' },
  })
  const { code } = await program.exited
  expect(code).not.toBe(0)
  expect(program.stdout()).toBe('')
  for (const named of ['listen', 'bind.deadline_seconds|ACCELERANDO_BIND_DEADLINE_SECONDS', 'vendor_id'])
    expect(program.stderr()).toMatch(new RegExp(named))
})
test('help names every flag of start', TIMEOUT, async () => {
  const { code, out } = await ran('start', '--help')
  expect(code).toBe(0)
  for (const flag of [
    'listen',
    'data',
    'config',
    'demo',
    'demo-hosts',
    'demo-devices',
    'demo-handles',
    'tour',
    'nova-url',
    'images',
    'admin-listen',
    'noauth-anywhere',
  ])
    expect(out).toMatch(new RegExp(`--${flag}\\b`))
})
