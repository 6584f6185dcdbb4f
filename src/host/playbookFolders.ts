/**
 * Reads the folders of playbooks: the playbooks that a driver has, and a digest of all its files. Only reads, within
 * limits.
 */
import { join } from 'node:path'
import { codeOf, textOf } from '../vocabulary/errorText.ts'
import type { HostIo } from '../drivers/driver.ts'
import { canonicalJson, sha256 } from '../wire/canonical.ts'
import { type Folder, PLAYBOOKS } from './playbookPlan.ts'

export type Reading = Pick<HostIo, 'list' | 'head' | 'read'>

const FILES_MAX = 1000
const DEPTH_MAX = 10
const FILE_MAX_BYTES = 4 * 1024 * 1024

/** Null: the path is that of a file. */
const namesIn = async ({ list }: Reading, path: string): Promise<readonly string[] | null> => {
  try {
    return await list(path)
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return null
    throw error
  }
}
/** Leaves out files whose names begin with a dot, and the retry files of Ansible. */
const isContent = (name: string): boolean => !name.startsWith('.') && !name.endsWith('.retry')

const contentOf = async (io: Reading, path: string, found: Map<string, string>, depth = 0): Promise<void> => {
  const names = await namesIn(io, path)
  if (names === null) {
    const bytes = await io.head(path, FILE_MAX_BYTES + 1)
    if (bytes.length > FILE_MAX_BYTES) throw new Error(`${path}: must not be longer than ${FILE_MAX_BYTES} bytes`)
    if (found.size === FILES_MAX)
      throw new Error(`${path}: a driver's folder must not hold more than ${FILES_MAX} files`)
    found.set(path, sha256(Buffer.from(bytes).toString('base64')))
    return
  }
  if (depth === DEPTH_MAX) throw new Error(`${path}: folders must not be deeper than ${DEPTH_MAX}`)
  for (const name of names.filter(isContent)) await contentOf(io, join(path, name), found, depth + 1)
}

/** Returns the folder; a text: why it cannot be read. */
const folderOf = async (io: Reading, path: string): Promise<Folder> => {
  try {
    const found = new Map<string, string>()
    await contentOf(io, path, found)
    const has = PLAYBOOKS.filter((playbook) => found.has(join(path, `${playbook}.yml`)))
    return { digest: sha256(canonicalJson([...found])), has }
  } catch (error) {
    return textOf(error)
  }
}

/**
 * Returns the folders by driver; drivers without a folder are left out. If `dir` cannot be read, every driver gets the
 * reason.
 */
export const foldersIn = async (
  io: Reading,
  dir: string,
  drivers: readonly string[],
): Promise<ReadonlyMap<string, Folder>> => {
  try {
    const there = new Set(await io.list(dir))
    const found = drivers.filter((driver) => there.has(driver))
    return new Map(
      await Promise.all(found.map(async (driver) => [driver, await folderOf(io, join(dir, driver))] as const)),
    )
  } catch (error) {
    return new Map(drivers.map((driver) => [driver, textOf(error)] as const))
  }
}

/** Returns the id of the machine's present start; empty where the kernel does not tell it. */
export const machineStart = async ({ read }: Reading): Promise<string> => {
  try {
    return (await read('/proc/sys/kernel/random/boot_id')).trim()
  } catch {
    return ''
  }
}
