/** Starts the compose file as a user would, under a project name of its own. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const answers = async (program: string, args: readonly string[]): Promise<boolean> =>
  run(program, [...args, 'version']).then(
    () => true,
    () => false,
  )

export type Compose = {
  readonly call: (...args: readonly string[]) => Promise<string>
  /** Names of the containers that run. */
  readonly running: () => Promise<readonly string[]>
}

/** The plugin, or the program of its own that came before it. */
export const openCompose = async (project: string, env: Readonly<Record<string, string>>): Promise<Compose> => {
  const plugin = await answers('docker', ['compose'])
  const [program, ...first] = plugin ? ['docker', 'compose'] : ['docker-compose']
  const call: Compose['call'] = async (...args) => {
    const all = [...first, '-f', 'infra/compose.yaml', '-p', project, ...args]
    const { stdout } = await run(program, all, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      maxBuffer: 64 * 1024 * 1024,
    })
    return stdout
  }
  return {
    call,
    running: async () => {
      const filter = `label=com.docker.compose.project=${project}`
      const { stdout } = await run('docker', ['ps', '--filter', filter, '--format', '{{.Names}}'])
      return stdout.split('\n').filter((name) => name !== '')
    },
  }
}
