/** The service as in production: two controls and a host program for each compute, over Kafka and PostgreSQL, signed in to the cloud. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Deployable } from '../e2e/client.ts'
import { type ControlMember, type Ground, type Member, controlMember, hostMember } from '../support/cluster.ts'
import { type Broker, freshPrefix, ownBroker } from '../support/kafka.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'
import { runProgram, tempFolder } from '../support/program.ts'
import { type Front, openFront } from './front.ts'
import { publishProviders } from './providers.ts'
import { COMPUTES, type NovaCloud } from './rig.ts'
import { type Users, openUsers, until } from './users.ts'

type Compute = (typeof COMPUTES)[number]
export type Parts = { readonly postgres: string; readonly kafka: string }
/** Binds on the first compute need work on its host, those on the second do not. */
const DEVICES = {
  'compute-1': { devices: 2, handles: 4, hostWork: true },
  'compute-2': { devices: 2, handles: 4, hostWork: false },
} as const satisfies Record<Compute, object>
const sum = (counts: readonly number[]): number => counts.reduce((before, count) => before + count, 0)
export const UNITS = sum(Object.values(DEVICES).map(({ devices, handles }) => devices * handles))

export const cloudConfig = (authUrl: string): string => `[keystone_authtoken]
auth_url = "${authUrl}"
username = "cyborg"
project_name = "service"
region_name = "RegionOne"
`
const PASSWORD = { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' }

const membersOf = async (ground: Ground) => {
  const controls = await Promise.all(['control-1', 'control-2'].map((name) => controlMember(ground, name, PASSWORD)))
  const hosts = COMPUTES.map((name) => hostMember(ground, name, DEVICES[name]))
  await Promise.all([...controls, ...hosts].map((member) => member.start()))
  return { controls, hosts }
}
const endAll = async (members: readonly Member[]): Promise<void> => {
  const alive = members.filter((member) => member.running() !== null)
  await Promise.all(alive.map((member) => member.end('SIGTERM')))
}

export type NovaService = {
  readonly cloud: NovaCloud
  readonly users: Users
  readonly front: Front
  readonly controls: readonly ControlMember[]
  /** Sets the faults of a compute's devices; null: none. */
  readonly fault: (host: Compute, faults: object | null) => void
  readonly deployables: () => Promise<readonly Deployable[]>
  /** What `accelerando audit` says, once nothing is under way. */
  readonly audited: () => Promise<{ readonly code: number | null; readonly said: string }>
  readonly close: () => Promise<void>
}

export const openService = async (cloud: NovaCloud, parts: Parts): Promise<NovaService> => {
  const folder = tempFolder('nova')
  const [database, broker]: [OwnServer, Broker] = await Promise.all([ownServer(parts.postgres), ownBroker(parts.kafka)])
  const { brokers } = broker.options
  const config = join(folder.path, 'control.toml')
  writeFileSync(config, cloudConfig(cloud.authUrl))
  const { url } = await database.freshDatabase()
  const ground: Ground = { database: url, brokers, prefix: freshPrefix(), folder: folder.path, cloud: config }
  const { controls, hosts } = await membersOf(ground)
  const front = await openFront(cloud.acceleratorPort, () => controls.map(({ origin }) => origin))
  const users = await openUsers(cloud)
  const deployables = () => users.listed<Deployable>('deployables')
  const places = sum(Object.values(DEVICES).map(({ devices }) => devices))
  await until(deployables, (found) => found.length === places)
  await publishProviders(cloud, users)
  const audited = async () => {
    const kafka = ['--kafka', brokers.join(','), '--kafka-prefix', ground.prefix]
    const ledgers = COMPUTES.flatMap((name) => ['--host-data', join(folder.path, name)])
    const program = runProgram({ args: ['audit', '--database', url, ...kafka, ...ledgers, '--settled'] })
    const { code } = await program.exited
    return { code, said: program.stdout() + program.stderr() }
  }
  return {
    cloud,
    users,
    front,
    controls,
    fault: (host, faults) => {
      const at = join(folder.path, host, 'drivers')
      mkdirSync(at, { recursive: true })
      if (faults === null) rmSync(join(at, 'faults.json'), { force: true })
      else writeFileSync(join(at, 'faults.json'), JSON.stringify(faults))
    },
    deployables,
    audited,
    close: async () => {
      await front.close()
      await endAll([...controls, ...hosts])
      await Promise.all([database.end(), broker.kill()])
      folder.remove()
    },
  }
}
