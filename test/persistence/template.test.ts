/** TEMPLATE-1 to 3: an empty store made in advance is used where it fits, and else a store is created as ever. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrationNames } from '../../src/persistence/migrate.ts'
import { openStore } from '../../src/persistence/open.ts'
import { filledFromTemplate, writeTemplate } from '../../src/persistence/pglite/template.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('template')
const templates = join(folder.path, 'prepared')
let count = 0
const fresh = (): string => join(folder.path, `store-${++count}`, 'pglite')

beforeAll(async () => {
  await embeddedStoreIn(join(folder.path, 'original'))
  writeTemplate(join(folder.path, 'original/pglite'), templates)
}, 180_000)
afterAll(folder.remove)

/** A copy of the template whose description or content was changed. */
const changed = (change: (described: Record<string, unknown>) => unknown): string => {
  const other = join(folder.path, `changed-${++count}`)
  cpSync(templates, other, { recursive: true })
  const path = join(other, 'store.json')
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>)))
  return other
}
const damaged = (file: string, text: string): string => {
  const other = changed((described) => described)
  writeFileSync(join(other, file), text)
  return other
}

describe('a template that fits', () => {
  test('TEMPLATE-1 becomes a store that is empty and complete', async () => {
    const to = fresh()
    expect(filledFromTemplate(to, templates)).toBe(true)
    const store = await openStore({ kind: 'pglite', dir: join(to, '..') })
    expect(store.newer).toEqual([])
    expect(await store.journalEnd()).toEqual(await emptyEnd())
    await store.close()
  })

  test('TEMPLATE-1 takes the place of what a killed start has left unfinished', () => {
    const to = fresh()
    mkdirSync(`${to}.unfinished/base`, { recursive: true })
    writeFileSync(`${to}.unfinished/left`, '')
    expect(filledFromTemplate(to, templates)).toBe(true)
    expect([existsSync(join(to, 'left')), existsSync(join(to, 'PG_VERSION')), existsSync(`${to}.unfinished`)]).toEqual([
      false,
      true,
      false,
    ])
  })

  test('TEMPLATE-1 leaves a store alone that is there', () => {
    const to = fresh()
    mkdirSync(to, { recursive: true })
    expect(filledFromTemplate(to, templates)).toBe(false)
    expect(existsSync(join(to, 'PG_VERSION'))).toBe(false)
  })
})

/** The end of the journal of a store that was created without a template. */
const emptyEnd = async () => {
  const store = await openStore({ kind: 'pglite', dir: join(folder.path, 'original') })
  try {
    return await store.journalEnd()
  } finally {
    await store.close()
  }
}

describe('a template is not used', () => {
  const [last] = migrationNames().toReversed()
  const digests = (described: Record<string, unknown>) => described['migrations'] as Record<string, string>
  const cases: Readonly<Record<string, () => string>> = {
    'TEMPLATE-3 when there is none': () => join(folder.path, 'nowhere'),
    'TEMPLATE-2 when another release of the database made it': () => changed((it) => ({ ...it, database: '0.0.1' })),
    'TEMPLATE-2 when a migration has been edited since': () =>
      changed((it) => ({ ...it, migrations: { ...digests(it), [last!]: 'other' } })),
    'TEMPLATE-2 when a migration has come since': () =>
      changed((it) => ({
        ...it,
        migrations: Object.fromEntries(Object.entries(digests(it)).filter(([name]) => name !== last)),
      })),
    'TEMPLATE-2 when its list of files has changed': () => changed((it) => ({ ...it, entries: [] })),
    'TEMPLATE-2 when its content is damaged': () => damaged('store.gz', 'no archive'),
    'TEMPLATE-2 when its description is damaged': () => damaged('store.json', '{"database": '),
  }
  for (const [name, other] of Object.entries(cases))
    test(name, () => {
      const to = fresh()
      expect(filledFromTemplate(to, other())).toBe(false)
      expect(existsSync(to)).toBe(false)
    })
})
