/** A checker that finds nothing proves nothing: each rule must find what is planted for it. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import * as checks from './checks.ts'
import { mapped } from './map.ts'
import { BUDGET, MAP } from './rules.ts'
import { parse } from './source.ts'

const files = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([path, text]) => parse(path, text))
const lines = (count: number): string => Array.from({ length: count }, (_, n) => `export const a${n} = ${n}\n`).join('')

test('a forbidden import is found, also when it imports only a type', () => {
  const found = checks.rooms(
    files({
      'src/http/routes/arqs.ts': `import { open } from '../../persistence/journal.ts'`,
      'src/actors/arq/view.ts': `import type { Row } from '../../persistence/rows.ts'`,
      'src/host/actor.ts': `import '../bus/port.ts'\nexport * from '../actors/runtime/shell.ts'`,
      'src/cli/main.ts': `await import('../host/main.ts')`,
      'src/common/helpers.ts': '',
      'src/bus/port.ts': `export type Journal = import('../persistence/journal.ts').Journal`,
    }),
  )
  expect(found).toEqual([
    'src/http/routes/arqs.ts:1 may not import src/persistence/journal.ts',
    'src/actors/arq/view.ts:1 may not import src/persistence/rows.ts',
    'src/host/actor.ts:2 may not import src/actors/runtime/shell.ts',
    'src/common/helpers.ts: common is not a room',
    'src/bus/port.ts:1 may not import src/persistence/journal.ts',
  ])
})

test('a test that knows a private file is found, and a door that no test uses', () => {
  const found = checks.testDoors(
    files({
      'test/a.test.ts': `import type { Ledger } from '../src/host/orders.ts'\nimport { startHost } from '../src/host/host.ts'`,
      'src/cli/main.ts': `import { startHost } from '../host/orders.ts'`,
    }),
  )
  expect(found).toContain('test/a.test.ts:1 imports src/host/orders.ts, which is no door of its room')
  expect(found).toContain('doors.ts names src/http/app.ts, which no test imports')
  expect(found.filter((one) => one.includes('src/host/host.ts'))).toEqual([])
})

test('an import of a file that is not there is found', () => {
  expect(checks.resolved(files({ 'src/a.ts': `import './b.ts'` }))).toEqual([
    'src/a.ts:1 imports src/b.ts, which is not there',
  ])
})

test('cycles are found, also through types', () => {
  const knot = files({
    'src/actors/a.ts': `import type { B } from './b.ts'`,
    'src/actors/b.ts': `import { c } from '../bus/c.ts'`,
    'src/bus/c.ts': `import { a } from '../actors/a.ts'`,
    'src/bus/d.ts': `import { c } from './c.ts'`,
  })
  expect(checks.fileCycles(knot)).toEqual(['src/actors/a.ts -> src/actors/b.ts -> src/bus/c.ts -> src/actors/a.ts'])
  expect(checks.roomCycles(knot)).toEqual(['actors -> bus -> actors'])
})

test('a way round among the files and folders of one folder is found, at every level', () => {
  const both = files({
    'src/services/arqs/arqs.ts': `import { x } from '../device/x.ts'`,
    'src/actors/device/x.ts': `import type { y } from '../arq/rows.ts'`,
    'src/actors/arq/rows.ts': `import { x } from '../device/z.ts'`,
    'src/actors/device/z.ts': `import '../../clock.ts'`,
    'src/vocabulary/clock.ts': '',
  })
  expect(checks.folderCycles(both)).toEqual(['src/actors: device -> arq -> device'])
  const round = files({
    'src/bus/x/a.ts': `import '../port.ts'`,
    'src/bus/port.ts': `import './y/b.ts'`,
    'src/bus/y/b.ts': `import '../x/c.ts'`,
    'src/bus/x/c.ts': '',
  })
  expect(checks.folderCycles(round)).toEqual(['src/bus: x -> port.ts -> y -> x'])
  const straight = files({
    'src/bus/open.ts': `import './x/a.ts'`,
    'src/bus/x/a.ts': `import '../port.ts'`,
    'src/bus/port.ts': '',
  })
  expect(checks.folderCycles(straight)).toEqual([])
})

test('a rule about what is not there is found', () => {
  const found = checks.ruled(files({ 'src/wire/catalogue.ts': '', 'src/host/disk.ts': '' }))
  expect(found).toContain('rules.ts names drivers/hostIo.ts, which is not there')
  expect(found).toContain('rules.ts names http, which is not there')
  expect(found).not.toContain('rules.ts names host/disk.ts, which is not there')
  expect(found.some((each) => each.endsWith('which matches no file'))).toBe(true)
})

test('a library away from home is found, and one without a home', () => {
  const found = checks.homes(
    files({
      'src/http/routes/arqs.ts': `import { spawn } from 'nact'\nimport { Hono } from 'hono/tiny'`,
      'src/actors/runtime/shell.ts': `import { spawn } from 'nact'\nimport type { EntityManager } from '@mikro-orm/postgresql'`,
      'src/vocabulary/log.ts': `import pino from 'pino'\nimport left from 'left-pad'`,
    }),
  )
  expect(found).toEqual([
    'src/http/routes/arqs.ts:1 imports nact, which lives in actors',
    'src/actors/runtime/shell.ts:2 imports @mikro-orm/postgresql, which lives in persistence',
    'src/vocabulary/log.ts:2 imports left-pad, which has no home',
  ])
})

test('a second door is found', () => {
  const found = checks.doors(
    files({
      'src/drivers/hostIo.ts': `import { readFile } from 'node:fs/promises'`,
      'src/drivers/pci.ts': `import { execFile } from 'node:child_process'`,
      'src/http/token.ts': `export const mode = process.env.MODE`,
      'src/cli/main.ts': `export const mode = process.env['MODE']`,
    }),
  )
  expect(found).toEqual([
    'src/drivers/pci.ts:1 imports node:child_process: only drivers/hostIo.ts may',
    'src/http/token.ts:1 reads process.env: only cli/ may',
  ])
})

test('an impure line in a pure file is found, a word in a comment is not', () => {
  const text = `// the process. Date.now() and await are words here
export const at = () => [Date.now(), Math.random(), new Date(), new Date(0), process.pid]
export const later = async (wait: Promise<void>) => { await wait }`
  const waits = 'export const later = async (wait: Promise<void>) => { await wait }'
  const found = checks.purity(files({ 'src/actors/arq/decider.ts': text, 'src/actors/runtime/shell.ts': text }))
  expect(found.map((each) => each.replace('src/actors/arq/decider.ts', ''))).toEqual([
    ':2 is pure but uses Date.now',
    ':2 is pure but uses Math.random',
    ':2 is pure but uses new Date()',
    ':2 is pure but uses process.pid',
    ':3 is pure but uses await',
  ])
  const everywhere = ['actors/arq/groups.ts', 'actors/events.ts', 'actors/runtime/memory.ts', 'wire/orders.ts']
  const impure = ['actors/latest.ts', 'actors/runtime/region.ts', 'services/due/due.ts']
  expect(
    checks.purity(files(Object.fromEntries([...everywhere, ...impure].map((path) => [`src/${path}`, waits])))),
  ).toEqual(everywhere.map((path) => `src/${path}:1 is pure but uses await`))
})

test('a decider called past the shell is found', () => {
  const direct = 'export const go = (arq: any) => arq.decide(1)'
  const drafted = 'export const go = (draft: any) => draft.decide(1)'
  const found = checks.deciders(
    files({
      'src/http/routes/arqs.ts': direct,
      'src/http/drafts.ts': drafted,
      'src/actors/runtime/shell.ts': direct,
      'src/actors/bind.ts': drafted,
      'test/arq/spec.ts': direct,
    }),
  )
  expect(found).toEqual([
    'src/http/routes/arqs.ts:1 calls a decider: only the shell may',
    'src/http/drafts.ts:1 calls a decider: only the shell may',
  ])
})

test('a long file is found, a generated one is let be', () => {
  const text = lines(BUDGET.fileLines + 1)
  const found = checks.fileLength(
    files({
      'src/a.ts': text,
      'test/a.ts': text,
      'src/b.ts': `// @generated\n${text}`,
      'src/persistence/migrations/1.ts': text,
    }),
  )
  expect(found).toEqual(['src/a.ts has 301 lines, more than 300'])
  expect(checks.medianLength(files({ 'src/a.ts': lines(3), 'src/b.ts': lines(120), 'src/c.ts': lines(150) }))).toBe(120)
})

test('a comment with more columns than code may have is found, in all its forms', () => {
  const wide = 'x'.repeat(BUDGET.columns)
  const text = `/** ${wide} */\n/**\n * ${wide}\n */\n  // ${wide}\nconst text = '${wide}'\n`
  expect(checks.commentWidth(files({ 'src/a.ts': text, 'src/b.ts': `// @generated\n// ${wide}\n` }))).toEqual(
    [1, 3, 5].map((line) => `src/a.ts:${line} is a comment with more than 120 columns`),
  )
})

test('a long function and a deep one are found, an else-if chain is one level', () => {
  const long = `export const long = () => {\n${'  run()\n'.repeat(BUDGET.functionLines)}}\n`
  const deep = `export function deep(a: any) { for (;;) { if (a) { try { switch (a) { } } finally { } } } }\n`
  const chain = `export const chain = (a: any) => { if (a) {} else if (a) {} else if (a) { for (;;) { while (a) {} } } else if (a) {} }\n`
  const apart = `export const apart = () => { if (a) { if (b) { run(() => { if (c) { for (;;) {} } }) } } }\n`
  expect(checks.functionShape(files({ 'src/a.ts': long + deep + chain + apart }))).toEqual([
    'src/a.ts:1 long has 62 lines, more than 60',
    'src/a.ts:63 deep nests 4 deep, more than 3',
  ])
})

test('a long climb, an orphan, a leftover and a patched module are found', () => {
  const note = `// ${['TO', 'DO'].join('')} later`
  const planted = files({
    'src/cli/main.ts': `import '../a.ts'\nnew Worker(new URL('../persistence/worker.ts', import.meta.url))`,
    'bin/start.js': `await import('../src/cli/main.ts')`,
    'src/a.ts': note,
    'src/actors/arq/deep/x.ts': `import '../../../a.ts'`,
    'src/persistence/worker.ts': '',
    'test/a.test.ts': ['vi', "mock('../src/a.ts')"].join('.'),
  })
  expect(checks.upwards(planted)).toEqual(['src/actors/arq/deep/x.ts:1 climbs too far: ../../../a.ts'])
  expect(checks.orphans(planted)).toEqual(['src/actors/arq/deep/x.ts is imported by nothing'])
  expect(checks.leftovers(planted)).toEqual([`src/a.ts:1 ${note}`])
  expect(checks.mocks(planted)).toEqual(['test/a.test.ts:1 patches a module'])
})

test('a heavy library behind the host program is found, however it is loaded', () => {
  const found = checks.lean(
    files({
      'src/host/main.ts': `import '../bus/relay.ts'\nimport type { App } from '../http/app.ts'`,
      'src/bus/relay.ts': `export const later = () => import('../persistence/journal.ts')`,
      'src/persistence/journal.ts': `import { MikroORM } from '@mikro-orm/postgresql'`,
      'src/http/app.ts': `import { Hono } from 'hono'`,
    }),
  )
  expect(found).toEqual(['host/ loads @mikro-orm/postgresql through src/persistence/journal.ts:1'])
})

test('a room, a right to import or a folder that the map leaves out is found, and so is a map that is too large', () => {
  const map = readFileSync(fileURLToPath(new URL('../../ARCHITECTURE.md', import.meta.url)), 'utf8')
  const seen = files({ 'src/actors/arq/states.ts': '', 'src/services/due/due.ts': '', 'src/ui/view/views.ts': '' })
  expect(mapped(seen, map)).toEqual([])
  expect(mapped(seen, map.replace('`due/`', 'due'))).toEqual(['the map does not name services/due/'])
  expect(mapped(seen, map.replace('`bus/` ← vocabulary, wire:', '`bus/` ← vocabulary:'))).toEqual([
    "the map has no entry '* `bus/` ← vocabulary, wire:'",
  ])
  expect(mapped(seen, `${map}${'a line\n'.repeat(MAP.lines)}`)).toHaveLength(1)
  expect(mapped(seen, `${map}${'a'.repeat(MAP.columns + 1)}`)).toHaveLength(1)
})
