/** TEMPLATE-1 to 3 with a folder of any content: what is packed, what is unpacked, and what is not used. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MIGRATIONS, migrationNames } from '../../src/persistence/migrate.ts'
import { filledFromTemplate, TEMPLATES, writeTemplate } from '../../src/persistence/pglite/template.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('template-files')
const [original, templates] = ['original', 'a/b'].map((name) => join(folder.path, name)) as [string, string]
const FILES = { 'b/d.txt': 'dd', 'a.txt': 'aaa', 'b/c/e.txt': '', 'b.txt': 'b' }
let count = 0
const fresh = (): string => join(folder.path, `store-${++count}`, 'inner', 'pglite')
/** Every file with its content, every folder with null, each with who may use it. */
const tree = (of: string) =>
  Object.fromEntries(
    readdirSync(of, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((path) => {
        const found = statSync(join(of, path))
        const mode = (found.mode & 0o777).toString(8)
        return [path, [found.isDirectory() ? null : readFileSync(join(of, path), 'utf8'), mode]]
      }),
  )
beforeAll(() => {
  for (const path of ['b/c', 'empty']) mkdirSync(join(original, path), { recursive: true })
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(original, path), text)
  writeTemplate(original, templates)
})
afterAll(folder.remove)

type Description = {
  readonly database: string
  readonly migrations: Readonly<Record<string, string>>
  readonly digest: string
  readonly entries: readonly { readonly path: string; readonly bytes: number | null }[]
}
const description = (): Description => JSON.parse(readFileSync(join(templates, 'store.json'), 'utf8')) as Description
const sha = (...parts: readonly (string | Buffer)[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

test('a template is one archive of all files in order, and says what made it', () => {
  const packed = readFileSync(join(templates, 'store.gz'))
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8')) as { version: string }
  const entries = [
    { path: 'a.txt', bytes: 3 },
    { path: 'b', bytes: null },
    { path: 'b.txt', bytes: 1 },
    { path: 'b/c', bytes: null },
    { path: 'b/c/e.txt', bytes: 0 },
    { path: 'b/d.txt', bytes: 2 },
    { path: 'empty', bytes: null },
  ]
  expect(gunzipSync(packed).toString()).toBe('aaabdd')
  expect(description()).toEqual({
    database: version,
    migrations: Object.fromEntries(
      migrationNames().map((name) => [name, sha('[]', readFileSync(new URL(`${name}.ts`, MIGRATIONS)))]),
    ),
    digest: sha(JSON.stringify(entries), packed),
    entries,
  })
  expect(readdirSync(templates).toSorted()).toEqual(['store.gz', 'store.json'])
  expect(TEMPLATES).toBe(join(import.meta.dirname, '../../prepared/'))
})

test('TEMPLATE-1 it becomes a folder with the same files, for its owner alone', () => {
  const to = fresh()
  // what a killed start has left unfinished
  mkdirSync(`${to}.unfinished/b`, { recursive: true })
  writeFileSync(`${to}.unfinished/left`, 'x')
  expect(filledFromTemplate(to, templates)).toBe(true)
  const folders = Object.fromEntries(['b', 'b/c', 'empty'].map((path) => [path, [null, '700']]))
  const files = Object.fromEntries(Object.entries(FILES).map(([path, text]) => [path, [text, '600']]))
  expect(tree(to)).toEqual({ ...folders, ...files })
  expect([(statSync(to).mode & 0o777).toString(8), readdirSync(dirname(to))]).toEqual(['700', ['pglite']])
})
test('TEMPLATE-1 a folder that is there is left alone, also an empty one', () => {
  const to = fresh()
  mkdirSync(to, { recursive: true })
  expect([filledFromTemplate(to, templates), readdirSync(to)]).toEqual([false, []])
})

/** A copy of the template with another description, or other files beside it. */
const changed = (
  change: (it: Description) => object,
  content: Buffer | null = readFileSync(join(templates, 'store.gz')),
) => {
  const other = join(folder.path, `changed-${++count}`)
  mkdirSync(other)
  writeFileSync(join(other, 'store.json'), JSON.stringify(change(description())))
  if (content !== null) writeFileSync(join(other, 'store.gz'), content)
  return other
}
const without = (it: object, name: string): object =>
  Object.fromEntries(Object.entries(it).filter(([key]) => key !== name))
const [first] = migrationNames()
const last = migrationNames().at(-1)!
const others: Readonly<Record<string, () => string>> = {
  'there is none': () => join(folder.path, 'nowhere'),
  'it has no archive': () => changed((it) => it, null),
  'it has no description': () => {
    const other = join(folder.path, `changed-${++count}`)
    mkdirSync(other)
    writeFileSync(join(other, 'store.gz'), readFileSync(join(templates, 'store.gz')))
    return other
  },
  'another release of the database made it': () => changed((it) => ({ ...it, database: `${it.database}0` })),
  'the first migration was edited': () => changed((it) => ({ ...it, migrations: { ...it.migrations, [first!]: 'x' } })),
  'the last migration was edited': () => changed((it) => ({ ...it, migrations: { ...it.migrations, [last]: 'x' } })),
  'it knows a migration more': () => changed((it) => ({ ...it, migrations: { ...it.migrations, '9999_more': 'x' } })),
  'it knows one less': () => changed((it) => ({ ...it, migrations: without(it.migrations, last) })),
  'its digest is another': () => changed((it) => ({ ...it, digest: `${it.digest}0` })),
  'its list of files is another': () => changed((it) => ({ ...it, entries: it.entries.slice(1) })),
  'its archive is another': () => changed((it) => it, gzipSync('aaabdx')),
  'its description lacks the database': () => changed((it) => without(it, 'database')),
  'its description lacks the migrations': () => changed((it) => without(it, 'migrations')),
  'its description lacks the digest': () => changed((it) => without(it, 'digest')),
  'its description lacks the files': () => changed((it) => without(it, 'entries')),
  'a file has no length': () => changed((it) => ({ ...it, entries: it.entries.map(({ path }) => ({ path })) })),
}
test.each(Object.keys(others))('a template is not used when %s (TEMPLATE-2, TEMPLATE-3)', (name) => {
  const to = fresh()
  expect([filledFromTemplate(to, others[name]!()), existsSync(to)]).toEqual([false, false])
})
test('a copy that was not changed is used', () => {
  expect(
    filledFromTemplate(
      fresh(),
      changed((it) => it),
    ),
  ).toBe(true)
})
