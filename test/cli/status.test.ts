/** `accelerando status`: what is shown of each trouble, and again after a change or when a service was away. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { withCommands } from '../../src/cli/commandLine.ts'
import { commandHere } from '../support/commandHere.ts'
import { OVERVIEW } from './apiDocuments.ts'
import { scriptedApi } from './scriptedApi.ts'

const { run } = scriptedApi()
const findings = async (more: object) => {
  const { code, out } = await run('status -f json', { 'GET /overview': { ...OVERVIEW, ...more } })
  const found = JSON.parse(out) as readonly { severity: string; says: string; look: string; mend: string | null }[]
  expect(code).toBe(found.some(({ severity }) => severity === 'bad') ? 7 : 0)
  return found
}
const CARD = { device_uuid: 'd1', hostname: 'h9', pci_address: '0000:02:00.0' }
const LATE = '2026-01-01T00:00:00.000Z'
const once = { count: 1, last_at: LATE }
test.each<readonly [more: object, severity: string, says: string, look: string]>([
  [{ device_states: { failing: 1 } }, 'bad', '1 device is failing and not offered', 'device list --state failing'],
  [
    { device_states: { failing: 1 }, failing: { devices: 1, arqs: 3, instances: 2, since: LATE, cards: [CARD] } },
    'bad',
    `1 device is failing under 2 servers and not offered: h9 0000:02:00.0, since ${LATE}`,
    'device list --state failing',
  ],
  [
    { vanished: { devices: 2, arqs: 3, instances: 1, since: LATE, cards: [CARD] } },
    'bad',
    `2 cards have vanished under 1 server: h9 0000:02:00.0 and 1 other, since ${LATE}`,
    'device list --state missing',
  ],
  [{ arqs: { BindFailed: 2 } }, 'bad', '2 requests could not be bound', 'arq list --state BindFailed'],
  [{ handles: { missing: 1 } }, 'bad', '1 attach handle is not reported any more', 'handle list --state missing'],
  [{ hosts: { up: 1, down: 1 } }, 'bad', '1 host is down', 'host list --liveness down'],
  [{ placement: { pending: 1 } }, 'waits', '1 host has changes that Placement has not taken yet', 'drift'],
  [{ overdue_since: LATE }, 'bad', `Deadlines have passed, and their work has not been done, since ${LATE}`, 'doctor'],
  [
    { deliveries: { waiting: 0, oldest_at: null, undelivered: 1 } },
    'bad',
    'Nova has refused or missed the events about 1 instance, and is told no more',
    'delivery list --state undelivered',
  ],
  [
    { found: { ...OVERVIEW.found, dead_letters: once } },
    'bad',
    '1 message could not be read or handled',
    'dead-letter list',
  ],
  [
    { journal: { ...OVERVIEW.journal, writing_stopped: true } },
    'bad',
    'The database has lost rows: nothing is written until an operator has decided that what it holds is right',
    'doctor',
  ],
])('%j leads to the list of what is counted', async (more, severity, says, look) => {
  expect(await findings(more)).toMatchObject([{ severity, says, look: `accelerando ${look}` }])
})
test('whatever can be wrong names commands that there are, with the options that are given', async () => {
  const worst = {
    arqs: { BindFailed: 1, UnbindFailed: 1 },
    handles: { missing: 1, quarantined: 1 },
    hosts: { down: 1, stale: 1, pending: 1 },
    orders: { waiting: 1, oldest_at: LATE },
    deliveries: { waiting: 1, oldest_at: LATE, undelivered: 1 },
    device_states: { failing: 1 },
    vanished: { devices: 1, arqs: 1, instances: 1, since: LATE, cards: [CARD] },
    placement: { unreachable: 1, waiting_for_compute_node: 1, placement_conflict: 1, withheld: 1, pending: 1 },
    binds: { late: 1, next_deadline_at: null },
    overdue_since: LATE,
    journal: { newest_at: null, untold_since: LATE, writing_stopped: true },
    found: Object.fromEntries(Object.keys(OVERVIEW.found).map((name) => [name, once])),
    program: { ...OVERVIEW.program, kafka: 'it is away' },
  }
  const named = (await findings(worst)).flatMap(({ look, mend }) => [look, mend ?? ''])
  const lines = [...new Set(named)].filter((line) => line.startsWith('accelerando '))
  expect(lines.length).toBeGreaterThan(15)
  for (const line of lines) {
    const [words, ...flags] = line.split(' --')
    let command = withCommands()
    for (const word of words!
      .split(' ')
      .slice(1)
      .filter((each) => /^[a-z]/.test(each)))
      if (command.commands.length > 0)
        command = command.commands.find((each) => each.name() === word) ?? expect.fail(`no command ${line}`)
    const known = [command, command.usualCommand].flatMap((each) => each?.options.map(({ long }) => long) ?? [])
    for (const flag of flags) expect(known, line).toContain(`--${flag.split(' ')[0]}`)
  }
})
test('a control of release 0.3.0 tells less, and what it tells is shown', async () => {
  const {
    device_states: _states,
    vanished: _vanished,
    failing: _failing,
    ...older
  } = { ...OVERVIEW, failing_devices: 2 }
  const { out } = await run('status', { 'GET /overview': older })
  expect(out).toContain('2 devices are failing and not offered')
  expect(out).toMatch(/^devices +6 +6 enabled$/m)
})

describe('--follow', () => {
  /** The reader of the output closes the pipe at the last look. */
  const followed = async (looks: readonly (object | number)[], terminal: boolean, ...more: readonly string[]) => {
    let next = 0
    const server = createServer((_, response) => {
      const seen = looks[next++]!
      if (next === looks.length) process.stdout.emit('error', new Error('EPIPE'))
      if (typeof seen === 'number') return response.writeHead(seen).end('{"errors": [{"detail": "it starts"}]}')
      return response.end(JSON.stringify(seen))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
    try {
      return await commandHere(['status', '--follow', '--api', api, ...more], {}, { terminal })
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }
  const seen = (at: number) => ({ ...OVERVIEW, counted_at: `2026-01-01T00:00:0${at}.000Z` })
  test('writes into a pipe a document in one line, and only what has changed', async () => {
    const { code, out } = await followed(
      [seen(1), seen(2), { ...seen(3), hosts: { up: 6 } }, { ...seen(4), hosts: { up: 6 } }],
      false,
    )
    expect([code, out.split('\n').map((line) => line.slice(0, 40))]).toEqual([
      0,
      ['{"counted_at":"2026-01-01T00:00:01.000Z"', '{"counted_at":"2026-01-01T00:00:03.000Z"', ''],
    ])
  })
  test('takes the whole screen of a terminal, unless a document is asked for', async () => {
    const { out } = await followed([seen(1)], true)
    expect(out.startsWith('\u001B[H\u001B[2Jaccelerando 1.2 at http')).toBe(true)
    expect((await followed([seen(1)], false, '-f', 'table')).out).toMatch(/^accelerando 1\.2 at http/)
    for (const more of [['--json'], ['-f', 'json'], ['-f', 'jsonl']])
      expect((await followed([seen(1)], true, ...more)).out).toBe(`${JSON.stringify(seen(1))}\n`)
  })
  test('says once that the service is away, and shows it again when it is back', async () => {
    const { code, out, err } = await followed([503, 503, seen(1)], false)
    expect([code, err, out.split('\n').length]).toEqual([0, 'GET /overview: 503 it starts; it is tried again\n', 2])
  })
  test('ends with a refusal', async () => {
    expect((await followed([403, 403], false)).code).toBe(4)
  })
  test.each(['--format csv', '--format yaml', '--column says', '--limit 3', '--sort-column says'])(
    'refuses %s, and does not leave it out',
    async (option) => {
      expect(await run(`status --follow ${option}`)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringMatching(/^--follow: /),
        asked: [],
      })
    },
  )
})
