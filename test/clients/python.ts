/** Python programs, each set in an environment of its own, installed by pip. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
/** The sets: `NAME.txt` lists the packages of one. */
type Set = 'clients' | 'cyborgclient' | 'schemathesis'
/** Kept between runs beside the packages; installed anew when the list changes. */
const folderOf = (set: Set): string => here(`../../node_modules/.cache/${set}`)
export const INSTALL_MS = 300_000

const must = (program: string, ...args: readonly string[]) => {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: INSTALL_MS })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
}

export const installPython = (python: string, set: Set): void => {
  const [folder, wanted] = [folderOf(set), here(`${set}.txt`)]
  const same = spawnSync('cmp', ['-s', wanted, join(folder, `${set}.txt`)]).status === 0
  if (same && existsSync(join(folder, 'bin/python'))) return
  must(python, '-m', 'venv', '--clear', folder)
  // most modules are never imported, so compiling them all would be half of the work
  const quick = ['--quiet', '--no-compile', '--disable-pip-version-check']
  must(join(folder, 'bin/pip'), 'install', ...quick, '-r', wanted)
  must('cp', wanted, folder)
}

type Options = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly timeout: number }
/** What the program printed; its last line is `exit CODE`. */
export const runPython = (set: Set, program: string, args: readonly string[], options: Options): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(join(folderOf(set), 'bin', program), args, options)
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (printed += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (printed += part))
    child.on('close', (code) => resolve(`${printed}\nexit ${code}`))
  })
