/** Commands on a store that no service uses: its schema, what fills and audits it, its history, and an import. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { commandHere } from '../support/commandHere.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { sqlOnce } from '../support/postgres.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { tempFolder } from '../support/program.ts'
import { fillTextTables } from '../upstream/textTables.ts'
import { WHOLE } from '../upstream/whole.ts'

const folder = tempFolder('store-commands')
afterAll(folder.remove)
const at = (name: string): string => join(folder.path, name)
/** A machine that does other work as well needs a multiple of what it takes alone. */
const LIMIT = { timeout: 180_000 }
const runner = (env: Readonly<Record<string, string>>) => async (line: string) => {
  const { code, out, err } = await commandHere(line.split(' '), { ACCELERANDO_LOG_LEVEL: 'silent', ...env })
  return { code, out, err, lines: out.split('\n').slice(0, -1) }
}

test('a store in the data folder is seeded and audited', LIMIT, async () => {
  await embeddedStoreIn(at('store'))
  const run = runner({ ACCELERANDO_DATA: folder.path })
  expect((await run('seed --hosts 1 --devices 1 --handles 1 --arqs 1')).out).toMatch(
    /^seeded: 1 bound ARQs \(1 added\)/,
  )
  const { code, lines } = await run('audit')
  expect([code, lines[0]]).toEqual([0, `read       the store in ${at('store')}`])
})

describeWith('postgres', 'a store in a database', (bin) => {
  // of its own: an open transaction of another test on the same server would leave the last rows unsettled
  let server: OwnServer
  beforeAll(async () => {
    server = await ownServer(bin)
  }, 120_000)
  afterAll(() => server.end())
  const opened = async () => {
    const { url } = await server.freshDatabase()
    return { url, run: runner({ ACCELERANDO_DATABASE: url, ACCELERANDO_DATA: at('data') }) }
  }

  test('is migrated once, and lets a role in; what a newer release has made is told', LIMIT, async () => {
    const { url, run } = await opened()
    const name = new URL(url).pathname.slice(1)
    const pending = await run('migrate --check')
    expect([pending.code, pending.lines[0]]).toEqual([7, 'pending 0001_journal_and_views'])
    expect((await run('migrate')).lines).toEqual(pending.lines.map((line) => line.replace('pending', 'made   ')))
    await sqlOnce(url, `create role r_${name}`)
    const granted = await run(`migrate --grant-to r_${name} --adopt`)
    expect(granted.lines).toEqual([
      'the schema was up to date',
      expect.stringMatching(`^granted role r_${name} what the programs need`),
      'nothing to adopt: writing is not stopped, and the journal is of this server',
    ])
    await sqlOnce(url, "insert into mikro_orm_migrations (name, executed_at) values ('Later', now())")
    const newer = 'newer   Later: made by a newer accelerando'
    expect(await run('migrate --check')).toMatchObject({ code: 0, err: '', lines: [newer, 'the schema is up to date'] })
    expect(await run('migrate --check --from-topics')).toMatchObject({
      code: 2,
      err: '--from-topics: kafka.brokers is not set: name the brokers with --kafka\nnext: accelerando migrate --help\n',
    })
    const doctor = await run('doctor -f csv')
    expect(doctor.lines.map((line) => line.split(',')[0]!)).toEqual(
      expect.arrayContaining(['database', 'schema', 'rights', 'writing', 'relay', 'hosts', 'orders', 'deadlines']),
    )
  })

  test('is seeded as far as its handles go, and its journal can be written to a file', LIMIT, async () => {
    const { run } = await opened()
    const seed = (arqs: number) => run(`seed --hosts 1 --devices 2 --handles 2 --arqs ${arqs}`)
    expect((await seed(1)).out).toMatch(/^seeded: 1 bound ARQs \(1 added\), 4 journal rows/)
    expect((await seed(3)).out).toMatch(/^seeded: 3 bound ARQs \(2 added\), 8 journal rows/)
    expect((await seed(3)).out).toMatch(/^seeded: 3 bound ARQs \(0 added\), 0 journal rows/)
    expect(await seed(2)).toMatchObject({
      code: 1,
      err: 'the store holds 3 bound ARQs already, more than the 2 asked for\n',
    })
    expect((await seed(5)).err).toContain('2 ARQs need as many free attach handles, and there are 1')
    const written = await run(`audit --write ${at('journal')}`)
    expect([written.code, written.lines.slice(2, 5)]).toEqual([
      0,
      [expect.stringMatching(/^entities +arq 3,/), 'ARQs       Bound 3', 'binds      completed 3'],
    ])
    const rows = readFileSync(at('journal'), 'utf8').trim().split('\n').length
    expect((await run('rebuild-views')).out).toMatch(new RegExp(`^rebuilt: \\d+ view rows from ${rows} journal rows, `))
    expect((await run(`audit --file ${at('journal')} --stopped`)).code).toBe(0)
  })

  test('tells its history from a position on or of one request, and what has ended leaves it', LIMIT, async () => {
    const { url, run } = await opened()
    const store = await openStore({ kind: 'postgres', url })
    const { control, plane } = await openPlane({}, store)
    const groups = [{ 'resources:FPGA': '1' }]
    value(await control.profiles.create(NOVA, { name: 'f', description: null, groups }))
    const [arq] = value(await control.arqs.create(NOVA, 'f'))
    value(await control.arqs.remove(NOVA, [arq!.uuid]))
    await store.journal.saveCheckpoint('relay', await store.journalEnd())
    await plane.stop()
    await store.close()
    const all = await run('tail --once -f value -c type -c position')
    expect(all.lines.map((line) => line.split('\t')[0])).toEqual(['ProfileCreated', 'ArqCreated', 'ArqRemoved'])
    const since = all.lines[1]!.split('\t')[1]
    expect((await run(`tail arq.events --once --since ${since} -f value -c type`)).out).toBe('ArqRemoved\n')
    expect((await run(`tail --once --arq ${arq!.uuid} -f value -c type`)).out).toBe('ArqCreated\nArqRemoved\n')
    const [line] = (await run('tail profile.events --once --json')).lines
    expect(JSON.parse(line!)).toMatchObject({ topic: 'profile.events.v1', type: 'accelerando.fact.ProfileCreated' })
    expect((await run('tail arq.state --once')).err).toMatch(
      /^topic: must be one of host\.orders\.v1, .*, and is arq\.state\n/,
    )
    expect((await run('archive --ended-days 1')).out).toMatch(/^archived 0 rows of 0 entities, \d+\.\d s\n$/)
    expect((await run('archive --ended-days 0 --portion 1')).out).toMatch(/^archived 2 rows of 1 entities, /)
    expect((await run('audit')).code).toBe(0)
  })

  test('takes over a database of upstream once, and says what was damaged in it', LIMIT, async () => {
    const [upstream, { url: target, run }] = [await server.freshDatabase(), await opened()]
    await fillTextTables(upstream.url, WHOLE)
    const conf = at('cyborg.conf')
    writeFileSync(conf, `[database]\nmysql_engine = InnoDB\nconnection = ${upstream.url}\n`)
    const tried = await run(`import --from-file ${conf}`)
    expect(tried.lines.slice(0, 6)).toEqual([
      'device profiles       2',
      'hosts                 3',
      'devices               24, and 3 retired',
      'deployables           27',
      'attach handles        29, of which 8 are quarantined',
      'accelerator requests  13 Bound, 8 BindFailed, 2 Unbound, 2 Initial',
    ])
    expect(tried.out).toMatch(/^repaired {2}W7 +extended_accelerator_requests 4 \(\S+\): it keeps attach handle/m)
    expect(tried.lines.at(-1)).toBe('nothing was written: --apply writes it')
    expect(JSON.parse((await run(`import --from ${upstream.url} --json`)).out)).toMatchObject({
      devices: 24,
      retired: 3,
    })
    expect((await run(`import --from ${target}`)).err).toContain('table devices cannot be read')
    expect((await run(`import --from-file ${conf} --apply`)).lines.at(-1)).toMatch(/^imported: \d+ journal rows$/)
    expect(await run(`import --from-file ${conf} --apply`)).toMatchObject({
      code: 1,
      err: 'the target was used before: it holds 24 devices and 25 accelerator requests now. Nothing was written. Import into an empty database\n',
    })
    expect((await run('audit --stopped')).code).toBe(0)
  })
})

/** Nobody listens there, and the password is in no message. */
const AT = 'postgresql://user:planted@127.0.0.1:1/db'
test.each([
  ['a file that has only the URL', `\n  ${AT} \n`],
  ["upstream's own configuration", `[DEFAULT]\nconnection = x\n[database]\nconnection = ${AT}\n`],
  ['one that an editor has marked', `\uFEFF[database]\r\nconnection = ${AT}\r\n`],
  ['one with parameters beside it', `[database]\nconnection_parameters = sslmode=disable\nconnection = ${AT}\n`],
  ['one with a name of old releases', `[DEFAULT]\nsql_connection = ${AT}\n`],
])('an import finds the database of upstream in %s', async (_, text) => {
  writeFileSync(at('named'), text)
  const { code, err } = await runner({})(`import --from-file ${at('named')}`)
  expect([code, err]).toEqual([1, expect.stringContaining('127.0.0.1:1')])
  expect(err).not.toContain('planted')
})
test.each([
  ['[database]\n#connection = planted\n', 'named sets no connection in [database], and is not a URL alone'],
  ['planted', '--from-file: it is not a URL'],
])('a file %j names none', async (text, says) => {
  writeFileSync(at('named'), text)
  const { code, err } = await runner({})(`import --from-file ${at('named')}`)
  expect([code, err]).toEqual([2, expect.stringContaining(says)])
  expect(err.replace(/^next.*/m, '')).not.toContain('planted')
})
