/**
 * What the home page calls wrong: every state that can be wrong, one planted at a time. Only where none is, it says
 * that all is well.
 */
import { describe, expect, test } from 'vitest'
import { withCommands } from '../../src/cli/commandLine.ts'
import { CommandRow } from '../../src/cli/commandRow.ts'
import type { Overview } from '../../src/ui/shapes.ts'
import { WATCHED, calm, findingsOf } from '../../src/ui/view/findings.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const ago = (ms: number) => new Date(NOW - ms).toISOString()
const NEVER = { count: 0, last_at: null }
const WELL: Overview = {
  counted_at: ago(0),
  arqs: { Bound: 3, Initial: 1 },
  handles: { free: 4, held: 3 },
  hosts: { up: 2 },
  devices: { enabled: 2 },
  device_states: { enabled: 2 },
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  orders: { waiting: 1, oldest_at: ago(2000) },
  deliveries: { waiting: 0, oldest_at: null, undelivered: 0 },
  failing_devices: 0,
  placement: { in_sync: 2 },
  binds: { late: 0, next_deadline_at: null },
  overdue_since: ago(500),
  journal: { newest_at: ago(3000), untold_since: ago(100), writing_stopped: false },
  found: {
    views_differing: NEVER,
    orphan_handles: NEVER,
    slot_differences: NEVER,
    reports_refused: NEVER,
    dead_letters: NEVER,
  },
  views_checked: 12,
  program: {
    version: '1.2.3',
    store: 'postgres',
    kafka: 'in use',
    keystone: 'in use',
    nova: 'in use',
    placement: 'in use',
    images: 'absent',
  },
}
const VANISHED: Overview['vanished'] = {
  devices: 1,
  arqs: 9,
  instances: 8,
  since: ago(120_000),
  cards: [{ device_uuid: 'd1', hostname: 'sim-9', pci_address: '0000:02:00.0' }],
}
const once = { count: 1, last_at: ago(60_000) }

/** The state that is planted, and the sentence that has to be said of it. */
const PLANTED: readonly (readonly [planted: Partial<Overview>, said: RegExp])[] = [
  [{ hosts: {} }, /No host has reported yet/],
  [{ hosts: { up: 1, down: 1 } }, /1\u00A0host is down/],
  [{ hosts: { up: 1, stale: 1 } }, /1\u00A0host is silent for a while/],
  [{ hosts: { up: 1, pending: 1 } }, /waits for an operator to accept the key/],
  [{ arqs: { BindFailed: 2 } }, /2\u00A0requests could not be bound/],
  [{ arqs: { UnbindFailed: 1 } }, /could not be released on the host/],
  [{ handles: { missing: 1 } }, /not reported any more/],
  [{ handles: { quarantined: 1 } }, /withheld until an operator looks at it/],
  [{ vanished: VANISHED }, /1\u00A0card has vanished under 8\u00A0servers: sim-9 0000:02:00\.0/],
  [{ device_states: { failing: 2 } }, /2\u00A0devices are failing and not offered/],
  [
    { device_states: { failing: 1 }, failing: VANISHED },
    /1\u00A0device is failing under 8\u00A0servers and not offered: sim-9 0000:02:00\.0/,
  ],
  [{ placement: { unreachable: 1 } }, /could not be compared with Placement/],
  [{ placement: { waiting_for_compute_node: 1 } }, /Placement has no compute node for 1\u00A0host/],
  [{ placement: { placement_conflict: 1 } }, /differs from Placement, and the difference cannot be repaired/],
  [{ placement: { withheld: 1 } }, /in use that nobody has allocated in Placement/],
  [{ placement: { pending: 1 } }, /changes that Placement has not taken yet/],
  [{ binds: { late: 1, next_deadline_at: ago(-9000) } }, /1\u00A0bind has used more than half of the time/],
  [{ overdue_since: ago(31_000) }, /Deadlines have passed, and their work has not been done/],
  [{ journal: { ...WELL.journal, untold_since: ago(6000) } }, /the relay is behind/],
  [{ journal: { ...WELL.journal, writing_stopped: true } }, /The database has lost rows/],
  [{ found: { ...WELL.found, views_differing: once } }, /list rows that differ from the journal/],
  [{ found: { ...WELL.found, orphan_handles: once } }, /held for a request that does not hold it/],
  [{ found: { ...WELL.found, slot_differences: once } }, /prepared differently from what is recorded/],
  [{ found: { ...WELL.found, reports_refused: once } }, /refused because of who sent it/],
  [{ found: { ...WELL.found, dead_letters: once } }, /1\u00A0message could not be read or handled/],
  [{ orders: { waiting: 3, oldest_at: ago(31_000) } }, /3\u00A0orders to hosts without an answer/],
  [
    { deliveries: { waiting: 1, oldest_at: ago(0), undelivered: 0 } },
    /Nova has not taken the events about 1\u00A0instance/,
  ],
  [
    { deliveries: { waiting: 0, oldest_at: null, undelivered: 2 } },
    /Nova has refused or missed the events about 2\u00A0instances/,
  ],
  [{ program: { ...WELL.program, kafka: 'kafka: no answer from it yet' } }, /^Kafka: no answer from it yet$/],
  [{ program: { ...WELL.program, images: 'images: no answer' } }, /^Images: no answer$/],
  [{ program: { ...WELL.program, placement: 'no answer within 4000 ms' } }, /^Placement: no answer/],
]

test('all is well only where every state is in order, and the last event is named', () => {
  expect(findingsOf(WELL, NOW)).toEqual([])
  expect(calm(WELL, NOW)).toBe(
    'All is well: 2\u00A0hosts, each in order, and nothing is stuck. The last event was recorded 3 s ago.',
  )
  expect(calm({ ...WELL, journal: { ...WELL.journal, newest_at: null } }, NOW)).toContain('Nothing was recorded yet.')
})

/** `host list`, of every command that there is. */
const namesUnder = (row: CommandRow): readonly string[] =>
  row.commands.flatMap((each) => [each.name(), ...namesUnder(each).map((name) => `${each.name()} ${name}`)])

describe('one state that is wrong', () => {
  test.each(PLANTED)('is said, with the command that mends it: %j', (planted, said) => {
    const findings = findingsOf({ ...WELL, ...planted }, NOW)
    expect(findings.map(({ text }) => text)).toEqual([expect.stringMatching(said)])
  })
  test('each row of the table is among them', () => {
    const all = WATCHED.map(({ seen }) => PLANTED.some(([planted]) => seen({ ...WELL, ...planted }, NOW).number > 0))
    expect(all).not.toContain(false)
  })
  test('what was found more than a day ago is not shown any more', () => {
    const long = { count: 1, last_at: ago(25 * 3_600_000) }
    expect(findingsOf({ ...WELL, found: { ...WELL.found, slot_differences: long } }, NOW)).toEqual([])
  })
  test('a dead letter is shown until somebody has looked after it', () => {
    const long = { count: 1, last_at: ago(25 * 3_600_000) }
    expect(findingsOf({ ...WELL, found: { ...WELL.found, dead_letters: long } }, NOW)).toMatchObject([
      { href: 'letters' },
    ])
  })
  const SEVERAL = { ...WELL, vanished: VANISHED }
  test('each row of the table to the letter, of one and of several', async () => {
    const rows = WATCHED.map(({ tone, text, href, mend }) => ({
      ...{ tone, one: text(1, SEVERAL), several: text(2, SEVERAL), href },
      mend: typeof mend === 'function' ? mend(SEVERAL) : mend,
    }))
    await expect(JSON.stringify(rows, null, 1)).toMatchFileSnapshot('golden/findings.txt')
  })
  const MINUTE = 60_000
  const DAY = 1440 * MINUTE
  const found = (ms: number) => ({ found: { ...WELL.found, slot_differences: { count: 3, last_at: ago(ms) } } })
  test.each<[string, (ms: number) => Partial<Overview>, number, number, string]>([
    [
      'an order without an answer',
      (ms) => ({ orders: { waiting: 3, oldest_at: ago(ms) } }),
      30_000,
      30_001,
      '3 orders',
    ],
    ['a moment that is overdue', (ms) => ({ overdue_since: ago(ms) }), 30_000, 30_001, 'Deadlines have passed'],
    [
      'an event that no host was told',
      (ms) => ({ journal: { ...WELL.journal, untold_since: ago(ms) } }),
      5000,
      5001,
      'What is recorded does not reach',
    ],
    ['what was found once', found, DAY, DAY - 1, 'Hosts had 3 slots'],
  ])('%s is shown from its limit on, with the moment since when', (_, planted, still, over, said) => {
    expect(findingsOf({ ...WELL, ...planted(still) }, NOW)).toEqual([])
    const [finding, ...others] = findingsOf({ ...WELL, ...planted(over) }, NOW)
    expect([finding?.since ?? finding?.last, finding?.text.replaceAll('\u00A0', ' '), others]).toEqual([
      ago(over),
      expect.stringContaining(said),
      [],
    ])
  })
  const vanished = (change: Partial<Overview['vanished']>) => {
    const [finding, ...others] = findingsOf({ ...WELL, vanished: { ...VANISHED, ...change } }, NOW)
    expect(others).toEqual([])
    return { ...finding, text: finding?.text.replaceAll('\u00A0', ' ') }
  }
  test('a card that vanished is named with its host, its servers, since when, and the command that shows them', () => {
    expect(vanished({})).toEqual({
      tone: 'bad',
      text: '1 card has vanished under 8 servers: sim-9 0000:02:00.0',
      href: 'devices?state=missing',
      since: ago(120_000),
      last: null,
      mend: 'accelerando device show d1',
    })
    expect(vanished({ devices: 5, instances: 0, arqs: 0 })).toMatchObject({
      text: '5 cards have vanished: sim-9 0000:02:00.0 and 4 others',
      mend: 'accelerando device list --state missing',
    })
  })
  test('what counts has no moment, and a neighbour is named with what it said, once', () => {
    const program = { ...WELL.program, kafka: 'kafka: gone', nova: 'a folder', images: 'the image service' }
    expect(findingsOf({ ...WELL, device_states: { failing: 1 }, program }, NOW)).toEqual([
      {
        tone: 'bad',
        text: '1\u00A0device is failing and not offered',
        href: 'devices?state=failing',
        since: null,
        last: null,
        mend: 'accelerando device list --state failing',
      },
      { tone: 'bad', text: 'Kafka: gone', href: 'system', since: null, last: null, mend: 'accelerando doctor' },
    ])
  })
  test('every command of ours that mends exists', () => {
    const known = namesUnder(withCommands(new CommandRow()))
    const ours = WATCHED.map(({ mend }) => (typeof mend === 'function' ? mend(WELL) : mend)).filter((mend) =>
      mend.startsWith('accelerando '),
    )
    expect(ours.length).toBeGreaterThan(10)
    expect(ours.filter((mend) => !known.some((name) => `${mend} `.startsWith(`accelerando ${name} `)))).toEqual([])
  })
})
