/** The status page as text: what is wrong, what waits, and all counts. */
import { expect, test } from 'vitest'
import { withCommands } from '../../src/cli/commandLine.ts'
import { CommandRow } from '../../src/cli/commandRow.ts'
import type { Overview } from '../../src/cli/operators/apiShapes.ts'
import { attentionOf, statusLines } from '../../src/cli/operators/statusPage.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const ago = (ms: number) => new Date(NOW - ms).toISOString()
const NEVER = { count: 0, last_at: null }
const WELL: Overview = {
  counted_at: ago(0),
  arqs: { Bound: 3, Initial: 1 },
  handles: { free: 4, held: 3 },
  hosts: { up: 2 },
  devices: { enabled: 2, maintaining: 7 },
  device_states: { enabled: 2, disabled: 6, host_silent: 1 },
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  orders: { waiting: 1, oldest_at: ago(2000) },
  deliveries: { waiting: 0, oldest_at: null, undelivered: 0 },
  failing_devices: 0,
  placement: { in_sync: 2 },
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: ago(3000), untold_since: null, writing_stopped: false },
  found: {
    views_differing: NEVER,
    orphan_handles: NEVER,
    slot_differences: NEVER,
    reports_refused: NEVER,
    dead_letters: NEVER,
  },
  views_checked: 12,
  program: { version: '1.2.3', store: 'postgres', kafka: 'in use', images: 'absent' },
}
const CARD = { device_uuid: 'd1', hostname: 'h9', pci_address: '0000:02:00.0' }
const BUSY: Partial<Overview> = { binds: { late: 2, next_deadline_at: null } }
const shown = (more: Partial<Overview>): string => statusLines('http://h/v2', { ...WELL, ...more }, NOW).join('\n')

test('a control of release 0.3.0 tells less, and what it tells is shown', () => {
  const { device_states: _states, vanished: _vanished, failing: _failing, ...older } = { ...WELL, failing_devices: 2 }
  const page = statusLines('http://h/v2', older as unknown as Overview, NOW).join('\n')
  expect(page).toContain('2 devices are failing and not offered')
  expect(page).toMatch(/^devices +9 +2 enabled, 7 maintaining$/m)
})

test('where all is well, it says so above the counts and what the program uses', () => {
  expect(shown({})).toMatchInlineSnapshot(`
    "accelerando 1.2.3 at http://h/v2, 2026-03-01T12:00:00.000Z

    all is well: every host answers, and nothing is stuck

    requests               4  3 Bound, 1 Initial
    hosts                  2  2 up
    devices                9  2 enabled, 6 disabled, 1 host silent
    handles                7  4 free, 3 held
    orders without answer  1  the oldest since 2026-03-01T11:59:58.000Z
    events for Nova        0

    store: postgres · kafka: in use · images: absent"
  `)
})
test('what is wrong comes with the command that shows it and the one that mends it, before what only waits', () => {
  const journal = { ...WELL.journal, writing_stopped: true }
  const hosts = { up: 1, down: 1, pending: 2 }
  expect(
    shown({ ...BUSY, journal, hosts, device_states: { enabled: 2, failing: 3 }, placement: { placement_conflict: 1 } }),
  ).toMatchInlineSnapshot(`
      "accelerando 1.2.3 at http://h/v2, 2026-03-01T12:00:00.000Z

      4 things need attention
      ! The database has lost rows: nothing is written until an operator has decided that what it holds is right  accelerando doctor  ->  accelerando migrate --adopt
      ! 1 host is down                                                                                            accelerando host list --liveness down  ->  systemctl restart accelerando-host
      ! 3 devices are failing and not offered                                                                     accelerando device list --state failing
      ! 1 host differs from Placement, and the difference cannot be repaired                                      accelerando drift
      ~ 2 binds have used more than half of the time                                                              accelerando arq list --state BindStarted  ->  accelerando arq timeline UUID
      ~ 2 hosts wait for an operator to accept the key                                                            accelerando host list --liveness pending  ->  accelerando host approve NAME --reason TEXT

      requests               4  3 Bound, 1 Initial
      hosts                  4  1 up, 1 down, 2 pending
      devices                5  2 enabled, 3 failing
      handles                7  4 free, 3 held
      orders without answer  1  the oldest since 2026-03-01T11:59:58.000Z
      events for Nova        0

      store: postgres · kafka: in use · images: absent"
    `)
})
test('a control that does not tell its version is shown without it', () => {
  const { version: _, ...program } = WELL.program
  expect(shown({ program }).split('\n')[0]).toBe('accelerando  at http://h/v2, 2026-03-01T12:00:00.000Z')
})
const verdict = (more: Partial<Overview>): string => shown(more).split('\n')[2]!
test.each([
  [{}, 'all is well: every host answers, and nothing is stuck'],
  [BUSY, 'nothing is wrong; some things wait'],
  [{ device_states: { failing: 1 } }, '1 thing needs attention'],
  [{ ...BUSY, device_states: { failing: 1 } }, '1 thing needs attention'],
  [{ device_states: { failing: 1 }, arqs: { BindFailed: 1 } }, '2 things need attention'],
])('%j: %s', (more, said) => expect(verdict(more)).toBe(said))

const found = (more: Partial<Overview>) =>
  attentionOf({ ...WELL, ...more }, NOW).map(({ severity, says, look }) => [severity, says, look])
test.each<readonly [Partial<Overview>, readonly string[]]>([
  [
    { device_states: { failing: 1 } },
    ['bad', '1 device is failing and not offered', 'accelerando device list --state failing'],
  ],
  [
    { device_states: { failing: 1 }, failing: { devices: 1, arqs: 3, instances: 2, since: ago(5000), cards: [CARD] } },
    [
      'bad',
      `1 device is failing under 2 servers and not offered: h9 0000:02:00.0, since ${ago(5000)}`,
      'accelerando device list --state failing',
    ],
  ],
  [
    { vanished: { devices: 2, arqs: 3, instances: 1, since: ago(5000), cards: [CARD] } },
    [
      'bad',
      `2 cards have vanished under 1 server: h9 0000:02:00.0 and 1 other, since ${ago(5000)}`,
      'accelerando device list --state missing',
    ],
  ],
  [{ arqs: { BindFailed: 2 } }, ['bad', '2 requests could not be bound', 'accelerando arq list --state BindFailed']],
  [
    { handles: { missing: 1 } },
    ['bad', '1 attach handle is not reported any more', 'accelerando handle list --state missing'],
  ],
  [{ hosts: { up: 1, down: 1 } }, ['bad', '1 host is down', 'accelerando host list --liveness down']],
  [BUSY, ['waits', '2 binds have used more than half of the time', 'accelerando arq list --state BindStarted']],
  [
    { placement: { pending: 1 } },
    ['waits', '1 host has changes that Placement has not taken yet', 'accelerando drift'],
  ],
  [
    { overdue_since: ago(40_000) },
    ['bad', `Deadlines have passed, and their work has not been done, since ${ago(40_000)}`, 'accelerando doctor'],
  ],
  [
    { deliveries: { waiting: 0, oldest_at: null, undelivered: 1 } },
    [
      'bad',
      'Nova has refused or missed the events about 1 instance, and is told no more',
      'accelerando delivery list --state undelivered',
    ],
  ],
  [
    { found: { ...WELL.found, dead_letters: { count: 1, last_at: null } } },
    ['bad', '1 message could not be read or handled', 'accelerando dead-letter list'],
  ],
])('%j leads to the list of what is counted', (more, said) => expect(found(more)).toEqual([said]))

/** Whatever can be counted is counted. */
const once = { count: 1, last_at: ago(1000) }
const WORST: Overview = {
  ...WELL,
  arqs: { BindFailed: 1, UnbindFailed: 1 },
  handles: { missing: 1, quarantined: 1 },
  hosts: { down: 1, stale: 1, pending: 1 },
  orders: { waiting: 1, oldest_at: ago(60_000) },
  deliveries: { waiting: 1, oldest_at: ago(1000), undelivered: 1 },
  device_states: { failing: 1 },
  vanished: { devices: 1, arqs: 1, instances: 1, since: ago(5000), cards: [CARD] },
  placement: { unreachable: 1, waiting_for_compute_node: 1, placement_conflict: 1, withheld: 1, pending: 1 },
  binds: { late: 1, next_deadline_at: null },
  overdue_since: ago(60_000),
  journal: { newest_at: null, untold_since: ago(60_000), writing_stopped: true },
  found: {
    views_differing: once,
    orphan_handles: once,
    slot_differences: once,
    reports_refused: once,
    dead_letters: once,
  },
  program: { ...WELL.program, kafka: 'it is away' },
}
test('each list that is named is a command with the options that are given', () => {
  const program = withCommands(new CommandRow())
  const looks = [...new Set(attentionOf(WORST, NOW).map(({ look }) => look))].toSorted()
  expect(looks).toMatchInlineSnapshot(`
    [
      "accelerando arq list --state BindFailed",
      "accelerando arq list --state BindStarted",
      "accelerando arq list --state UnbindFailed",
      "accelerando dead-letter list",
      "accelerando delivery list",
      "accelerando delivery list --state undelivered",
      "accelerando device list --state failing",
      "accelerando device list --state missing",
      "accelerando doctor",
      "accelerando drift",
      "accelerando handle list --state missing",
      "accelerando handle list --state quarantined",
      "accelerando host list",
      "accelerando host list --liveness down",
      "accelerando host list --liveness pending",
      "accelerando host list --liveness stale",
    ]
  `)
  for (const look of looks) {
    const [words, ...flags] = look.split(' --')
    let command = program
    for (const word of words!.split(' ').slice(1))
      command = command.commands.find((each) => each.name() === word) ?? expect.fail(`no command ${look}`)
    const known = [command, command.usualCommand].flatMap((each) => each?.options.map(({ long }) => long) ?? [])
    for (const flag of flags) expect(known, look).toContain(`--${flag.split(' ')[0]}`)
  }
})
