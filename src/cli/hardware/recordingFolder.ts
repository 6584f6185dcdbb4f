/** A recording of a host as a folder: `root` contains its files, `commands.json` the output of programs. */
import { mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import * as v from 'valibot'
import { codeOf } from '../../vocabulary/errorText.ts'
import type { HostIo } from '../../drivers/driver.ts'
import { ProgramFailed } from '../../drivers/programFailed.ts'
import { CLAIM, CONFIG, type Recording, type Tree } from '../../drivers/recording.ts'

const ROOT = 'root'
const COMMANDS = 'commands.json'

const unpack = async (tree: Tree, into: string): Promise<void> => {
  await mkdir(into, { recursive: true })
  for (const [name, node] of Object.entries(tree)) {
    const path = join(into, name)
    if (typeof node === 'string') await writeFile(path, node, path.endsWith(CONFIG) ? 'latin1' : 'utf8')
    else if (typeof node['->'] === 'string') await symlink(node['->'], path)
    else await unpack(node, path)
  }
}

/** Throws when the folder exists already and is not empty. */
export const writeRecording = async (folder: string, { tree, runs }: Recording): Promise<void> => {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) throw new Error(`${folder}: must be a new or empty folder`)
  await unpack(tree, join(folder, ROOT))
  await writeFile(join(folder, COMMANDS), `${JSON.stringify(runs, null, 2)}\n`)
}

const Runs = v.array(
  v.object({
    program: v.string(),
    args: v.array(v.string()),
    output: v.nullable(v.string()),
    error: v.nullable(v.string()),
  }),
)
const Block = v.object({ number: v.string(), isClaimed: v.boolean() })
/**
 * What is no file, as a named pipe, may never end, and `device record` writes none. Rejects with the text `isNone`
 * then.
 */
const refuseOthers = async (real: string, isNone: string): Promise<void> => {
  const found = await stat(real)
  if (!found.isFile() && !found.isDirectory()) throw new Error(isNone)
}
const runsIn = async (folder: string): Promise<v.InferOutput<typeof Runs>> => {
  const path = join(folder, COMMANDS)
  try {
    await refuseOthers(path, `${path}: is no regular file`)
    return v.parse(v.pipe(v.string(), v.parseJson(), Runs), await readFile(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path}: is not a recording of a host, which accelerando device record makes`, { cause: error })
  }
}
const missing = (path: string): Error => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })

/**
 * Reads the recorded host instead of the machine, within the limits of `io`. Links that leave the recording are not
 * followed.
 */
export const recordedHostIn = async (folder: string, io: HostIo): Promise<HostIo> => {
  const runs = await runsIn(folder)
  const root = await realpath(join(folder, ROOT)).catch(() => {
    throw new Error(`${folder}: has no folder ${ROOT}, and is not a recording of a host`)
  })
  const found = async (path: string): Promise<string> => {
    const real = await realpath(join(root, path)).catch((error: unknown) => {
      throw codeOf(error) === 'ENOENT' ? missing(path) : error
    })
    if (real !== root && !real.startsWith(root + sep)) throw missing(path)
    return real
  }
  // several drivers ask for the same paths, and a recording does not change
  const known = new Map<string, Promise<string>>()
  const inside = (path: string): Promise<string> => {
    const place = known.get(path) ?? found(path)
    known.set(path, place)
    return place
  }
  const fileAt = async (path: string): Promise<string> => {
    const real = await inside(path)
    await refuseOthers(real, `${path}: is no regular file in the recording`)
    return real
  }
  const ran = (program: string, args: readonly string[]): string => {
    const run = runs.find((one) => one.program === program && JSON.stringify(one.args) === JSON.stringify(args))
    if (run === undefined)
      throw new Error(`${basename(program)}: was not called with these arguments when the host was recorded`)
    if (run.output === null || run.error !== null) throw new ProgramFailed(run.error ?? 'failed', run.output ?? '', '')
    return run.output
  }
  return {
    ...io,
    read: async (path) => io.read(await fileAt(path)),
    head: async (path, bytes) => io.head(await fileAt(path), bytes),
    list: async (path) => io.list(await inside(path)),
    link: async (path) => {
      try {
        const parent = await inside(join(path, '..'))
        return await io.link(join(parent, basename(path)))
      } catch {
        return null
      }
    },
    write: async () => undefined,
    keep: async () => undefined,
    change: async () => {
      throw new Error('a recorded host cannot be changed')
    },
    run: async (program, args) => ran(program, args),
    blockDevice: async (path) => v.parse(v.pipe(v.string(), v.parseJson(), Block), ran(path, [CLAIM])),
    askSocket: async (path, text): Promise<unknown> => JSON.parse(ran(path, [text])),
  }
}
