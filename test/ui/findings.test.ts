/** What the home page calls wrong: every state that can be wrong, one planted at a time. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ago, pageOf } from './drawing.ts'
import { type Facts, MAY, found, overview } from './samples.ts'

const CARDS = {
  ...{ devices: 1, arqs: 9, instances: 8, since: ago(120_000) },
  cards: [{ device_uuid: 'd1', hostname: 'sim-9', pci_address: '0000:02:00.0' }],
}
type Row = readonly [planted: Facts, said: string, mend: string, href: string]
const journal = (more: Facts) => ({
  journal: { newest_at: ago(3000), untold_since: null, writing_stopped: false, ...more },
})
const deliveries = (waiting: number, undelivered: number) => ({
  deliveries: { waiting, oldest_at: waiting === 0 ? null : ago(0), undelivered },
})
const OURS = 'accelerando'
/** The state that is planted, the sentence that is said of it, what mends it, and where more of it is. */
const PLANTED: readonly Row[] = [
  [{ hosts: {} }, 'No host has reported yet', `${OURS} host run`, 'hosts'],
  [{ hosts: { up: 1, down: 1 } }, '1 host is down', 'systemctl restart', 'hosts?liveness=down'],
  [{ hosts: { up: 1, stale: 1 } }, '1 host is silent for a while', 'systemctl status', 'hosts?liveness=stale'],
  [{ hosts: { up: 1, pending: 1 } }, '1 host waits for an operator to accept the key', `${OURS} host approve`, 'hosts'],
  [{ arqs: { BindFailed: 2 } }, '2 requests could not be bound', `${OURS} arq timeline`, 'arqs?state=BindFailed'],
  [{ arqs: { UnbindFailed: 1 } }, 'could not be released on the host', `${OURS} arq force-unbind`, 'arqs?state='],
  [{ handles: { missing: 1 } }, 'not reported any more', `${OURS} device scan`, 'handles?state=missing'],
  [
    { handles: { quarantined: 1 } },
    'quarantined until an operator',
    `${OURS} handle release`,
    'handles?state=quarantined',
  ],
  [
    { vanished: CARDS },
    '1 card has vanished under 8 servers: sim-9 0000:02:00.0',
    `${OURS} device show d1`,
    'devices?state=missing',
  ],
  [
    { vanished: { ...CARDS, devices: 5, instances: 0, arqs: 0 } },
    '5 cards have vanished: sim-9 0000:02:00.0 and 4 others',
    `${OURS} device list --state missing`,
    'devices?state=missing',
  ],
  [
    { device_states: { failing: 2 } },
    '2 devices are failing and not offered',
    `${OURS} device list --state failing`,
    'devices?state=failing',
  ],
  [
    { device_states: { failing: 1 }, failing: CARDS },
    '1 device is failing under 8 servers and not offered: sim-9 0000:02:00.0',
    `${OURS} device`,
    'devices?state=failing',
  ],
  [{ placement: { unreachable: 1 } }, 'could not be compared with Placement', OURS, ''],
  [{ placement: { waiting_for_compute_node: 1 } }, 'Placement has no compute node for 1 host', '', ''],
  [{ placement: { placement_conflict: 1 } }, 'differs from Placement, and the difference cannot be repaired', '', ''],
  [{ placement: { withheld: 1 } }, 'in use that nobody has allocated in Placement', OURS, ''],
  [{ placement: { pending: 1 } }, 'changes that Placement has not taken yet', OURS, ''],
  [{ binds: { late: 1, next_deadline_at: ago(-9000) } }, '1 bind has used more than half of the time', OURS, 'arqs'],
  [
    { overdue_since: ago(31_000) },
    'Deadlines have passed, and their work has not been done',
    `${OURS} doctor`,
    'system',
  ],
  [journal({ untold_since: ago(6000) }), 'the relay is behind', `${OURS} doctor`, 'system'],
  [journal({ writing_stopped: true }), 'The database has lost rows', `${OURS} migrate --adopt`, 'system'],
  [found('views_differing', 1, 60_000), 'list row', '', 'system'],
  [found('orphan_handles', 1, 60_000), 'held for a request that does not hold it', `${OURS} audit`, 'system'],
  [found('slot_differences', 1, 60_000), 'prepared differently from what is recorded', '', 'handles?state=quarantined'],
  [found('reports_refused', 1, 60_000), 'refused because of who sent it', '', 'hosts'],
  [found('dead_letters', 1, 60_000), '1 message could not be read or handled', OURS, 'letters'],
  [{ orders: { waiting: 3, oldest_at: ago(31_000) } }, '3 orders to hosts without an answer', `${OURS} doctor`, ''],
  [deliveries(1, 0), 'Nova has not taken the events about 1 instance', `${OURS} doctor`, 'deliveries'],
  [deliveries(0, 2), 'refused or missed the events about 2 instances', `${OURS} delivery resend`, 'deliveries'],
  [{ program: { kafka: 'kafka: no answer from it yet' } }, 'Kafka: no answer from it yet', `${OURS} doctor`, 'system'],
  [{ program: { placement: 'no answer within 4000 ms' } }, 'Placement: no answer', `${OURS} doctor`, 'system'],
]
/** What the home page finds: the text and place of each finding, and the command beside it. */
const foundIn = async (planted: Facts) => {
  const { html, said } = await pageOf({ '/permissions': MAY, ...overview(planted) }, '')
  const list = /<ul class="findings"[^]*?<\/ul>/.exec(html)?.[0] ?? ''
  const texts = [...list.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(([, href, text]) => ({
    ...{ href: href!.replaceAll('&amp;', '&'), text: text!.replaceAll('\u00A0', ' ') },
  }))
  return { texts, list, said, commands: [...list.matchAll(/data-copy="([^"]*)"/g)].map(([, command]) => command!) }
}

test('of a cloud that is in order nothing is said to be wrong', async () => {
  expect((await foundIn({})).said).toContain('|All is well: 2 hosts, each in order, and nothing is stuck.')
})
describe('one state that is wrong', () => {
  test.each(PLANTED)('is said, with what mends it and where it is: %j', async (planted, said, mend, href) => {
    const { texts, commands } = await foundIn(planted)
    expect(texts).toEqual([{ href: expect.stringContaining(href), text: expect.stringContaining(said) }])
    expect(commands).toEqual([expect.stringContaining(mend)])
  })
  test('is mended by commands that exist', async () => {
    const commands = await Promise.all(PLANTED.map(async ([planted]) => (await foundIn(planted)).commands[0]!))
    const ours = commands.filter((command) => command.startsWith('accelerando '))
    expect(ours.length).toBeGreaterThan(10)
    const page = readFileSync(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8')
    const known = [...page.matchAll(/^\| `([^`]*)`/gm)].map(([, name]) => `accelerando ${name} `)
    expect(ours.filter((command) => !known.some((name) => `${command} `.startsWith(name)))).toEqual([])
  })
  const MINUTE = 60_000
  const DAY = 1440 * MINUTE
  test.each<[string, (ms: number) => Facts, number, number]>([
    ['an order without an answer', (ms) => ({ orders: { waiting: 3, oldest_at: ago(ms) } }), 30_000, 30_001],
    ['a moment that is overdue', (ms) => ({ overdue_since: ago(ms) }), 30_000, 30_001],
    ['an event that no host was told', (ms) => journal({ untold_since: ago(ms) }), 5000, 5001],
    ['what was found once', (ms) => found('slot_differences', 3, ms), DAY, DAY - 1],
  ])('%s is shown from its limit on, with the moment since when', async (_, planted, still, over) => {
    expect((await foundIn(planted(still))).texts).toEqual([])
    const { texts, list } = await foundIn(planted(over))
    expect([texts.length, list]).toEqual([1, expect.stringContaining(`<time datetime="${ago(over)}"`)])
  })
  test('a dead letter is shown until somebody has looked after it', async () => {
    expect((await foundIn(found('dead_letters', 1, 2 * DAY))).texts).toMatchObject([{ href: 'letters' }])
  })
})
