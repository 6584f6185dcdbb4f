/** What tests start in a copy of the repository belongs to the copy, and is ended with it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

const read = (file: string, how: (file: string) => string): string => {
  try {
    return how(file)
  } catch {
    return ''
  }
}
const isOf = (folder: string, pid: string): boolean =>
  read(join('/proc', pid, 'environ'), (file) => readFileSync(file, 'utf8')).includes(`MUTATION_FOLDER=${folder}\0`) ||
  read(join('/proc', pid, 'cwd'), readlinkSync).startsWith(`${folder}/`)

/**
 * What runs in the folder, or was started with it as `MUTATION_FOLDER`. Only Linux tells this; elsewhere nothing is
 * ended here.
 */
export const endAll = (folder: string): void => {
  let pids: readonly string[] = []
  try {
    pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return
  }
  for (const pid of pids) if (pid !== String(process.pid) && isOf(folder, pid)) kill(Number(pid), 'SIGKILL')
}
const kill = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended
  }
}

/** Settings of whoever runs this are not those of the tests. */
export const environmentOf = (folder: string) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(ACCELERANDO_|VITEST|NODE_OPTIONS)/.test(name)),
  ),
  MUTATION_FOLDER: folder,
  TMPDIR: join(folder, 'tmp'),
  NO_COLOR: '1',
})
