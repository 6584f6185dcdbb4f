/**
 * Runs a unit of systemd as it is shipped, with all that it forbids, under a systemd of its own: for machines that were
 * not booted with one.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Part } from './needs.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCRIPT = join(import.meta.dirname, 'bootUnit.sh')
const NAMESPACES = ['--fork', '--kill-child', '--pid', '--mount-proc', '--mount', '--cgroup', '--ipc', '--uts']
const BOOT_MS = 240_000

const systemd = (): string | undefined =>
  ['/usr/lib/systemd/systemd', '/lib/systemd/systemd'].find((path) => existsSync(path))

/** `at`: the program systemd. A package can bring it, but not the right to make namespaces. */
export const ownSystemd: Part = {
  name: 'a systemd in namespaces of its own',
  installable: false,
  find: () => {
    const at = systemd()
    if (at === undefined) return { lacking: 'systemd is not installed' }
    const trial = 'mount -t tmpfs tmpfs /run && mount -t cgroup2 cgroup2 /run'
    const { status } = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', trial], { stdio: 'ignore', timeout: 10_000 })
    return status === 0 ? { at } : { lacking: 'namespaces cannot be made here' }
  },
}

const isThere = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The Node that a unit of this machine would begin with: not the one of this checkout, if there is another. */
const nodeOfTheMachine = (): string => {
  const folders = process.env['PATH']!.split(delimiter).filter((path) => !path.endsWith('node_modules/.bin'))
  const found = folders.map((path) => join(path, 'node')).find(isThere) ?? process.execPath
  return execFileSync('readlink', ['-f', found], { encoding: 'utf8' }).trim()
}

export type UnitRun = {
  /** Of the program and of what ran beside it. */
  readonly output: string
  /** As systemd has it: `success`, or why not, for example `core-dump`. */
  readonly result: string
}

/**
 * `unit`: its text as shipped. `settings`: further lines of [Service]. `begin`: what runs as its program; it ends by
 * itself.
 */
export const bootUnit = async (
  folder: string,
  run: { readonly unit: string; readonly settings: readonly string[]; readonly begin: string },
): Promise<UnitRun> => {
  const [output, result] = [join(folder, 'output'), join(folder, 'result')]
  const extra = join(folder, 'units/accelerando.service.d')
  mkdirSync(extra, { recursive: true })
  writeFileSync(join(folder, 'accelerando.toml'), 'auth = "noauth"\n')
  writeFileSync(join(folder, 'units/accelerando.service'), run.unit)
  const lines = [
    '[Unit]',
    'DefaultDependencies=no',
    'SuccessAction=exit-force',
    'FailureAction=exit-force',
    '[Service]',
    'Restart=no',
    `StandardOutput=append:${output}`,
    `StandardError=append:${output}`,
    'ExecStart=',
    `ExecStart=${run.begin}`,
    `ExecStopPost=+/bin/sh -c 'echo "$SERVICE_RESULT" >${result}'`,
    ...run.settings,
  ]
  writeFileSync(join(extra, 'test.conf'), `${lines.join('\n')}\n`)
  const args = [folder, 'accelerando.service', ROOT, nodeOfTheMachine(), systemd()!]
  const child = spawn('unshare', [...NAMESPACES, 'bash', SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), BOOT_MS)
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void said.push(text))
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(timer)
  const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  return { output: `${said.join('')}${read(output)}`, result: read(result).trim() }
}
