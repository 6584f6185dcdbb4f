/**
 * What `import` prints of a database of upstream with all the damage that it leaves, and what it records, word for
 * word. The tables hold text, as an import reads them. Where a change is meant: `npx vitest run
 * test/cli/importOnce.test.ts -u`.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { fillTextTables } from '../upstream/textTables.ts'
import { WHOLE } from '../upstream/whole.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('import-once')
afterAll(folder.remove)

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
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
      await fillTextTables(upstream.url, WHOLE)
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
