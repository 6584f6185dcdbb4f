/** Python clients in an environment of their own, installed by pip. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
/** Kept between runs beside the packages; installed anew when the list of clients changes. */
const VENV = here('../../node_modules/.cache/clients')
export const INSTALL_MS = 300_000

const must = (program: string, ...args: readonly string[]) => {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: INSTALL_MS })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

export const installClients = (python: string): void => {
  const wanted = here('requirements.txt')
  const same = spawnSync('cmp', ['-s', wanted, join(VENV, 'requirements.txt')]).status === 0
  if (same && existsSync(join(VENV, 'bin/python'))) return
  must(python, '-m', 'venv', '--clear', VENV)
  must(join(VENV, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', '-r', wanted)
  must('cp', wanted, VENV)
}

type Options = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly timeout: number }
/** What the program printed; its last line is `exit CODE`. */
export const runClient = (program: string, args: readonly string[], options: Options): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(join(VENV, 'bin', program), args, options)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (printed += part))
    child.on('close', (code) => resolve(`${printed}\nexit ${code}`))
  })
