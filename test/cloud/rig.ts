/** A cloud of its own for a test file: real Keystone, Placement and Glance from `infra/rig/openstack`, on free ports, gone at the end. */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Part } from '../support/needs.ts'
import { needs } from '../support/needs.ts'
import { freePort } from '../support/port.ts'

const RIG = join(import.meta.dirname, '../../infra/rig/openstack')
/** The first start installs the services. */
export const START_MS = 600_000
const run = promisify(execFile)

export type RiggedCloud = {
  readonly authUrl: string
  readonly glanceUrl: string
  /** Environment of the rig's own scripts, for this cloud. */
  readonly env: NodeJS.ProcessEnv
  /** Pauses Keystone (SIGSTOP) and lets it go on. */
  readonly signalKeystone: (signal: 'STOP' | 'CONT') => Promise<void>
  readonly stop: () => Promise<void>
}

/** What the rig is made of. */
export const CLOUD: Part = {
  name: 'Python with pip, and PostgreSQL',
  installable: true,
  find: () => {
    const parts = [needs('pip'), needs('postgres')]
    const lacking = parts.find((part) => part.lacking !== undefined)?.lacking
    return lacking === undefined ? { at: RIG } : { lacking }
  },
}

/** Of a rig that starts further services: the names of their ports, and settings. */
type More = { readonly ports: readonly string[]; readonly env: Readonly<Record<string, string>> }
const NO_MORE: More = { ports: [], env: {} }

/** `tokenSeconds`: how long a token lasts. */
export const startCloud = async (rig: string, tokenSeconds: number, more = NO_MORE): Promise<RiggedCloud> => {
  // a user that is not root runs PostgreSQL there, and has to be able to enter
  const data = mkdtempSync('/var/tmp/cloud-')
  const names = ['KEYSTONE_PORT', 'PLACEMENT_PORT', 'GLANCE_PORT', 'NOVA_PORT', 'ACCELERATOR_PORT', ...more.ports]
  const ports = Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())])))
  const own = { OPENSTACK_RIG_DATA: data, RIG_TOKEN_SECONDS: String(tokenSeconds) }
  const env = { ...process.env, ...ports, ...more.env, ...own }
  const script = (name: string, ...args: readonly string[]) => run(join(rig, name), args, { env, timeout: START_MS })
  await run('chmod', ['755', data])
  await script('start').catch(async (error: unknown) => {
    await script('stop', '--wipe').catch(() => undefined)
    throw error
  })
  const authUrl = `http://127.0.0.1:${ports['KEYSTONE_PORT']}/v3`
  return {
    authUrl,
    glanceUrl: `http://127.0.0.1:${ports['GLANCE_PORT']}`,
    env,
    signalKeystone: async (signal) => {
      // gunicorn and its worker, which share a session
      await run('bash', ['-c', `read -r pid _ <"$1"; kill -${signal} -- -$pid`, 'bash', join(data, 'run/keystone.pid')])
    },
    stop: async () => void (await script('stop', '--wipe')),
  }
}
