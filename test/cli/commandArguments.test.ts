/** What commands refuse before they reach anything, and the limits of their arguments. */
import { describe, expect, test } from 'vitest'
import { topicLines } from '../../src/cli/commands/topics.ts'
import { OPERATION_RULES } from '../../src/http/policy/rules.ts'
import { commandHere } from '../support/commandHere.ts'

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
  test('prints a row for each operation', async () => {
    const { code, out, err } = await commandHere(['policy', 'show'])
    const lines = out.trimEnd().split('\n')
    expect([code, err, lines.length]).toEqual([0, '', Object.keys(OPERATION_RULES).length + 1])
    expect(lines[0]).toMatch(/^OPERATION {2,}ADMIN {2}MANAGER {2}MEMBER {2}READER {2}SERVICE {2}OTHER {2}RULE$/)
    expect(lines.find((line) => line.startsWith('cyborg:device:enable '))).toMatch(
      /^cyborg:device:enable +yes +- +- +- +- +- +\S/,
    )
  })
  test('with a mark for each role that may', async () => {
    const { out } = await commandHere(['policy', 'show', '-f', 'csv'])
    const rows = Object.fromEntries(out.split('\n').map((line) => [line.slice(0, line.indexOf(',')), line]))
    expect(rows['operation']).toBe('operation,admin,manager,member,reader,service,other,rule')
    expect(rows['cyborg:device:enable']).toMatch(/^cyborg:device:enable,yes,,,,,,"?[^,].*$/)
    expect(rows['cyborg:arq:get_all']).toMatch(/^cyborg:arq:get_all,yes,yes,yes,yes,(yes)?,(yes)?,"?[^,].*$/)
  })
  test('or for the roles that are named, or as JSON', async () => {
    const { out } = await commandHere(['policy', 'show', '--as', 'Reader, member'])
    expect(out.split('\n')[0]).toMatch(/^OPERATION +READER\+MEMBER +RULE$/)
    const json = await commandHere(['policy', 'show', '--json', '--as', 'member'])
    const rows = JSON.parse(json.out) as readonly object[]
    expect(rows).toHaveLength(Object.keys(OPERATION_RULES).length)
    for (const row of rows) expect(Object.keys(row)).toEqual(['operation', 'rule', 'allowed'])
  })
})

test('topics are listed with what differs, and each advice once', () => {
  const differs = (what: string, is: string, wanted: string, advice: string) => ({ what, is, wanted, advice })
  expect(
    topicLines([
      { topic: 'arq.events.v1', state: 'exists', differences: [] },
      {
        topic: 'a',
        state: 'differs',
        differences: [differs('replicas', '1', '3', 'ask'), differs('retention.ms', '5', '6', 'apply')],
      },
      { topic: 'b', state: 'differs', differences: [differs('replicas', '2', '3', 'ask')] },
    ] as never),
  ).toEqual([
    'arq.events.v1  exists',
    'a              differs',
    '  replicas is 1, not 3',
    '  retention.ms is 5, not 6',
    'b              differs',
    '  replicas is 2, not 3',
    'replicas: ask',
    'retention.ms: apply',
  ])
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
test('without a command the program shows its help, and starts nothing', async () => {
  const { code, out, err } = await commandHere([])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('Usage: accelerando')
})
