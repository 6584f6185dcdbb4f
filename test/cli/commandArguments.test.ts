/** What commands refuse before they reach anything, and the limits of their arguments. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { freePort } from '../support/port.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('command-arguments')
afterAll(folder.remove)

const UUID = '5eed0000-0000-4000-8000-000000000001'
const NO_DATABASE = 'database is not set: name it with --database'
const NO_KAFKA = 'kafka.brokers is not set: name them with --kafka'
const DAYS = '--ended-days: must be a number from 0 to 36500'
const PORTION = '--portion: must be a number from 1 to 10000'
const LIMIT = '--limit: must be a whole number from 1 to 10000'
const WHICH = 'name the letters to send again, or all of them with --all'
const CHECK_ONLY = '--check changes nothing: leave out --grant-to and --adopt'
const ENDLESS = 'without --once it goes on, so it has no order, and its format is table, jsonl, csv or value'
const DATABASE = 'postgresql://127.0.0.1:1/nothing'

test.each<readonly [line: string, err: string]>([
  ['archive', NO_DATABASE],
  ['archive --ended-days 0', NO_DATABASE],
  ['archive --ended-days 36500 --portion 10000', NO_DATABASE],
  ['archive --portion 1', NO_DATABASE],
  ['archive --ended-days=-0.1', DAYS],
  ['archive --ended-days 36501', DAYS],
  ['archive --ended-days many', DAYS],
  ['archive --ended-days=', DAYS],
  ['archive --portion 0.9', PORTION],
  ['archive --portion 10001', PORTION],
  ['migrate', NO_DATABASE],
  ['migrate --check', NO_DATABASE],
  [`migrate --check --adopt --database ${DATABASE}`, CHECK_ONLY],
  [`migrate --check --grant-to r --database ${DATABASE}`, CHECK_ONLY],
  [`migrate --from-topics --database ${DATABASE}`, '--from-topics goes with --check or --adopt'],
  [`migrate --from-topics --grant-to r --database ${DATABASE}`, '--from-topics goes with --check or --adopt'],
  ['tail -f yaml', ENDLESS],
  ['tail --sort-column time', ENDLESS],
  ['tail --limit 0', '--limit: must be a whole number from 1 to 1000000 (is 0)'],
  ['import', "name upstream's database with --from, --from-file or ACCELERANDO_IMPORT_FROM"],
  ['import --from nothing', '--from: it is not a URL'],
  ['import --from-file /dev/null', '--from-file: it is not a URL'],
  ['import --from mysql://u:p@127.0.0.1:1/c --from-file x', "ENOENT: no such file or directory, open 'x'"],
  [
    'import --from mysql://u:p@127.0.0.1:1/c --from-file /dev/null',
    '--from and --from-file name the same thing: leave one out',
  ],
  ['topics list', NO_KAFKA],
  ['topics create', NO_KAFKA],
  ['dead-letters list', NO_KAFKA],
  ['dead-letters list --limit 1', NO_KAFKA],
  ['dead-letters list --limit 10000 --since 2026-01-31', NO_KAFKA],
  ['dead-letters list --limit 0', `${LIMIT} (is 0)`],
  ['dead-letters list --limit 10001', `${LIMIT} (is 10001)`],
  ['dead-letters list --limit 1.5', `${LIMIT} (is 1.5)`],
  ['dead-letters list --since then', '--since: must be a moment in ISO 8601, such as 2026-11-21T12:00:00Z (is then)'],
  ['dead-letters retry', WHICH],
  ['dead-letters retry a --all', WHICH],
  ['dead-letters retry a', NO_KAFKA],
  ['dead-letters retry --all', NO_KAFKA],
  ['doctor --api there', '--api: must be an http or https URL (is there)'],
  ['doctor --api ftp://there', '--api: must be an http or https URL (is ftp://there)'],
  ['doctor --api xhttp://there', '--api: must be an http or https URL (is xhttp://there)'],
  ['doctor --api http://', '--api: must be an http or https URL (is http://)'],
  ['events --after 1', '--after: must be the id of an event, as it is shown'],
  ['tail --arq a', '--arq: must be a UUID, and is a'],
  [`tail --arq ${UUID} --since @1`, '--since: must be a position as tail shows it behind @, and is @1'],
  ['tail --since 1.', '--since: must be a position as tail shows it behind @, and is 1.'],
  ['tail --since 1.2x', '--since: must be a position as tail shows it behind @, and is 1.2x'],
  [
    'tail nowhere --kafka 127.0.0.1:1 --since 1',
    'topic: must be one of host.reports.v1, host.orders.v1, arq.events.v1, device.events.v1, deployable.events.v1, profile.events.v1, ' +
      'host.events.v1, placement.events.v1, arq.state.v1, device.state.v1, host.state.v1, dead-letters.v1, and is nowhere',
  ],
  ['policy show --as member,', '--as: must be roles with commas between them (is member,)'],
  [
    'control',
    'A control cannot start:\n' +
      '  - database: must be set for a control (--database or ACCELERANDO_DATABASE)\n  - kafka.brokers: ',
  ],
  ['host', 'A host cannot start:\n  - kafka.brokers'],
  [
    'host --kafka a:1 --demo-devices 2 --clock-offset-ms 5',
    'The configuration is not usable:\n  - clock_offset_ms: needs test_doors',
  ],
  ['seed --hosts 1 --devices 1 --handles 1', "error: required option '--arqs <N>' not specified"],
  [
    'seed --hosts 0 --devices 1.5 --handles x --arqs=-1 --projects=',
    '--hosts: must be a whole number, at least 1\n--devices: must be a whole number, at least 1\n' +
      '--handles: must be a whole number, at least 1\n--arqs: must be a whole number, at least 0\n' +
      '--projects: must be a whole number, at least 1\n',
  ],
  ['hosts list --api there', '--api: there must be the address of the API, like http://127.0.0.1:6666/v2'],
  ['hosts list --api ftp://there', '--api: ftp://there must be the address of the API, like http://127.0.0.1:6666/v2'],
  [
    'hosts list --api xhttp://there',
    '--api: xhttp://there must be the address of the API, like http://127.0.0.1:6666/v2',
  ],
  [
    'hosts list --api httpsx://there',
    '--api: httpsx://there must be the address of the API, like http://127.0.0.1:6666/v2',
  ],
  ['hosts retire h1', "error: required option '--reason <TEXT>' not specified"],
  ['host remove h1', "error: required option '--reason <TEXT>' not specified"],
  ['handles release u1', "error: required option '--reason <TEXT>' not specified"],
  ['arq force-unbind q1', "error: required option '--reason <TEXT>' not specified"],
  ['profiles migrate', "error: required option '--map <FILE>' not specified"],
  ['host remove h1 --reason x', 'Host h1 is removed for good. There is no terminal to ask: add --yes'],
  [
    'arq force-unbind q1 --reason x',
    'Accelerator request q1 is unbound, whatever its instance and its host do. There is no',
  ],
  ['hosts', 'Usage: accelerando hosts '],
  ['host list --format xml', "error: option '-f, --format <FORMAT>' argument 'xml' is invalid."],
  ['archive --log-level loud', 'The configuration is not usable:\n  - log.level: '],
  ['tail --log-level loud', 'The configuration is not usable:\n  - log.level: '],
])('%s', async (line, err) => {
  const ran = await commandHere(line.split(' '))
  expect(ran).toMatchObject({ code: err.startsWith('ENOENT') ? 1 : 2, out: '' })
  expect(ran.err.slice(0, err.length)).toBe(err)
})

test.each<readonly [line: string, err: string]>([
  ['--slack x', '--slack: must be a number of seconds, 0 or more, and is x'],
  ['--slack=', '--slack: must be a number of seconds, 0 or more, and is '],
  ['--slack=-0.001', '--slack: must be a number of seconds, 0 or more, and is -0.001'],
  ['--slack Infinity', '--slack: must be a number of seconds, 0 or more, and is Infinity'],
  ['--skew x', '--skew: must be a number of seconds, 0 or more, and is x'],
  ['--now then', '--now: must be a moment such as 2026-01-31T12:00:00Z, and is then'],
  ['--slack 0 --skew 0 --now 2026-01-31 --file /nothing', "ENOENT: no such file or directory, open '/nothing'"],
  ['--log-level loud', 'The configuration is not usable:\n  - log.level: must be one of'],
])('audit %s reads nothing', async (line, err) => {
  const ran = await commandHere(['audit', ...line.split(' ')])
  expect(ran).toMatchObject({ code: err.startsWith('ENOENT') ? 1 : 2, out: '' })
  expect(ran.err.slice(0, err.length)).toBe(err)
})

describe('policy show', () => {
  const rowsOf = async (line = '', env: Readonly<Record<string, string>> = {}) => {
    const { code, out, err } = await commandHere(
      ['policy', 'show', '-f', 'csv', ...line.split(' ').filter(Boolean)],
      env,
    )
    expect([code, err]).toEqual([0, ''])
    return Object.fromEntries(
      out.split('\n').map((row) => [row.slice(0, row.indexOf(',')), row.slice(row.indexOf(',') + 1)]),
    )
  }
  test('has a row for each operation, with a mark for each role that may', async () => {
    const rows = await rowsOf()
    expect(Object.keys(rows).length).toBeGreaterThan(40)
    expect(rows['operation']).toBe('admin,manager,member,reader,service,other,rule')
    expect(rows['cyborg:device:enable']).toMatch(/^yes,,,,,,"?[^,]/)
    expect(rows['cyborg:device:get_all']).toMatch(/^yes,yes,,,,,/)
    expect(rows['cyborg:device_profile:get_all']).toMatch(/^yes,yes,yes,yes,yes,yes,/)
    const { out } = await commandHere(['policy', 'show'])
    expect(out.split('\n')[0]).toMatch(
      /^OPERATION {2,}ADMIN {2}MANAGER {2}MEMBER {2}READER {2}SERVICE {2}OTHER {2}RULE$/,
    )
  })
  test('goes by the new defaults where only they count', async () => {
    const rows = await rowsOf('', { ACCELERANDO_OSLO_POLICY_ENFORCE_NEW_DEFAULTS: 'true' })
    expect(rows['cyborg:device_profile:get_all']).toMatch(/^yes,yes,yes,yes,,,/)
    expect(rows['cyborg:arq:create']).toMatch(/^yes,yes,yes,,yes,,/)
  })
  test('shows the rules of the operator; a role implies the lower ones, service and others nothing', async () => {
    const file = join(folder.path, 'policy.yaml')
    const of = async (rule: string) => {
      writeFileSync(file, `"cyborg:device:get_all": "${rule}"`)
      return (await rowsOf('', { ACCELERANDO_OSLO_POLICY_POLICY_FILE: file }))['cyborg:device:get_all']
    }
    expect(await of('role:reader or rule:service_api')).toBe('yes,yes,yes,yes,yes,,role:reader or rule:service_api')
    expect(await of('role:member')).toBe('yes,yes,yes,,,,role:member')
    expect(await of('role:service')).toBe(',,,,yes,,role:service')
    expect(await of('role:nobody')).toBe(',,,,,,role:nobody')
  })
  test('for the roles of one token, or as JSON', async () => {
    expect((await rowsOf('--as Reader,member'))['operation']).toBe('reader+member,rule')
    const { out } = await commandHere(['policy', 'show', '--json', '--as', 'member'])
    for (const row of JSON.parse(out) as readonly object[])
      expect(Object.keys(row)).toEqual(['operation', 'rule', 'allowed'])
  })
})

test.each([
  ['nonsense', "error: unknown command 'nonsense'"],
  ['hots', "error: unknown command 'hots'"],
  ['host lits', "error: unknown command 'lits'"],
])('a command that is not there is named, and what was meant: %s', async (line, said) => {
  const { code, err } = await commandHere(line.split(' '))
  expect([code, err.split('\n')[0]]).toEqual([2, said])
  if (line !== 'nonsense') expect(err).toContain('(Did you mean ')
})
test('a file of the configuration that has no end, or is a folder, is refused at once', async () => {
  for (const [path, why] of [
    ['/dev/zero', 'it is longer than 4194304 bytes'],
    ['/tmp', 'EISDIR'],
  ])
    expect(await commandHere(['archive', '--config', path!])).toMatchObject({
      code: 2,
      err: expect.stringContaining(why!),
    })
})
test.each(['migrate', 'audit', 'rebuild-views', 'archive'])(
  '%s says that it was the database which it could not open, and what looks at it',
  async (command) => {
    const port = await freePort()
    expect(await commandHere([command, '--database', `postgresql://x@127.0.0.1:${port}/y`])).toMatchObject({
      code: 1,
      err: `the database cannot be opened: connect ECONNREFUSED 127.0.0.1:${port}\nnext: accelerando doctor --database URL\n`,
    })
  },
)
test('the version is the one of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as object & {
    readonly version: string
  }
  expect(await commandHere(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' })
})
test('without a command the program shows its help, and starts nothing', async () => {
  const { code, out, err } = await commandHere([])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Usage: accelerando')
})
