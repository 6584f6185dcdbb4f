/**
 * The service under test: three controls and four hosts, each with proxies of its own to the database and the broker.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type InHand, hostsIn } from '../kill/hosts.ts'
import { type ControlMember, type TestCluster, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { type Behind, type DatabaseCluster, databaseCluster } from './databaseCluster.ts'
import { freePort } from '../support/port.ts'
import { type Program, tempFolder } from '../support/program.ts'
import { type Openstack, openOpenstack } from './openstack.ts'
import { CONTROLS, HOSTS, SMALL_DISK } from './plan.ts'
import { type Proxy, openProxy } from './proxy.ts'

export const DEADLINE_MS = 30_000
export const SIZE = { devices: 2, handles: 8, hostWork: true }
const ORDERS_TAKE_MS = 120
const SMALL_DISK_BYTES = 64 * 1024 * 1024

export type Wires = { readonly broker: Proxy; readonly database: Proxy | null }
/** A folder whose file system can be filled and freed again. */
export type Disk = {
  readonly how: string
  readonly fill: () => void
  readonly free: () => void
  readonly close: () => void
}
export type World = {
  readonly database: DatabaseCluster
  readonly url: () => string
  readonly broker: Broker
  /** Null: nobody is authenticated, and there is no Placement. */
  readonly openstack: Openstack | null
  readonly prefix: string
  readonly folder: string
  readonly controls: readonly ControlMember[]
  readonly hosts: readonly Member[]
  readonly wires: ReadonlyMap<string, Wires>
  readonly disk: Disk
  /** Of each time that the database came back with less, when that was. */
  readonly losses: Behind[]
  /** The order ledgers on the disks of the hosts. */
  readonly inHand: () => InHand
  /** Every process that was ever started, in order. */
  readonly lives: readonly { readonly name: string; readonly program: Program }[]
  readonly close: () => Promise<void>
}

const attempt = (program: string, ...args: readonly string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 })
    return true
  } catch {
    return false
  }
}
/** Root may mount a small one; anybody may forbid a process of his own to let files grow. */
const smallDisk = (folder: string, pid: () => number | undefined): Disk => {
  mkdirSync(folder, { recursive: true })
  const mounted =
    process.getuid?.() === 0 && attempt('mount', '-t', 'tmpfs', '-o', `size=${SMALL_DISK_BYTES}`, 'tmpfs', folder)
  const ballast = join(folder, 'ballast')
  const limit = (bytes: string) => {
    const id = pid()
    if (id !== undefined && !attempt('prlimit', '--pid', String(id), `--fsize=${bytes}:unlimited`))
      throw new Error('neither a small file system nor a limit of file sizes can be had')
  }
  if (!mounted)
    return { how: 'a limit of file sizes', fill: () => limit('1'), free: () => limit('unlimited'), close: () => {} }
  const fill = () => {
    for (const chunk of [1024 * 1024, 4096])
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(chunk), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  }
  const close = () => void attempt('umount', '-l', folder)
  process.once('exit', close)
  return { how: 'a small file system', fill, free: () => rmSync(ballast, { force: true }), close }
}

type Ports = ReadonlyMap<string, { readonly own: number; readonly proxy: Proxy }>
const kafkaPorts = async (): Promise<Ports> => {
  const ports = new Map<string, { own: number; proxy: Proxy }>()
  for (const name of [...CONTROLS, ...HOSTS]) {
    const own = await freePort()
    ports.set(name, { own, proxy: await openProxy(() => own) })
  }
  return ports
}
/** One broker listener per process, which advertises the address of that process's proxy. */
const listenersOf =
  (ports: Ports) =>
  (port: number): readonly string[] => {
    const name = (process: string) => process.replace('-', '').toUpperCase()
    const each = (line: (process: string, ports: { readonly own: number; readonly proxy: Proxy }) => string) =>
      [...ports].map(([process, pair]) => line(process, pair)).join(',')
    return [
      `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},${each((p, { own }) => `${name(p)}://127.0.0.1:${own}`)}`,
      `advertised.listeners=PLAINTEXT://127.0.0.1:${port},${each((p, { proxy }) => `${name(p)}://127.0.0.1:${proxy.port}`)}`,
      `listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,${each((p) => `${name(p)}:PLAINTEXT`)}`,
    ]
  }

const SETTINGS = {
  ACCELERANDO_BIND_DEADLINE_SECONDS: String(DEADLINE_MS / 1000),
  ACCELERANDO_TEST_DOORS: '1',
  ACCELERANDO_LOG_LEVEL: 'info',
}

/** Records each start of a process. */
const noted = <M extends Member>(member: M, lives: { name: string; program: Program }[]): M => ({
  ...member,
  start: async (more?: Readonly<Record<string, string>>) => {
    const program = await member.start(more)
    lives.push({ name: member.name, program })
    return program
  },
})

type Around = {
  readonly ports: Ports
  readonly database: DatabaseCluster
  readonly settings: Readonly<Record<string, string>>
}
/** `settings`: more of them, for the controls. */
const openMembers = async (testCluster: TestCluster, { ports, database, settings: more }: Around) => {
  const lives: { name: string; program: Program }[] = []
  const wires = new Map<string, Wires>()
  const controls: ControlMember[] = []
  const over = (name: string) => ({ ...testCluster, brokers: [`127.0.0.1:${ports.get(name)!.proxy.port}`] })
  for (const name of CONTROLS) {
    const proxy = await openProxy(database.port)
    wires.set(name, { broker: ports.get(name)!.proxy, database: proxy })
    const own = new URL(testCluster.database)
    own.port = String(proxy.port)
    const settings = { ...SETTINGS, ...more }
    controls.push(noted(await controlMember({ ...over(name), database: own.href }, name, settings), lives))
  }
  const hosts = HOSTS.map((name) => {
    wires.set(name, { broker: ports.get(name)!.proxy, database: null })
    return noted(hostMember(over(name), name, SIZE, { ...SETTINGS, ACCELERANDO_DEMO_SEED: name }), lives)
  })
  return { lives, wires, controls, hosts }
}

/** Time-out for the start of a process on a busy machine. */
const READY_TRIES = 600
/** What the control says of itself; null: nothing. */
export const readyz = async ({ admin }: ControlMember) => {
  try {
    const answer = await fetch(`${admin}/readyz`, { signal: AbortSignal.timeout(2000) })
    const said = (await answer.json()) as { readonly status: string; readonly reason?: string }
    return { code: answer.status, ...said }
  } catch {
    return null
  }
}
const readiness = async (control: ControlMember): Promise<string | null> => {
  const said = await readyz(control)
  return said?.code === 200 ? said.status : null
}
const ready = async (control: ControlMember): Promise<boolean> => (await readiness(control)) === 'ready'
/** The control answers requests; it may not reach the hosts. */
export const serves = async (control: ControlMember): Promise<boolean> => (await readiness(control)) !== null
/** Every control is ready and reaches the database, the broker and the hosts. */
export const allReady = async (controls: readonly ControlMember[]): Promise<boolean> => {
  for (let tries = 0; tries < READY_TRIES; tries++) {
    if ((await Promise.all(controls.map(ready))).every(Boolean)) return true
    await sleep(100)
  }
  return false
}

/** Where the programs of the parts are; null: no OpenStack. */
export type Rigs = { readonly postgres: string; readonly kafka: string; readonly openstack: string | null }
export const openWorld = async (rigs: Rigs, novaUrl: string): Promise<World> => {
  const folder = tempFolder('chaos')
  const data = join(folder.path, 'hosts')
  const ports = await kafkaPorts()
  const [database, broker, openstack] = await Promise.all([
    databaseCluster(rigs.postgres),
    ownBroker(rigs.kafka, { settings: listenersOf(ports) }),
    rigs.openstack === null ? null : openOpenstack(rigs.openstack, folder.path),
  ])
  const prefix = freshPrefix()
  const own = { database: database.url(), brokers: broker.options.brokers, prefix, folder: data }
  const testCluster: TestCluster = openstack === null ? own : { ...own, cloud: openstack.config }
  const settings = { ACCELERANDO_NOVA_URL: novaUrl, ...openstack?.settings }
  const members = await openMembers(testCluster, { ports, database, settings })
  const { controls, hosts, wires } = members
  const small = hosts.find(({ name }) => name === SMALL_DISK)!
  const disk = smallDisk(join(data, SMALL_DISK), () => small.running()?.pid)
  const simulated = hostsIn(folder.path, HOSTS)
  for (const name of HOSTS)
    simulated.inject(name, { delayMs: ORDERS_TAKE_MS, ...(name === HOSTS[0] ? { failPrepare: 1 } : {}) })
  const close = async () => {
    const alive = [...controls, ...hosts].filter((member) => member.running() !== null)
    await Promise.allSettled(alive.map((member) => member.end('SIGKILL')))
    for (const { broker: one, database: other } of wires.values()) await Promise.all([one.close(), other?.close()])
    await Promise.allSettled([database.end(), broker.kill(), openstack?.close()])
    disk.close()
    folder.remove()
  }
  return {
    database,
    url: database.url,
    broker,
    openstack,
    prefix,
    folder: folder.path,
    ...members,
    disk,
    losses: [],
    inHand: simulated.read,
    close,
  }
}
