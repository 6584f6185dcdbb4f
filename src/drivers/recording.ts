/**
 * Records what drivers read of a host, so that it can be looked at elsewhere: files, folders, links and what programs
 * printed. Serial numbers and the like are removed. What no driver asked for is not recorded.
 */
import { posix } from 'node:path'
import { codeOf, textOf } from '../vocabulary/errorText.ts'
import { CANONICAL_PATTERN } from '../vocabulary/uuid.ts'
import type { HostIo } from './driver.ts'
import { interfacesIn } from './pci/ownNetwork.ts'
import { ProgramFailed } from './programFailed.ts'
import { recordableAnswer } from './spdk.ts'

/** Folders are objects, files texts, and links `{"->": target}`. */
export type Tree = { [name: string]: Tree | string }
export type RecordedRun = {
  readonly program: string
  readonly args: readonly string[]
  /** What it printed, and why it failed, if it did. Null: it printed nothing that is known. */
  readonly output: string | null
  readonly error: string | null
}
export type Recording = { readonly tree: Tree; readonly runs: readonly RecordedRun[] }

/** Files whose content names a single piece of hardware or a person's data. */
const SECRET_FILES = /^(?:serial|serial_number|unique_id|wwid|nguid|eui|uuid|vpd|board_serial|product_uuid)$/
const REMOVED = 'removed'
/** Lines of other files that drivers need; the rest may name the machine, its disks or its users. */
const KEPT_LINES: Readonly<Record<string, RegExp>> = {
  '/proc/cpuinfo': /^(?:vendor_id|CPU implementer)\s/,
  '/proc/swaps': /^(?:Filename|\/dev\/[\w-]+\s)/,
}
/**
 * Of the routing tables, which drivers ask for the interfaces of default routes: those lines, without the addresses of
 * gateways.
 */
const DEFAULT_ROUTES: Readonly<Record<string, readonly [line: RegExp, without: string]>> = {
  '/proc/net/route': [/^(\S+\s+0{8}\s+)[\dA-F]{8}(\s.*)$/i, '$100000000$2'],
  '/proc/net/ipv6_route': [/^(0{32} 00 0{32} 00 )[\da-f]{32}( .*)$/i, `$1${'0'.repeat(32)}$2`],
}
/** A device by its kernel name. Names that people give, as to volumes, are none. */
const kernelName = (device: string): string => (/^\/dev\/[\w-]+$/.test(device) ? device : 'none')
/**
 * The place and the options of a mount would reveal what the machine is used for; the number and the device are what
 * drivers need.
 */
const plainMount = (line: string): string => {
  const [mount = '', source = ''] = line.split(' - ')
  const [id, parent, number] = mount.split(' ')
  const [type, device = ''] = source.split(' ')
  return number === undefined ? '' : `${id} ${parent} ${number} / /${REMOVED} rw - ${type} ${kernelName(device)} rw`
}
/** Pure. A file's text without what must not leave the host. */
export const withoutSecrets = (path: string, text: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (SECRET_FILES.test(name)) return `${REMOVED}\n`
  const kept = KEPT_LINES[path]
  if (kept !== undefined)
    return text
      .split('\n')
      .filter((line) => kept.test(line))
      .join('\n')
  const routes = DEFAULT_ROUTES[path]
  if (routes !== undefined)
    return text
      .split('\n')
      .flatMap((line) => (routes[0].test(line) ? [line.replace(...routes)] : []))
      .join('\n')
  // drivers ask for the names, not for what went through
  if (path === '/proc/net/dev') return [...interfacesIn(text)].map((one) => `${one}:\n`).join('')
  if (path === '/proc/cmdline')
    return text
      .split(/\s+/)
      .filter((word) => word.includes('iommu'))
      .join(' ')
  if (name === 'mountinfo') return text.split('\n').map(plainMount).join('\n')
  return text
}
/** Pure. What a program printed, without serial numbers and UUIDs of hardware. Names of GPUs are left to `standIns`. */
export const outputWithoutSecrets = (text: string): string =>
  text
    .replaceAll(new RegExp(`(?<!\\b(?:GPU|MIG)-)\\b${CANONICAL_PATTERN}\\b`, 'gi'), REMOVED)
    // a number may have blanks; it ends with its quote, its column or its line
    .replaceAll(/(serial[^:=\n"]*["']?\s*[:=]\s*["']?)[^\s"',|](?:[^\n"',|]*[^\s"',|])?/gi, `$1${REMOVED}`)

const CARD_NAME = new RegExp(`\\b((?:MIG-)?(?:GPU|MIG)-)(${CANONICAL_PATTERN})`, 'gi')
/** Also of namespaces, and without dashes, as their NGUIDs (32 digits) and EUI64 (16 digits) are written. */
const ANY_NAME = new RegExp(
  `((?:MIG-)?(?:GPU|MIG)-)?(?<![0-9a-f])(${CANONICAL_PATTERN}|[0-9a-f]{32}|[0-9a-f]{16})(?![0-9a-f])`,
  'gi',
)
/**
 * NVIDIA names GPUs and their MIG instances by UUIDs, which are as good as serial numbers: `GPU-...`, `MIG-...`, and
 * with older drivers `MIG-GPU-.../1/0`. Each UUID gets another one that stands for it wherever it occurs in the
 * recording, so that what belongs together is still found together.
 */
export const standIns = () => {
  const numbers = new Map<string, number>()
  const replaced = (text: string, names: RegExp): string =>
    text.replaceAll(names, (_whole, kind: string | undefined, name: string) => {
      const key = name.toLowerCase().replaceAll('-', '')
      const number = numbers.get(key) ?? numbers.size + 1
      numbers.set(key, number)
      return `${kind ?? ''}00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    })
  return { cards: (text: string) => replaced(text, CARD_NAME), all: (text: string) => replaced(text, ANY_NAME) }
}

/** The first bytes of a function's configuration space are no text: each is recorded as one character. */
export const CONFIG = '/config'
/** Stands for the arguments where it is recorded what a block device says. */
export const CLAIM = 'O_EXCL'

const HOPS_MAX = 40
type TreeEntry = { readonly folder: Tree; readonly name: string; readonly path: string }

/**
 * Where the link at the path leads, relative to its folder: also where it was absolute, so that it stays within the
 * recording.
 */
const relativeTarget = (path: string, target: string): string =>
  posix.relative(posix.dirname(path), posix.resolve(posix.dirname(path), target)) || '.'
const folderAt = (parent: Tree, name: string): Tree => {
  const known = parent[name]
  return typeof known === 'object' && typeof known['->'] !== 'string' ? known : (parent[name] = {})
}

/** The recorded tree, grown by what drivers ask for. */
class Growing {
  readonly root: Tree = {}
  readonly #io: HostIo
  readonly #standIn: (text: string) => string
  /** Paths as drivers name them that are recorded already; several drivers ask for the same. */
  readonly #noted = new Set<string>()
  readonly #links = new Map<string, Promise<string | null>>()

  constructor(io: HostIo, standIn: (text: string) => string) {
    this.#io = io
    this.#standIn = standIn
  }
  /** What lies in the driver's own folder is nothing of the machine. */
  #isNew(what: string, path: string): boolean {
    return !path.startsWith(`${this.#io.stateDir}/`) && this.#noted.size < this.#noted.add(`${what} ${path}`).size
  }
  #linkAt(path: string): Promise<string | null> {
    const asked = this.#links.get(path) ?? this.#io.link(path)
    this.#links.set(path, asked)
    return asked
  }
  /**
   * The entry that a path leads to when its links are followed; the last part is followed only if `last` is true. Notes
   * the links on the way.
   */
  async #place(path: string, last: boolean): Promise<TreeEntry> {
    let parts = posix.normalize(path).split('/').filter(Boolean)
    let [folder, at, hops] = [this.root, 0, 0]
    for (; at < parts.length; at++) {
      const [name, end] = [parts[at]!, at === parts.length - 1]
      const own = `/${parts.slice(0, at + 1).join('/')}`
      const target = last || !end ? await this.#linkAt(own) : null
      if (target !== null && hops++ < HOPS_MAX) {
        folder[name] = { '->': relativeTarget(own, target) }
        const absolute = posix.resolve(posix.dirname(own), target)
        parts = [...absolute.split('/').filter(Boolean), ...parts.slice(at + 1)]
        ;[folder, at] = [this.root, -1]
      } else if (!end) folder = folderAt(folder, name)
    }
    return { folder, name: parts.at(-1) ?? '', path: `/${parts.join('/')}` }
  }
  async #isFolder(path: string): Promise<boolean> {
    try {
      await this.#io.list(path)
      return true
    } catch (error) {
      return codeOf(error) !== 'ENOTDIR' && codeOf(error) !== 'ENOENT'
    }
  }
  async #noteChild(folder: Tree, path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (Object.hasOwn(folder, name)) return
    const target = await this.#linkAt(path)
    if (target !== null) folder[name] = { '->': relativeTarget(path, target) }
    else folder[name] = (await this.#isFolder(path)) ? {} : ''
  }

  async noteText(path: string, text: string): Promise<void> {
    if (!this.#isNew('read', path)) return
    const { folder, name } = await this.#place(path, true)
    folder[name] = this.#standIn(withoutSecrets(path, text))
  }
  /** Of images that are programmed nothing is recorded. */
  async notedHead(path: string, head: Uint8Array): Promise<Uint8Array> {
    if (path.endsWith(CONFIG)) await this.noteText(path, Buffer.from(head).toString('latin1'))
    return head
  }
  async noteList(path: string, names: readonly string[]): Promise<void> {
    if (!this.#isNew('list', path)) return
    const { folder, name, path: real } = await this.#place(path, true)
    const own = name === '' ? folder : folderAt(folder, name)
    for (const child of names) await this.#noteChild(own, `${real === '/' ? '' : real}/${child}`)
  }
  async noteLink(path: string): Promise<void> {
    if (!this.#isNew('link', path)) return
    const { folder, path: real } = await this.#place(path, false)
    await this.#noteChild(folder, real)
  }
}

/** Wraps the access to a host, which is not changed. `recording` is complete when the drivers are done. */
export const recorder = (io: HostIo): { readonly io: HostIo; readonly recording: () => Recording } => {
  const { cards: standIn, all } = standIns()
  const growing = new Growing(io, standIn)
  const runs: RecordedRun[] = []
  const clean = (text: string): string => standIn(outputWithoutSecrets(text))
  /** Notes what is printed, or the error, and hands it on as it is. `text`: of what came, without secrets. */
  const noted = async <Answer>(
    [program, args]: readonly [string, readonly string[]],
    ask: () => Promise<Answer>,
    text: (answer: Answer) => string,
  ): Promise<Answer> => {
    const note = { program, args: args.map(standIn) }
    try {
      const answer = await ask()
      runs.push({ ...note, output: text(answer), error: null })
      return answer
    } catch (error) {
      const output = error instanceof ProgramFailed && error.output !== '' ? clean(error.output) : null
      runs.push({ ...note, output, error: clean(textOf(error)) })
      throw error
    }
  }
  const recording: HostIo = {
    ...io,
    read: async (path) => {
      const text = await io.read(path)
      await growing.noteText(path, text)
      return text
    },
    list: async (path) => {
      const names = await io.list(path)
      await growing.noteList(path, names)
      return names
    },
    link: async (path) => {
      const target = await io.link(path)
      if (target !== null) await growing.noteLink(path)
      return target
    },
    head: async (path, bytes) => growing.notedHead(path, await io.head(path, bytes)),
    write: async () => undefined,
    keep: async () => undefined,
    change: async () => {
      throw new Error('nothing is changed while a host is recorded')
    },
    // as programs that are named by the device and by the socket; only SPDK is asked on one
    blockDevice: (path) => noted([path, [CLAIM]], () => io.blockDevice(path), JSON.stringify),
    askSocket: (path, text, timeoutMs) =>
      noted(
        [path, [text]],
        () => io.askSocket(path, text, timeoutMs),
        (answer) => JSON.stringify(recordableAnswer(answer, all)),
      ),
    run: (program, args, timeoutMs, signal) =>
      noted([program, args], () => io.run(program, args, timeoutMs, signal), clean),
  }
  return { io: recording, recording: () => ({ tree: growing.root, runs }) }
}
