/**
 * A host from a recording: the port over a tree of folders (objects), files (texts) and symbolic links (`{"->":
 * target}`). What a driver writes stays in memory.
 */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { HostIo } from '../../src/drivers/driver.ts'

export type Tree = { [name: string]: Tree | string }
export type RecordedHost = HostIo & {
  readonly warnings: { readonly event: string; readonly detail: Readonly<Record<string, unknown>> }[]
  /** What lies under `stateDir`, by path. */
  readonly kept: () => Readonly<Record<string, string>>
  /** The very folder that the host reads, to be changed behind its back. */
  readonly tree: (path: string) => Tree
  /** Takes something out of the machine. */
  readonly remove: (path: string) => void
}

const HOPS_MAX = 40
const isLink = (node: Tree | string | undefined): node is { '->': string } =>
  typeof node === 'object' && typeof node['->'] === 'string'
const failure = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code })

/** Follows links in all parts of the path but, when told so, the last. */
const follow = (root: Tree, path: string, last: boolean): { readonly parent: Tree; readonly name: string } => {
  let parts = posix.normalize(path).split('/').filter(Boolean)
  let parent = root
  let hops = 0
  for (let at = 0; at < parts.length; at++) {
    const node: Tree | string | undefined = Object.hasOwn(parent, parts[at]!) ? parent[parts[at]!] : undefined
    const end = at === parts.length - 1
    if (isLink(node) && (last || !end)) {
      if (++hops > HOPS_MAX) throw failure('ELOOP', path)
      parts = posix
        .resolve('/', ...parts.slice(0, at), node['->'], ...parts.slice(at + 1))
        .split('/')
        .filter(Boolean)
      parent = root
      at = -1
    } else if (!end) {
      if (typeof node !== 'object') throw failure(node === undefined ? 'ENOENT' : 'ENOTDIR', path)
      parent = node
    }
  }
  return { parent, name: parts.at(-1) ?? '' }
}

const nodeAt = (root: Tree, path: string, last: boolean): Tree | string => {
  const { parent, name } = follow(root, path, last)
  const node = name === '' ? root : Object.hasOwn(parent, name) ? parent[name] : undefined
  if (node === undefined) throw failure('ENOENT', path)
  return node
}

const makeFolders = (root: Tree, path: string): void => {
  let folder = root
  for (const part of posix.dirname(path).split('/').filter(Boolean)) folder = (folder[part] ??= {}) as Tree
}

/** Programs of the host, by path: what one prints, and what it changes in the tree. */
export type Programs = Readonly<Record<string, (args: readonly string[], root: Tree) => string>>

export const recordedHostIo = (
  recording: Tree,
  hostname = 'compute1',
  stateDir = '/state',
  programs: Programs = {},
): RecordedHost => {
  const root = structuredClone(recording)
  const warnings: RecordedHost['warnings'] = []
  const kept = (folder: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(follow(root, `${folder}/x`, false).parent).map(([name, node]) => [
        `${folder}/${name}`,
        typeof node === 'string' ? node : JSON.stringify(node),
      ]),
    )
  const write = async (path: string, text: string): Promise<void> => {
    const own = posix.normalize(path).startsWith(`${stateDir}/`)
    if (own) makeFolders(root, path)
    else if (typeof nodeAt(root, path, true) !== 'string') throw failure('EISDIR', path)
    const { parent, name } = follow(root, path, true)
    parent[name] = text
  }
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    const made = programs[program]
    if (made !== undefined) return made(args, root)
    throw failure('ENOENT', program)
  }
  return {
    hostname,
    stateDir,
    warnings,
    kept: () => (Object.hasOwn(root, posix.normalize(stateDir).slice(1)) ? kept(stateDir) : {}),
    tree: (path) => nodeAt(root, path, true) as Tree,
    remove: (path) => {
      const { parent, name } = follow(root, path, false)
      delete parent[name]
    },
    read: async (path) => {
      const node = nodeAt(root, path, true)
      if (typeof node !== 'string') throw failure('EISDIR', path)
      return node
    },
    list: async (path) => {
      const node = nodeAt(root, path, true)
      if (typeof node === 'string') throw failure('ENOTDIR', path)
      return Object.keys(node).toSorted()
    },
    link: async (path) => {
      try {
        const node = nodeAt(root, path, false)
        return isLink(node) ? node['->'] : null
      } catch {
        return null
      }
    },
    write,
    keep: write,
    head: async (path, bytes) => {
      const node = nodeAt(root, path, true)
      if (typeof node !== 'string') throw failure('EISDIR', path)
      return Buffer.from(node, 'latin1').subarray(0, bytes)
    },
    // the file holds the number, and after it whether it is claimed
    blockDevice: async (path) => {
      const node = nodeAt(root, path, true)
      if (typeof node !== 'string') throw failure('EISDIR', path)
      const [number = '', claimed] = node.trim().split(' ')
      return { number, isClaimed: claimed === 'claimed' }
    },
    run,
    change: (_card, program, args) => run(program, args),
    askSocket: async (path, text): Promise<unknown> => {
      const made = programs[path]
      if (made !== undefined) return JSON.parse(made([text], root))
      throw failure('ENOENT', path)
    },
    warn: (event, detail) => void warnings.push({ event, detail }),
  }
}

const recordingOf = (name: string): Tree =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'recorded', `${name}.json`), 'utf8')) as Tree

/** A recorded sysfs, mounted at `/sys`, with images to program. */
export const recordedHost = (recording: string, hostname?: string): RecordedHost => {
  const images = { 'design-one.gbs': 'bits', '4a3bd0ae-0000-4000-8000-000000000001': 'bits' }
  return recordedHostIo({ sys: recordingOf(recording), images }, hostname)
}

/** Folders, files and links of a tree, on a disk. */
export const unpack = (tree: Tree, into: string): void => {
  mkdirSync(into, { recursive: true })
  for (const [name, node] of Object.entries(tree)) {
    const path = join(into, name)
    if (typeof node === 'string') writeFileSync(path, node)
    else if (typeof node['->'] === 'string') symlinkSync(node['->'], path)
    else unpack(node, path)
  }
}
/** A recorded sysfs, on a disk. */
export const unpackRecording = (recording: string, into: string): void => unpack(recordingOf(recording), into)
