/**
 * Folders of the embedded store for tests. Creating one takes seconds of processor time, so a test run creates one,
 * empty but with its tables, and every test gets a copy. A guard process that outlives the run removes the original.
 *
 *   await embeddedStoreIn(dir) // then openStore({ kind: 'pglite', dir }), or a program with `--data` one folder above
 */
import { execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openStore } from '../../src/persistence/open.ts'
import { runPid, startedAt } from './postgres.ts'

const run = promisify(execFile)
const MADE_MS = 120_000
const LOOK_MS = 50

const guard = (folder: string): void => {
  const script = `while kill -0 ${runPid()} 2>/dev/null; do sleep 0.3; done; rm -rf '${folder}'`
  spawn('sh', ['-c', script], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

const make = async (folder: string): Promise<void> => {
  guard(folder)
  const store = await openStore({ kind: 'pglite', dir: join(folder, 'store') })
  await store.close()
}

/** Created by the first test process that needs it; the others wait for it. */
const template = async (): Promise<string> => {
  const pid = runPid()
  const folder = join(tmpdir(), `accelerando-embedded-${pid}-${startedAt(pid)}`)
  const made = join(folder, 'made')
  try {
    mkdirSync(folder)
  } catch {
    for (let waited = 0; !existsSync(made) && waited < MADE_MS; waited += LOOK_MS) await wait(LOOK_MS)
    const problem = existsSync(made) ? readFileSync(made, 'utf8') : `not ready within ${MADE_MS} ms`
    if (problem !== '') throw new Error(`no embedded store to copy: ${problem}`)
    return join(folder, 'store')
  }
  const problem = await make(folder).then(
    () => '',
    (error: unknown) => String(error),
  )
  writeFileSync(`${made}.tmp`, problem)
  renameSync(`${made}.tmp`, made)
  if (problem !== '') throw new Error(`no embedded store to copy: ${problem}`)
  return join(folder, 'store')
}

/** For a hook before tests with short time-outs, since the first call of a run takes seconds. */
export const embeddedStoreMade = async (): Promise<void> => void (await template())

/** A folder that is removed when the test run has ended, for stores that no test closes. */
export const folderOfRun = async (): Promise<string> => dirname(await template())

/** An empty store in `dir`, which is made with the folders it lies in, and may hold nothing yet. */
export const embeddedStoreIn = async (dir: string): Promise<void> => {
  const from = await template()
  mkdirSync(dirname(dir), { recursive: true })
  await run('cp', ['-R', `${from}/.`, dir])
}
