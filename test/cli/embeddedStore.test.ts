/** What commands print of a store in the data folder, word for word: `-u` where a change is meant. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { tempFolder } from '../support/program.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('embedded-store')
afterAll(folder.remove)
beforeAll(() => embeddedStoreIn(join(folder.path, 'store')))

/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
test('it is seeded and audited', LIMIT, async () => {
  const env = { ACCELERANDO_DATA: folder.path, ACCELERANDO_LOG_LEVEL: 'silent' }
  const { run, text } = openTranscript(env, [[folder.path, '<folder>']])
  await run('seed --hosts 1 --devices 1 --handles 1 --arqs 1')
  await run('audit')
  await expect(text()).toMatchFileSnapshot('golden/embeddedStore.txt')
})
