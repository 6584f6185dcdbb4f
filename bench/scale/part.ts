/** `--parts scale`: what one unit costs, so that `docs/scale.md` can tell what many of them would. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { partitionOf } from '../../src/bus/murmur2.ts'
import { orderRecord, reportRecord } from '../../src/wire/message.ts'
import { newPrivateKey, signerFrom } from '../../src/wire/signature.ts'
import { ownBroker } from '../../test/support/kafka.ts'
import { sqlOnce } from '../../test/support/postgres.ts'
import { type Scene, calm, remove, warmUp } from '../cluster/measure.ts'
import { BROKER_RIG, type ClusterStand, type Cpu, type ClusterRig, openClusterStand } from '../cluster/stand.ts'
import type { ClusterTask } from '../cluster/tasks.ts'
import { digits } from '../figures.ts'
import { openGenerator } from '../generator.ts'
import type { Options } from '../options.ts'
import type { Server } from '../postgres.ts'
import { PROFILE } from '../stand.ts'
import { type ScaleResults, type Sizes, noScaleResults } from './results.ts'
import { type Done, published, restOf, sizeOf, unitOf } from './unit.ts'

export type Say = (line: string) => void
type Run = { readonly options: Options; readonly scene: Scene; readonly results: ScaleResults; readonly say: Say }

const PARTITIONS = 12
const HOSTS = 1000
const FOREIGN = 20_000
const AS_FAST = Number.POSITIVE_INFINITY
/** Of 10,000 hosts, one each 5 s. */
const HEARTBEATS_PER_SECOND = 2000
const HEARTBEAT_SECONDS = 8
const BINDS = 1000

/** Bytes of each table with its indexes, and of the log of writes so far. */
const sizesOf = async ({ database: { url } }: ClusterStand): Promise<Sizes> => {
  const { rows } = await sqlOnce(
    url,
    `select relname as name, pg_total_relation_size(oid) as bytes from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
     union all select relname || ', indexes alone', pg_indexes_size(oid) from pg_class where oid = 'journal'::regclass
     union all select 'log of writes', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')`,
  )
  return Object.fromEntries((rows as { name: string; bytes: string }[]).map(({ name, bytes }) => [name, Number(bytes)]))
}
const grown = (from: Sizes, to: Sizes, count: number): Sizes =>
  Object.fromEntries(
    Object.entries(to)
      .map(([name, bytes]) => [name, (bytes - (from[name] ?? 0)) / count] as const)
      .filter(([, bytes]) => bytes >= 1),
  )

/** The whole journal is put on the bus again: a seeded one counts as told. */
const relayAll = async ({ scene, results, say }: Run): Promise<void> => {
  const { stand } = scene
  const { rows } = await sqlOnce(stand.database.url, 'select count(*) as rows from journal')
  const wanted = Number((rows as { rows: string }[])[0]!.rows)
  await sqlOnce(stand.database.url, `delete from checkpoints where reader = 'relay'`)
  await stand.startControl()
  const [control] = stand.controls
  const told = async (): Promise<number> => (await control!.page()).sum('accelerando_relay_rows_total')
  const none = { controls: 0, hosts: 0, broker: 0, database: 0 }
  while ((await told()) === 0);
  const before = await told()
  const unit = await unitOf(scene, none, async () => {
    while ((await told()) < wanted);
    return { what: 'journal row put on the bus by the relay', count: wanted - before, bytes: 0 }
  })
  const bytes = await bytesOfFacts(stand, wanted)
  results.units.push({ ...unit, bytes })
  say(
    `relay: ${digits(unit.perSecond)} rows/s of ${unit.count}, ${digits(unit.cpu.controls)} ms CPU of the control a row`,
  )
}
/** Of one journal row as the database has it. */
const bytesOfFacts = async ({ database: { url } }: ClusterStand, rows: number): Promise<number> => {
  const found = await sqlOnce(url, `select sum(pg_column_size(journal.*)) as bytes from journal`)
  return Number((found.rows as { bytes: string }[])[0]!.bytes) / rows
}

const foreignOrder = (host: string) => {
  const slot = randomUUID()
  const names = { driver: 'simulated_driver', deployable: 'sim-1_FPGA_0000:3b:00.0_rg0', deployableUuid: randomUUID() }
  const handle = { type: 'PCI' as const, info: { domain: '0000', bus: '3b', device: '00', function: '1' } }
  const order = { ...names, handle, host, slot, number: 1, deadline: Date.now() + 240_000, arq: randomUUID() }
  return orderRecord({ ...order, type: 'PrepareSlot' }, `${slot}/1`, Date.now(), '1234567')
}
/** A host reads all orders of its partition, and throws those of others away. */
const readForeign = async ({ scene, results, say }: Run, rest: Cpu): Promise<void> => {
  const { stand } = scene
  const reader = stand.hosts[0]!.name
  const wanted = partitionOf(reader, PARTITIONS)
  const readers = stand.hosts.filter(({ name }) => partitionOf(name, PARTITIONS) === wanted).length
  const hosts = Array.from({ length: 10_000 }, (_, at) => `compute-${at}.example.org`)
  const others = hosts.filter((name) => partitionOf(name, PARTITIONS) === wanted)
  const records = Array.from({ length: FOREIGN }, (_, at) => foreignOrder(others[at % others.length]!))
  const place = join(stand.folder, reader, 'place.json')
  const read = (): number => (JSON.parse(readFileSync(place, 'utf8')) as { offset: number }).offset
  const end = read() + FOREIGN
  const unit = await unitOf(scene, rest, async () => {
    await published(scene, records, AS_FAST, async () => read() >= end)
    return { what: 'order of another host, read and left', count: FOREIGN * readers, bytes: sizeOf(records[0]!) }
  })
  results.units.push(unit)
  say(`foreign orders: ${digits(unit.cpu.hosts * 1000)} us CPU of a host each, ${unit.bytes} bytes`)
}

const heartbeats = async ({ scene, results, say }: Run, rest: Cpu): Promise<void> => {
  const boots = Array.from({ length: scene.stand.seededHosts }, (_, at) => ({
    host: `sim-${at + 1}`,
    bootId: randomUUID(),
  }))
  const signers = boots.map(() => signerFrom(newPrivateKey()))
  const records = Array.from({ length: HEARTBEATS_PER_SECOND * HEARTBEAT_SECONDS }, (_, at) => {
    const status = { drivers: { pci_driver: 'ok' as const }, ordersInHand: 0, resultsWaiting: 0 }
    const report = { ...boots[at % boots.length]!, type: 'Heartbeat' as const, observedAt: Date.now(), status }
    return signers[at % boots.length]!.signed(reportRecord(report, randomUUID(), Date.now()))
  })
  const taken = async (): Promise<number> => {
    const pages = await Promise.all(scene.stand.controls.map(({ page }) => page()))
    return pages.reduce((sum, page) => sum + page.sum('accelerando_inbox_messages_total', 'outcome="taken"'), 0)
  }
  const before = await taken()
  const unit = await unitOf(scene, rest, async (): Promise<Done> => {
    const done = async (): Promise<boolean> => (await taken()) - before >= records.length
    await published(scene, records, HEARTBEATS_PER_SECOND, done)
    return { what: 'heartbeat taken by the controls', count: records.length, bytes: sizeOf(records[0]!) }
  })
  results.units.push(unit)
  say(`heartbeats: ${digits(unit.perSecond)}/s, ${digits(unit.cpu.controls * 1000)} us CPU of the controls each`)
}

/** Without a limit, as older clients ask. */
const listAll = async ({ scene, results, say }: Run, rest: Cpu): Promise<void> => {
  const [{ port } = { port: 0 }] = scene.stand.controls
  const { arqs } = scene.stand
  const unit = await unitOf(scene, rest, async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/accelerator_requests`)
    const { byteLength } = await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`the list of all ARQs answers ${answer.status}`)
    return { what: 'ARQ in a list of all in one answer', count: arqs, bytes: byteLength / arqs }
  })
  results.units.push(unit)
  say(`list of ${arqs}: ${digits(unit.cpu.controls * 1000)} us CPU and ${digits(unit.bytes)} bytes each`)
}

/** Bound, and then unbound and deleted. */
const lives = async ({ scene, results, say }: Run): Promise<void> => {
  const { stand, rig } = scene
  const targets = await stand.targets(true)
  await warmUp(scene, targets)
  const ports = stand.controls.map(({ port }) => port)
  const few = targets.map((target) => ({ ...target, free: Math.floor(BINDS / targets.length) }))
  const before = await sizesOf(stand)
  const task = { kind: 'binds', ports, lanes: 16, profile: PROFILE, targets: few, forMs: 120_000 } as const
  const { made } = await rig.callers.run(task)
  await calm(stand)
  const bound = await sizesOf(stand)
  await remove(scene, made)
  const gone = await sizesOf(stand)
  const { length: count } = made
  results.growth.push({ what: 'bind with host work', count, sizes: grown(before, bound, count) })
  results.growth.push({ what: 'bind with host work, then deleted', count, sizes: grown(before, gone, count) })
  say(`${count} binds: ${JSON.stringify(results.growth[0]!.sizes)}`)
}

const present = async ({ scene, results, say }: Run): Promise<void> => {
  const { stand } = scene
  const sizes = await sizesOf(stand)
  for (const control of stand.controls) await stand.endControl(control, 'SIGTERM')
  const rebuilt = await stand.command('rebuild-views')
  const { arqs, seededHosts: hosts, seeded } = stand
  results.present = { arqs, hosts, seeded, rebuilt, sizes: grown({}, sizes, 1) }
  say(`${arqs} ARQs: ${rebuilt}`)
}

export const measureScale = async (server: Server, options: Options, say: Say): Promise<ScaleResults> => {
  const results = noScaleResults()
  const broker = await ownBroker(BROKER_RIG)
  const callers = openGenerator<ClusterTask>(new URL('../cluster/load.ts', import.meta.url))
  const rig: ClusterRig = { server, broker, callers, nova: await callers.greeting() }
  const stand = await openClusterStand(rig, options.arqs.at(-1)!, HOSTS)
  say(`${stand.arqs} ARQs: ${stand.seeded}`)
  const run = { options, results, say, scene: { stand, rig } }
  try {
    await relayAll(run)
    await stand.startHosts()
    await lives(run)
    const rest = await restOf(run.scene)
    await readForeign(run, rest)
    await heartbeats(run, rest)
    await listAll(run, rest)
    await present(run)
  } finally {
    await stand.drop()
    callers.close()
    await broker.kill()
  }
  return results
}
