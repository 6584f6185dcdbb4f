/**
 * What hosts that only report cost a control: 2,000 hosts with eight devices each, at the intervals of the defaults: an
 * inventory every 60 s, a heartbeat every 5 s, a measurement of all devices every 30 s. With fewer hosts all intervals
 * are as much shorter, so that as many messages come.
 *
 *   node bench/fleet.ts [HOSTS] [SECONDS] [FOLDER] [--start-seconds S]
 *
 * SECONDS: how long it is measured; FOLDER: for a CPU profile of the control; S: over how long the hosts start for the
 * first time, four each second if it is not given.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freshPrefix, makeTopics, ownBroker } from '../test/support/kafka.ts'
import { freePort } from '../test/support/port.ts'
import { type Page, readPage } from './cluster/page.ts'
import { BROKER_RIG } from './cluster/stand.ts'
import { type Sent, openFleet } from './fleetHosts.ts'
import { findPostgres, openServer } from './postgres.ts'
import { cpuMs, load, machine, memoryOf, quiet } from './proc.ts'
import { READY, begin, profileFlags } from './program.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'start-seconds': { type: 'string' } },
})
const [hosts = '2000', seconds = '120', profile = null] = positionals
const count = Number(hosts)
const MEANT = 2000
const DEFAULTS = { report: 60_000, heartbeat: 5000, measure: 30_000 }
const PARTITIONS = 12
/** How long the last of them may take until it is recorded, after it has started. */
const KNOWN_MS = 600_000
const SAY_EVERY_MS = 15_000
const startMs = values['start-seconds'] === undefined ? count * 250 : Number(values['start-seconds']) * 1000
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const scaled = (ms: number): number => (ms * count) / MEANT
const everyMs = {
  report: scaled(DEFAULTS.report),
  heartbeat: scaled(DEFAULTS.heartbeat),
  measure: scaled(DEFAULTS.measure),
}
const size = { hosts: count, devices: 8, handles: 16, everyMs }

const bin = findPostgres()
if (bin === null) throw new Error('PostgreSQL is missing (Debian: postgresql)')
const server = await openServer(bin)
const database = await server.fresh()
const broker = await ownBroker(BROKER_RIG)
const options = { ...broker.options, prefix: freshPrefix() }
await makeTopics(options, PARTITIONS)
const folder = mkdtempSync(join(tmpdir(), 'accelerando-bench-fleet-'))
const admin = `127.0.0.1:${await freePort()}`
const open = ['--listen', '127.0.0.1:0', '--admin-listen', admin, '--auth', 'noauth', '--log-level', 'warn']
const control = await begin({
  args: ['control', ...open, '--kafka', options.brokers.join(','), '--database', database.url],
  env: { ACCELERANDO_KAFKA_PREFIX: options.prefix },
  log: join(folder, 'control.log'),
  ready: READY,
  flags: profileFlags(profile),
})
const page = (): Promise<Page> => readPage(`http://${admin}/metrics`)
/** Messages of hosts so far; without an outcome, all. */
const inbox = async (outcome?: string): Promise<number> =>
  (await page()).sum('accelerando_inbox_messages_total', outcome && `outcome="${outcome}"`)

say(`${machine()}; load ${load()}`)
say(
  `${hosts} hosts with ${size.devices} devices; every ${Object.entries(everyMs)
    .map(([what, ms]) => `${ms / 1000} s ${what}`)
    .join(', ')}`,
)
const began = performance.now()
const fleet = await openFleet(options, size, startMs)
const sinceSeconds = (): string => ((performance.now() - began) / 1000).toFixed(0)
const progress = async (): Promise<string> =>
  `after ${sinceSeconds()} s: ${fleet.started()} hosts started, ${await inbox('taken')} messages taken, ${await inbox('unchanged')} reports without news, ${await inbox('retried')} tried again, ${fleet.deadLetters.all()} dead letters; load ${load()}`
const sayDead = (): void => {
  say(`dead letters: ${fleet.deadLetters.all()}`)
  for (const line of fleet.deadLetters.lines()) say(line)
}
let saidAt = performance.now()
for (const end = began + startMs + KNOWN_MS; fleet.started() < count || (await inbox('unchanged')) < count;) {
  if (performance.now() > end) {
    sayDead()
    throw new Error(`not all hosts were recorded within ${KNOWN_MS} ms after the last one began: ${await progress()}`)
  }
  if (performance.now() > saidAt + SAY_EVERY_MS) {
    saidAt = performance.now()
    say(await progress())
  }
  await sleep(500)
}
await fleet.allStarted
say(`all recorded, and seen again, after ${sinceSeconds()} s`)

type Moment = { readonly at: number; readonly control: number; readonly broker: number; readonly database: number }
const now = (): Moment => ({
  at: performance.now(),
  control: cpuMs(control.pid),
  broker: cpuMs(broker.pid()),
  database: server.cpuMs(),
})
const perSecond = (from: Sent, to: Sent, wall: number): string =>
  (['inventories', 'heartbeats', 'measurements'] as const)
    .map((what) => `${((to[what] - from[what]) / wall).toFixed(1)} ${what}/s`)
    .join(', ')

const [sentFrom, takenFrom, from] = [fleet.sent(), await inbox(), now()]
await sleep(Number(seconds) * 1000)
const [sent, to] = [fleet.sent(), now()]
const wall = (to.at - from.at) / 1000
say(`sent: ${perSecond(sentFrom, sent, wall)}`)
say(
  `taken: ${(((await inbox()) - takenFrom) / wall).toFixed(1)} messages/s; refused: ${await inbox('dead')}; load ${load()}`,
)
for (const who of ['control', 'database', 'broker'] as const)
  say(`${who}: ${((to[who] - from[who]) / wall / 1000).toFixed(3)} of a core`)
say(`control: ${memoryOf(control.pid).residentMb} MB`)
sayDead()
await fleet.stop()
await quiet(control.pid)
await control.end('SIGTERM')
await broker.stop()
await database.drop()
rmSync(folder, { recursive: true, force: true })
process.exit()
