/**
 * Where a cluster is measured: a database with so many bound ARQs, a broker, controls and hosts as processes of their
 * own.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KafkaOptions } from '../../src/bus/kafka/options.ts'
import { type Broker, freshPrefix } from '../../test/support/kafka.ts'
import { freePort } from '../../test/support/port.ts'
import { type Database } from '../../test/support/postgres.ts'
import type { LoadGenerator } from '../generator.ts'
import type { Server } from '../postgres.ts'
import { cpuMs } from '../proc.ts'
import { READY, begin, command, profileFlags } from '../program.ts'
import type { Target } from '../tasks.ts'
import { type Page, readPage } from './page.ts'
import type { ClusterTask } from './tasks.ts'

/** The program that starts a broker. */
export const BROKER_RIG = join(import.meta.dirname, '../../infra/rig/kafka/kafka')
/** Of hosts whose devices need their work at a bind, and as many whose devices do not. */
const HOSTS = 2
const DEVICES = 8
const HANDLES = 64
/** Of the hosts that the seed fills; they do not run. */
const SEEDED = { devices: 8, handles: 32, projects: 10 }
const KNOWN_MS = 60_000

export type ClusterRig = {
  readonly server: Server
  readonly broker: Broker
  readonly callers: LoadGenerator<ClusterTask>
  /** Where the Nova of the callers listens. */
  readonly nova: string
}
export type Process = {
  readonly name: string
  readonly pid: number
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
}
export type Control = Process & { readonly port: number; readonly page: () => Promise<Page> }
export type ClusterStand = {
  readonly arqs: number
  readonly seeded: string
  /** Hosts the seed has recorded: `sim-1` and so on. */
  readonly seededHosts: number
  /** A command on the stopped store; what it said. */
  readonly command: (name: string) => Promise<string>
  readonly database: Database
  /** Holds what each host keeps. */
  readonly folder: string
  readonly kafka: KafkaOptions
  /** Those that run, in the order of their starts. */
  readonly controls: readonly Control[]
  readonly hosts: readonly Process[]
  readonly startControl: (env?: Readonly<Record<string, string>>) => Promise<Control>
  readonly endControl: (control: Control, signal: 'SIGTERM' | 'SIGKILL') => Promise<void>
  readonly startHosts: () => Promise<void>
  /** Free handles, once every host is known. */
  readonly targets: (hostWork: boolean) => Promise<readonly Target[]>
  readonly drop: () => Promise<void>
}

type Shown = { readonly name: string; readonly rp_uuid: string }
const hostName = (hostWork: boolean, at: number): string => `${hostWork ? 'works' : 'rests'}${at + 1}`

const knownBy = async ({ port }: Control): Promise<readonly Shown[]> => {
  const response = await fetch(`http://127.0.0.1:${port}/v2/deployables`)
  return ((await response.json()) as { readonly deployables: readonly Shown[] }).deployables
}
/** Asked for until all are there: hosts report by themselves. */
const targetsOf = async (control: Control, hostWork: boolean): Promise<readonly Target[]> => {
  const names = Array.from({ length: HOSTS }, (_, at) => hostName(hostWork, at))
  for (const end = performance.now() + KNOWN_MS; performance.now() < end;) {
    const known = await knownBy(control)
    const found = names.flatMap((hostname) =>
      known
        .filter(({ name }) => name.startsWith(`${hostname}_`))
        .map(({ rp_uuid: rp }) => ({ hostname, rp, free: HANDLES })),
    )
    if (found.length === HOSTS * DEVICES) return found
  }
  throw new Error(`not all of ${names.join(', ')} have reported within ${KNOWN_MS} ms`)
}

/** What every program of a stand is started with in addition. `profile`: a folder for CPU profiles. */
export type Extra = { readonly env?: Readonly<Record<string, string>>; readonly profile?: string | null }

export const openClusterStand = async (
  { server, broker, nova }: ClusterRig,
  arqs: number,
  hostsMin = 1,
  extra: Extra = {},
): Promise<ClusterStand> => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-bench-cluster-'))
  const data = join(folder, 'seed')
  mkdirSync(data)
  const database = await server.fresh()
  const kafka = { ...broker.options, prefix: freshPrefix() }
  const size = { hosts: Math.max(hostsMin, Math.ceil(arqs / (SEEDED.devices * SEEDED.handles))), ...SEEDED, arqs }
  const amounts = Object.entries(size).flatMap(([name, value]) => [`--${name}`, String(value)])
  const place = { data, database: database.url }
  const seeded = await command('seed', place, [...amounts, '--log-level', 'warn'])
  const env = { ACCELERANDO_KAFKA_PREFIX: kafka.prefix, ...extra.env }
  const flags = profileFlags(extra.profile ?? null)
  const link = ['--kafka', kafka.brokers.join(',')]
  let [controls, hosts]: [readonly Control[], readonly Process[]] = [[], []]
  let begun = 0

  const startControl: ClusterStand['startControl'] = async (more = {}) => {
    const name = `control ${++begun}`
    const admin = `127.0.0.1:${await freePort()}`
    const open = ['--listen', '127.0.0.1:0', '--admin-listen', admin, '--auth', 'noauth', '--nova-url', nova]
    const args = ['control', ...open, ...link, '--database', database.url, '--log-level', 'warn']
    const log = join(folder, 'program.log')
    const { pid, found, end } = await begin({ args, env: { ...env, ...more }, log, ready: READY, flags })
    const control = { name, pid, end, port: Number(found[1]), page: () => readPage(`http://${admin}/metrics`) }
    controls = [...controls, control]
    return control
  }
  const startHost = async (hostWork: boolean, at: number): Promise<Process> => {
    const name = hostName(hostWork, at)
    const size = ['--demo-devices', DEVICES, '--demo-handles', HANDLES].map(String)
    const args = ['host', '--name', name, '--data', join(folder, name), ...link, ...size, '--log-level', 'warn']
    const work = { ...env, ACCELERANDO_DEMO_HOST_WORK: String(hostWork) }
    const ready = new RegExp(`^ready ${name}$`, 'm')
    return { name, ...(await begin({ args, env: work, log: join(folder, 'program.log'), ready, flags })) }
  }
  return {
    arqs,
    seeded,
    seededHosts: size.hosts,
    command: (name) => command(name, place, []),
    database,
    folder,
    kafka,
    startControl,
    get controls() {
      return controls
    },
    get hosts() {
      return hosts
    },
    endControl: async (control, signal) => {
      controls = controls.filter((one) => one !== control)
      await control.end(signal)
    },
    startHosts: async () => {
      const each = [true, false].flatMap((work) => Array.from({ length: HOSTS }, (_, at) => startHost(work, at)))
      hosts = await Promise.all(each)
    },
    targets: (hostWork) => targetsOf(controls[0]!, hostWork),
    drop: async () => {
      await Promise.all([...controls, ...hosts].map(({ end }) => end('SIGTERM')))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** CPU time so far, by who used it. */
export type Cpu = {
  readonly controls: number
  readonly hosts: number
  readonly broker: number
  readonly database: number
}
export const cpuOf = ({ controls, hosts }: ClusterStand, { server, broker }: ClusterRig): Cpu => {
  const sum = (all: readonly Process[]): number => all.reduce((total, { pid }) => total + cpuMs(pid), 0)
  return { controls: sum(controls), hosts: sum(hosts), broker: cpuMs(broker.pid()), database: server.cpuMs() }
}
export const cpuBetween = (from: Cpu, to: Cpu): Cpu => ({
  controls: to.controls - from.controls,
  hosts: to.hosts - from.hosts,
  broker: to.broker - from.broker,
  database: to.database - from.database,
})
