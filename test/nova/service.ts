/**
 * The service as in production: two controls and a host program for each compute, over Kafka and PostgreSQL, signed in
 * to the cloud.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployable } from '../e2e/client.ts'
import { type ControlMember, type TestCluster, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { runProgram, tempFolder } from '../support/program.ts'
import { type LoadBalancer, openLoadBalancer } from '../support/loadBalancer.ts'
import { CARDS, type Cards, openCards } from './cards.ts'
import { shownDeployables } from './providers.ts'
import { COMPUTES, CARD_COMPUTE, type NovaCloud } from './rig.ts'
import { type Users, openUsers } from './users.ts'

type Compute = (typeof COMPUTES)[number]
export type Parts = { readonly postgres: string; readonly kafka: string }
/** Binds on the first compute need work on its host, those on the second do not. */
const DEVICES = {
  'compute-1': { devices: 2, handles: 4, hostWork: true },
  'compute-2': { devices: 2, handles: 4, hostWork: false },
} as const satisfies Record<Compute, object>
const sum = (counts: readonly number[]): number => counts.reduce((before, count) => before + count, 0)
/** FPGA units of all computes. */
export const UNITS = sum(Object.values(DEVICES).map(({ devices, handles }) => devices * handles))
export const HANDLES = UNITS + CARDS.handles
const DEPLOYABLES = sum(Object.values(DEVICES).map(({ devices }) => devices)) + CARDS.deployables

export const cloudConfig = (authUrl: string): string => `[keystone_authtoken]
auth_url = "${authUrl}"
username = "cyborg"
project_name = "service"
region_name = "RegionOne"
`
const ACCOUNT = { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' }
const SETTINGS = {
  ...ACCOUNT,
  // Nova tries only once to delete the ARQs of a boot that failed: the service deletes what is left when it was away.
  ACCELERANDO_ARQ_UNBOUND_TTL: '30',
}

/** Images come from Glance. */
const OF_CLOUD = { ofCloud: true }

const membersOf = async (testCluster: TestCluster, cards: Cards) => {
  const controls = await Promise.all(
    ['control-1', 'control-2'].map((name) => controlMember(testCluster, name, SETTINGS)),
  )
  const hosts = [
    ...COMPUTES.map((name) => hostMember(testCluster, name, DEVICES[name], ACCOUNT, OF_CLOUD)),
    hostMember(testCluster, CARD_COMPUTE, null, { ...cards.env, ...ACCOUNT }, OF_CLOUD),
  ]
  await Promise.all([...controls, ...hosts].map((member) => member.start()))
  return { controls, hosts }
}
const endAll = async (members: readonly Member[]): Promise<void> => {
  const alive = members.filter((member) => member.running() !== null)
  await Promise.all(alive.map((member) => member.end('SIGTERM')))
}

export type NovaService = {
  readonly cloud: NovaCloud
  /** What its programs share. */
  readonly testCluster: TestCluster
  readonly users: Users
  readonly balancer: LoadBalancer
  readonly controls: readonly ControlMember[]
  /** One for each compute, with its name. */
  readonly hosts: readonly Member[]
  /** The hardware of the compute with real drivers. */
  readonly cards: Cards
  /** Sets the faults of a compute's devices; null: none. */
  readonly fault: (host: Compute, faults: object | null) => void
  readonly deployables: () => Promise<readonly Deployable[]>
  /** What `accelerando audit` says, once nothing is under way. */
  readonly audited: () => Promise<{ readonly code: number | null; readonly said: string }>
  readonly close: () => Promise<void>
}

/** Runs the ends of what was opened, last first, whatever each of them says. */
const closing = () => {
  const ends: (() => Promise<unknown>)[] = []
  return {
    add: (end: () => Promise<unknown>) => void ends.unshift(end),
    close: async () => {
      const failures: unknown[] = []
      for (const end of ends) await end().catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw new AggregateError(failures, 'not everything was stopped')
    },
  }
}

const opened = async (cloud: NovaCloud, parts: Parts, { add, close }: ReturnType<typeof closing>) => {
  const folder = tempFolder('nova')
  add(async () => folder.remove())
  const database: OwnServer = await ownServer(parts.postgres)
  add(database.end)
  const broker: Broker = await ownBroker(parts.kafka)
  add(broker.kill)
  const { brokers } = broker.options
  const config = join(folder.path, 'control.toml')
  writeFileSync(config, cloudConfig(cloud.authUrl))
  const { url } = await database.freshDatabase()
  const testCluster: TestCluster = { database: url, brokers, prefix: freshPrefix(), folder: folder.path, cloud: config }
  const cards = await openCards(folder.path)
  add(async () => cards.gpus.stop())
  const { controls, hosts } = await membersOf(testCluster, cards)
  add(() => endAll([...controls, ...hosts]))
  const balancer = await openLoadBalancer(cloud.acceleratorPort, () => controls.map(({ origin }) => origin))
  add(balancer.close)
  const users = await openUsers(cloud)
  await shownDeployables(users, DEPLOYABLES)
  const audited = async () => {
    const kafka = ['--kafka', brokers.join(','), '--kafka-prefix', testCluster.prefix]
    const ledgers = [...COMPUTES, CARD_COMPUTE].flatMap((name) => ['--host-data', join(folder.path, name)])
    const program = runProgram({ args: ['audit', '--database', url, ...kafka, ...ledgers, '--settled'] })
    const { code } = await program.exited
    return { code, said: program.stdout() + program.stderr() }
  }
  const fault = (host: Compute, faults: object | null): void => {
    const at = join(folder.path, host, 'drivers')
    mkdirSync(at, { recursive: true })
    if (faults === null) rmSync(join(at, 'faults.json'), { force: true })
    else writeFileSync(join(at, 'faults.json'), JSON.stringify(faults))
  }
  const deployables = () => users.listed<Deployable>('deployables')
  return { cloud, testCluster, users, balancer, controls, hosts, cards, fault, deployables, audited, close }
}

export const openService = async (cloud: NovaCloud, parts: Parts): Promise<NovaService> => {
  const ends = closing()
  try {
    return await opened(cloud, parts, ends)
  } catch (error) {
    await ends.close()
    throw error
  }
}
