/** What the scripts of a rig make of their settings, and the settings of OpenStack's own command line. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RiggedCloud } from './rig.ts'

const run = promisify(execFile)
/** Of every user of a rig. */
export const PASSWORD = 'rig-secret'

/** `rig`: the folder of its scripts. `env`: their environment. */
export const settingsOf = async (
  rig: string,
  names: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Readonly<Record<string, string>>> => {
  const script = `. "$1/settings.sh"; for name in ${names.join(' ')}; do echo "$name=\${!name}"; done`
  const { stdout } = await run('bash', ['-c', script, 'bash', rig], { env })
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  )
}

/**
 * The environment of an administrator at a shell, who has the programs of the rig, and those in the folder `programs`.
 */
export const environmentOf = async (
  rig: string,
  { authUrl, env }: Pick<RiggedCloud, 'authUrl' | 'env'>,
  programs?: string,
): Promise<NodeJS.ProcessEnv> => {
  const { VENV } = await settingsOf(rig, ['VENV'], { ...process.env, ...env })
  const path = [programs, join(VENV!, 'bin'), process.env['PATH']]
  return {
    PATH: path.filter((folder) => folder !== undefined).join(':'),
    OS_AUTH_TYPE: 'password',
    OS_AUTH_URL: authUrl,
    OS_USERNAME: 'admin',
    OS_PASSWORD: PASSWORD,
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_NAME: 'admin',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_REGION_NAME: 'RegionOne',
    OS_IDENTITY_API_VERSION: '3',
    OS_COMPUTE_API_VERSION: '2.96',
  }
}
