/**
 * What `import` prints of a database of upstream with all the damage that it leaves, and what it records, word for word. The tables hold text, as an
 * import reads them. Where a change is meant: `npx vitest run test/cli/importOnce.test.ts -u`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { insertsOf } from '../upstream/insert.ts'
import { WHOLE } from '../upstream/whole.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('import-once')
afterAll(folder.remove)

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
const asText = (value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (typeof value === 'string') return value
  return JSON.stringify(typeof value === 'boolean' ? Number(value) : value)
}
const fill = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const { table, columns, rows } of insertsOf(WHOLE)) {
    const named = columns.map((name) => `"${name}"`)
    await client.query(`create table "${table}" (${named.map((name) => `${name} text`).join(', ')})`)
    await client.query(`alter table "${table}" alter column id type bigint using id::bigint`)
    const places = columns.map((_, at) => `$${at + 1}`).join(', ')
    for (const row of rows) await client.query(`insert into "${table}" values (${places})`, row.map(asText))
  }
  await client.end()
}

describeWith('postgres', 'an upstream database', (bin) => {
  test('is shown, imported once, and not a second time', LIMIT, async () => {
    // of its own: an open transaction of another test on the same server would leave the last rows unsettled
    const server = await ownServer(bin)
    const [upstream, target, empty] = [
      await server.freshDatabase(),
      await server.freshDatabase(),
      await server.freshDatabase(),
    ]
    const file = join(folder.path, 'cyborg.conf')
    writeFileSync(file, `[database]\nmysql_engine = InnoDB\nconnection = ${upstream.url}\n`)
    const bare = join(folder.path, 'url')
    writeFileSync(bare, `${empty.url}\n`)
    const env = { ACCELERANDO_DATABASE: target.url, ACCELERANDO_DATA: join(folder.path, 'data') }
    const names = [upstream, target, empty].map(({ url }) => new URL(url).pathname.slice(1))
    const { run, text } = openTranscript({ ...env, ACCELERANDO_LOG_LEVEL: 'silent' }, [
      [folder.path, '<folder>'],
      ...names.map((name, at) => [name, `<database ${at}>`] as const),
    ])
    try {
      await fill(upstream.url)
      await run(`import --from-file ${file}`)
      await run(`import --from ${upstream.url} --json`)
      await run(`import --from-file ${bare}`)
      await run(`import --from-file ${file} --apply`)
      await run(`import --from-file ${file} --apply`)
      await run('audit --stopped')
      await run('rebuild-views')
    } finally {
      await server.end()
    }
    await expect(text()).toMatchFileSnapshot('golden/importOnce.txt')
  })
})
