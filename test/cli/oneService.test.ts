/**
 * The life of one service in this process, on PostgreSQL, with all that commands print beside it, word for word. Where
 * a change is meant: `npx vitest run test/cli/oneService.test.ts -u`, and the difference shows what operators and
 * scripts will meet.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type Config, loadConfig } from '../../src/cli/config/config.ts'
import { start } from '../../src/cli/programs/start.ts'
import { openTourNova } from '../../src/cli/programs/tourNova.ts'
import { memoryLog } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { sqlOnce } from '../support/postgres.ts'
import { ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { logged, read, readiness, series, toured } from './running.ts'
import { openTranscript, type Replacement } from './transcript.ts'

const folder = tempFolder('one-service')
afterAll(folder.remove)
const data = join(folder.path, 'data')
const file = join(folder.path, 'journal.ndjson')
/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
const LOCAL = '127.0.0.1:0'

const configOf = (database: string, nova: string): Config => {
  const loaded = loadConfig({
    flags: {
      data,
      database,
      listen: LOCAL,
      adminListen: LOCAL,
      uiListen: LOCAL,
      demoHosts: '1',
      demoDevices: '1',
      demoHandles: '2',
    },
    env: {
      ACCELERANDO_NOVA_URL: nova,
      ACCELERANDO_HOST_NAME: 'this-machine',
      ACCELERANDO_ENABLED_DRIVERS: 'fake_driver',
      ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '600',
      ACCELERANDO_HOST_STALE_AFTER_SECONDS: '3600',
      ACCELERANDO_HOST_DOWN_AFTER_SECONDS: '7200',
      ACCELERANDO_TEST_DOORS: 'true',
    },
    readFile: () => '',
    osHostname: 'h',
  })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}

/** The service, from its start to its end, and what its listeners show. */
const served = async (
  url: string,
  { note, run }: Pick<ReturnType<typeof openTranscript>, 'note' | 'run'>,
): Promise<void> => {
  const nova = await openTourNova()
  const log = memoryLog()
  const running = await start(configOf(url, nova.url), log)
  try {
    note('the tour', await toured(running.base, nova))
    const { admin } = log.said.find(({ message }) => message === 'started')!.detail as { readonly admin: string }
    note('readyz', readiness(await read(`${admin}/readyz`)))
    const { result } = JSON.parse(await read(`${admin}/doors/residents`, 'POST')) as { result: readonly string[] }
    note('doors/residents', result.join('\n'), { sorted: true })
    note('metrics', series(await read(`${admin}/metrics`)), { sorted: true })
    await run(`doctor --api ${running.base.replace('/v2', '')}`)
  } finally {
    await running.stop()
    await nova.close()
  }
  note('log', logged(log.said), { sorted: true })
}

describeWith('postgres', 'one service', (bin) => {
  test('is made, used, looked at, stopped and audited', LIMIT, async () => {
    // of its own: an open transaction of another test on the same server would hide the last rows from `tail`
    const server = await ownServer(bin)
    const database = await server.freshDatabase()
    const name = new URL(database.url).pathname.slice(1)
    const role = `r_${name}`
    const replaced: readonly Replacement[] = [
      [role, '<role>'],
      [name, '<database>'],
      [folder.path, '<folder>'],
      [/PostgreSQL [\d.]+/g, 'PostgreSQL <version>'],
      [/tour-[0-9a-f]{8}/g, 'tour-<name>'],
      [/about \d+ rows?|\d+ rows? to tell/g, '<amount> rows'],
      [/(behind|ahead of) this machine/g, 'beside this machine'],
    ]
    const transcript = openTranscript({ ACCELERANDO_DATABASE: database.url, ACCELERANDO_DATA: data }, replaced)
    const { run, note, text } = transcript
    try {
      await run('migrate --check')
      await run('migrate')
      await sqlOnce(database.url, `create role ${role}`)
      await run(`migrate --grant-to ${role} --adopt`)
      await run('migrate --check')
      await run('tail --once')
      await run('audit')
      await served(database.url, transcript)
      const facts = await run('tail --once', { sorted: true })
      const [, arq] = /arq\/(\S{36}) {2}ArqCreated/.exec(facts)!
      const history = await run(`tail --once --arq ${arq}`)
      const [, bound] = /Bound .*@(\S+)/.exec(history)!
      await run(`tail arq.events --once --since ${bound}`)
      await run('tail host.orders.v1 --once')
      await run('tail arq.events --once --json')
      await run('audit --stopped --settled')
      await run(`audit --json --now 2100-01-01T00:00:00Z --write ${file} --host-data ${join(data, 'hosts', 'sim-1')}`)
      note('the journal as it is written', readFileSync(file, 'utf8'), { sorted: true })
      await run('rebuild-views')
      await run('archive --ended-days 1')
      await run('archive --ended-days 0 --portion 3')
      await run('audit')
    } finally {
      await server.end()
    }
    await expect(text()).toMatchFileSnapshot('golden/oneService.txt')
  })
})
