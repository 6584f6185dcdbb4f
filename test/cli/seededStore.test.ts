/** What commands print of a store that only `seed` has filled, word for word: `-u` where a change is meant. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('seeded-store')
afterAll(folder.remove)
const file = join(folder.path, 'journal.ndjson')

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
describeWith('postgres', 'a store in a database', (bin) => {
  test('is seeded, a second time with more, and no further than its handles allow', LIMIT, async () => {
    // of its own: an open transaction of another test on the same server would leave the last rows unsettled
    const server = await ownServer(bin)
    const { url } = await server.freshDatabase()
    const env = { ACCELERANDO_DATABASE: url, ACCELERANDO_DATA: join(folder.path, 'data') }
    const { run, note, text } = openTranscript(env, [[folder.path, '<folder>']])
    const size = 'seed --log-level silent --hosts 1 --devices 2 --handles 2'
    try {
      await run(`${size} --arqs 1`)
      await run(`${size} --arqs 3 --projects 2`)
      await run(`${size} --arqs 3`)
      await run(`${size} --arqs 2`)
      await run(`${size} --arqs 5`)
      await run(`audit --write ${file}`)
      note('the journal as it is written', readFileSync(file, 'utf8'))
      await run('rebuild-views')
      await run(`audit --file ${file} --stopped`)
    } finally {
      await server.end()
    }
    await expect(text()).toMatchFileSnapshot('golden/seededStore.txt')
  })
})
