/**
 * A cloud with a real Nova and three computes, from `infra/rig/nova`: on free ports and gone at the end, or the one
 * that runs already.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { CLOUD, START_MS, startCloud } from '../cloud/rig.ts'
import { settingsOf } from '../cloud/settings.ts'
import { type Part, needs } from '../support/needs.ts'

export const NOVA_RIG = join(import.meta.dirname, '../../infra/rig/nova')
const BROKER = '/usr/lib/rabbitmq/bin/rabbitmq-server'
/** Those with simulated devices. */
export const COMPUTES = ['compute-1', 'compute-2'] as const
/** The one with GPUs and FPGA cards. */
export const CARD_COMPUTE = 'compute-3'
const NOVA_COMPUTES = String([...COMPUTES, CARD_COMPUTE].length)
/** Keystone's default is an hour. */
const TOKEN_SECONDS = 3600
/** The first start installs the services. */
export const RIG_MS = START_MS

export type NovaCloud = {
  readonly authUrl: string
  readonly compute: string
  readonly placement: string
  readonly image: string
  /** Where the catalogue says that the accelerator API listens. */
  readonly acceleratorPort: number
  /** The settings of the rig, for programs that find it by them. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Kills the compute; `restart` starts it again. */
  readonly killCompute: (name: string) => Promise<void>
  readonly restart: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** What the rig is made of. As root it installs RabbitMQ itself. */
export const NOVA: Part = {
  name: `${CLOUD.name}, and RabbitMQ`,
  installable: true,
  find: () => {
    const { lacking } = needs(CLOUD)
    if (lacking !== undefined) return { lacking }
    return existsSync(BROKER) || process.getuid?.() === 0 ? { at: NOVA_RIG } : { lacking: `no ${BROKER}` }
  },
}

const addresses = (ports: Readonly<Record<string, string | undefined>>) => ({
  authUrl: `http://127.0.0.1:${ports['KEYSTONE_PORT']}/v3`,
  compute: `http://127.0.0.1:${ports['NOVA_PORT']}/v2.1`,
  placement: `http://127.0.0.1:${ports['PLACEMENT_PORT']}`,
  image: `http://127.0.0.1:${ports['GLANCE_PORT']}/v2`,
  acceleratorPort: Number(ports['ACCELERATOR_PORT']),
})

const run = promisify(execFile)
/** Of the cloud with these settings. */
const computesOf = (rig: string, env: NodeJS.ProcessEnv) => ({
  killCompute: async (name: string) => {
    const script = '. "$1/settings.sh"; read -r pid _ <"$OPENSTACK_RIG_DATA/run/nova-$2.pid"; kill -KILL -- "-$pid"'
    await run('bash', ['-c', script, 'bash', rig, name], { env })
  },
  restart: async () => void (await run(join(rig, 'start'), [], { env, timeout: START_MS })),
})

const SHOWN = ['KEYSTONE_PORT', 'NOVA_PORT', 'PLACEMENT_PORT', 'GLANCE_PORT', 'ACCELERATOR_PORT']
/** The cloud that `infra/rig/nova/start` has started with the settings in the environment. */
export const runningCloud = async (rig: string): Promise<NovaCloud> => {
  const ports = await settingsOf(rig, SHOWN)
  const env = { ...process.env, NOVA_COMPUTES }
  return { ...addresses(ports), ...computesOf(rig, env), env: {}, stop: async () => undefined }
}

/**
 * With `NOVA_RIG=running` a cloud that runs with as many computes is used and left running, which saves a minute while
 * tests are written.
 */
export const startNova = async (rig: string): Promise<NovaCloud> => {
  if (process.env['NOVA_RIG'] === 'running') return runningCloud(rig)
  const ports = ['NETWORK_PORT', 'RABBITMQ_PORT', 'RABBITMQ_DIST_PORT', 'EPMD_PORT']
  const cloud = await startCloud(rig, TOKEN_SECONDS, { ports, env: { NOVA_COMPUTES } })
  return {
    ...addresses(cloud.env),
    ...computesOf(rig, cloud.env),
    env: cloud.env,
    stop: cloud.stop,
  }
}
