/**
 * A cloud of its own for a test file: real Keystone, Placement and Glance from `infra/rig/openstack`, on free ports,
 * gone at the end.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { guarded } from '../../infra/cluster/guard.ts'
import type { Part } from '../support/needs.ts'
import { needs } from '../support/needs.ts'
import { freePort } from '../support/port.ts'

const RIG = join(import.meta.dirname, '../../infra/rig/openstack')
/** The first start installs the services. */
export const START_MS = 1_200_000
const START_ENDS_SECONDS = '10'
const run = promisify(execFile)

export type RiggedCloud = {
  readonly authUrl: string
  readonly glanceUrl: string
  readonly placementUrl: string
  /** Environment of the rig's own scripts, for this cloud. */
  readonly env: NodeJS.ProcessEnv
  /** Pauses Keystone (SIGSTOP) and lets it go on. */
  readonly signalKeystone: (signal: 'STOP' | 'CONT') => Promise<void>
  /** The same for Placement, or kills it. */
  readonly signalPlacement: (signal: 'STOP' | 'CONT' | 'KILL') => Promise<void>
  /** Starts what was killed. `placementUrl`: where the catalogue says that Placement is. */
  readonly restart: (placementUrl: string) => Promise<void>
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
  // A run that is killed leaves no services behind, nor does a start that was under way then.
  const wipe = ['env', `OPENSTACK_RIG_DATA=${data}`, join(rig, 'stop'), '--wipe']
  const guard = guarded([wipe, ['sleep', START_ENDS_SECONDS], wipe])
  const stop = async (): Promise<void> => {
    await script('stop', '--wipe')
    guard.dismiss()
  }
  await run('chmod', ['755', data])
  await script('start').catch(async (error: unknown) => {
    await stop().catch(() => undefined)
    throw error
  })
  const authUrl = `http://127.0.0.1:${ports['KEYSTONE_PORT']}/v3`
  // gunicorn and its worker, which share a session
  const signal = async (service: string, name: string) =>
    void (await run('bash', [
      '-c',
      `read -r pid _ <"$1"; kill -${name} -- -$pid`,
      'bash',
      join(data, `run/${service}.pid`),
    ]))
  return {
    authUrl,
    glanceUrl: `http://127.0.0.1:${ports['GLANCE_PORT']}`,
    env,
    placementUrl: `http://127.0.0.1:${ports['PLACEMENT_PORT']}`,
    signalKeystone: (name) => signal('keystone', name),
    signalPlacement: (name) => signal('placement', name),
    restart: async (placementUrl) =>
      void (await run(join(rig, 'start'), [], { env: { ...env, PLACEMENT_URL: placementUrl }, timeout: START_MS })),
    stop,
  }
}
