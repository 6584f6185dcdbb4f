/**
 * The service for checks from outside, in a cloud that runs already (`infra/rig/nova/start`, with the settings in the
 * environment).
 *
 *   npm run e2e:serve        # prints `ready http://127.0.0.1:16666/v2`; SIGTERM and Ctrl-C stop everything
 *
 * Each run has a new store. Rules as older releases had them, or with `ACCELERANDO_POLICY_MODE=strict` only the new
 * defaults. The three answers 500 that tests of existing clients expect are on. The hosts are signed in to the cloud as
 * well: their images come from its Glance.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { guarded } from '../../infra/cluster/guard.ts'
import { kafkaIn, kafkaLacks } from '../../infra/cluster/kafka.ts'
import { type Stage, lived } from '../../infra/cluster/lifetime.ts'
import { freePorts } from '../../infra/cluster/ports.ts'
import { findPostgres, postgresIn } from '../../infra/cluster/postgres.ts'
import { programPart } from '../../infra/cluster/program.ts'
import type { Deployable, Json } from '../e2e/client.ts'
import { tempFolder } from '../support/program.ts'
import { shownDeployables } from './providers.ts'
import { COMPUTES, NOVA_RIG, type NovaCloud, runningCloud } from './rig.ts'
import { cloudConfig } from './service.ts'
import { openUsers, until, userOf } from './users.ts'

const SIZE = { devices: 2, handles: 16 }
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** Of the computes that Nova has; the first, when Nova does not run. */
const hostsIn = async ({ authUrl, compute }: NovaCloud): Promise<readonly string[]> => {
  const admin = await userOf(authUrl, 'admin', 'admin')
  const answer = await admin.ask('GET', `${compute}/os-hypervisors`).catch(() => ({ status: 0, body: {} as Json }))
  if (answer.status !== 200) return []
  const nodes = answer.body['hypervisors'] as readonly { readonly hypervisor_hostname: string }[]
  return COMPUTES.filter((name) => nodes.some((node) => node.hypervisor_hostname === name))
}

const MODES = ['legacy', 'strict']
const modeOf = (mode = 'legacy'): string => {
  if (MODES.includes(mode)) return mode
  throw new Error(`ACCELERANDO_POLICY_MODE: "${mode}" is none of ${MODES.join(', ')}`)
}
const configOf = (cloud: NovaCloud, mode: string): string => `${cloudConfig(cloud.authUrl)}
[oslo_policy]
enforce_new_defaults = ${mode === 'strict'}
[compat]
tempest_server_faults = true
`

/** PostgreSQL and Kafka in the folder. Resolves to the options of the programs that use them. */
const startStores = async (folder: string, { begin, onEnd }: Stage) => {
  const [bin, lacking] = [findPostgres(), kafkaLacks()]
  if (bin === null) throw new Error('PostgreSQL is missing (Debian: postgresql)')
  if (lacking !== null) throw new Error(lacking)
  const at = { folder: join(folder, 'postgres'), port: await freePorts(1), database: 'accelerando' }
  const postgres = postgresIn({ bin, ...at })
  const kafka = kafkaIn({ folder: join(folder, 'kafka'), port: await freePorts(3) })
  onEnd(guarded([kafka.stopCommand, postgres.stopCommand]).dismiss)
  await begin([postgres, kafka])
  return { bus: ['--kafka', kafka.address()], database: ['--database', postgres.address()] }
}

/** Resolves with the address of the API, when servers can be booted with the devices. */
const open = async (stage: Stage): Promise<string> => {
  const mode = modeOf(process.env['ACCELERANDO_POLICY_MODE'])
  const cloud = await runningCloud(NOVA_RIG)
  const known = await hostsIn(cloud)
  const hosts = known.length > 0 ? known : COMPUTES.slice(0, 1)
  const { path: folder, remove } = tempFolder('serve')
  stage.onEnd(remove)
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'log'))
  const config = join(folder, 'control.toml')
  writeFileSync(config, configOf(cloud, mode))
  const { bus, database } = await startStores(folder, stage)
  const env = { ACCELERANDO_LOG_PRETTY: 'never', ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' }
  const program = (name: string, args: readonly string[]) =>
    programPart({ name, args: () => [...args, ...bus], env, logFile: join(folder, 'log', name) })
  const listen = ['--listen', `127.0.0.1:${cloud.acceleratorPort}`, '--admin-listen', '127.0.0.1:0']
  const control = program('control', ['control', '--auth', 'keystone', '--config', config, ...database, ...listen])
  const sized = ['--demo-devices', String(SIZE.devices), '--demo-handles', String(SIZE.handles)]
  const host = (name: string) =>
    program(name, ['host', '--name', name, '--config', config, '--data', join(folder, 'hosts', name), ...sized])
  await stage.begin([control, ...hosts.map(host)])
  const users = await openUsers(cloud)
  const count = hosts.length * SIZE.devices
  // Without its compute no device can be in Placement.
  if (known.length > 0) await shownDeployables(users, count)
  else
    await until(
      async () => (await users.listed<Deployable>('deployables')).length,
      (found) => found === count,
    )
  return control.address()
}

const began = performance.now()
process.exitCode = await lived('serve', say, async (stage) => {
  const base = await open(stage)
  say(`ready ${base}`)
  say(`after ${((performance.now() - began) / 1000).toFixed(1)} s`)
  await stage.asked
})
