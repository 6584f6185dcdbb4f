/**
 * The folder in which a host stores images, by digest.
 *
 * CACHE-1 an image has a folder with `bits` (complete, verified) or `part` (incomplete), and a link to `bits` and a
 *    description (`.json`) for each UUID of the image;
 * CACHE-2 when room is needed, the least recently used images are deleted first, but never an image that is in use or
 *    being downloaded;
 * CACHE-3 files whose names do not have the form of this cache are not touched.
 */
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import { link, mkdir, open, opendir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../vocabulary/clock.ts'
import { createKeyedMutex } from '../../vocabulary/keyedMutex.ts'

export type CachePaths = { readonly dir: string; readonly whole: string; readonly part: string }
/**
 * An image in the cache. `description`: the text that was kept for its UUID; null: none, as releases before left it.
 */
export type CachedImage = { readonly key: string; readonly description: string | null }
export type ImageCache = {
  readonly place: (key: string) => CachePaths
  /** Protects the image from deletion until the returned function is called. */
  readonly pin: (key: string) => () => void
  /**
   * Makes the folder of an image and frees this many bytes for it. False: there is not enough room beside the images in
   * use.
   */
  readonly reserve: (key: string, bytes: number) => Promise<boolean>
  /** Deletes the complete file, its links and its descriptions; a partial download of a new file stays. */
  readonly clear: (key: string) => Promise<void>
  /** The verified file under a name that drivers understand. */
  readonly named: (key: string, name: string) => Promise<string>
  /** Keeps the description of the image with this UUID, instead of an earlier one. */
  readonly describe: (key: string, uuid: ImageUuid, text: string) => Promise<void>
  /** Removes every description that was kept for this UUID; the bytes stay. */
  readonly forget: (uuid: ImageUuid) => Promise<void>
  /**
   * What the cache has of the image with this UUID: it may have been stored again with other bytes, or got a digest.
   * The name of its link is `<uuid>` with any extension.
   */
  readonly find: (uuid: ImageUuid) => Promise<readonly CachedImage[]>
}
const KEY = /^[a-z0-9-]{1,20}_[0-9a-f-]{32,128}$/
const ENTRIES_MAX = 10_000
/** Longer files are not read. */
const DESCRIPTION_MAX = 8 * 1024 * 1024
type Entry = { readonly key: string; readonly bytes: number; readonly usedAt: number }

export const sizeOf = async (path: string): Promise<number> => {
  const found = await stat(path).catch(() => null)
  return found?.isFile() ? found.size : 0
}
/** Makes renames in this folder survive a crash of the machine. */
export const syncFolder = async (dir: string): Promise<void> => {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const pathsIn = (dir: string, key: string): CachePaths => {
  const folder = join(dir, key)
  return { dir: folder, whole: join(folder, 'bits'), part: join(folder, 'part') }
}
const descriptionAt = ({ dir }: CachePaths, uuid: ImageUuid): string => join(dir, `${uuid}.json`)
const descriptionIn = async (path: string): Promise<string | null> => {
  const bytes = await sizeOf(path)
  return bytes === 0 || bytes > DESCRIPTION_MAX ? null : readFile(path, 'utf8').catch(() => null)
}
const keysIn = async (dir: string): Promise<readonly string[]> => {
  const found: string[] = []
  for await (const { name } of await opendir(dir)) {
    if (KEY.test(name)) found.push(name)
    if (found.length > ENTRIES_MAX) throw new Error(`more than ${ENTRIES_MAX} images are kept`)
  }
  return found
}
const entryAt = async (key: string, { dir, whole, part }: CachePaths): Promise<Entry> => {
  const found = await stat(dir).catch(() => null)
  return { key, bytes: (await sizeOf(whole)) + (await sizeOf(part)), usedAt: found?.mtimeMs ?? 0 }
}

const foundIn = async (dir: string, uuid: ImageUuid): Promise<readonly CachedImage[]> => {
  const found: CachedImage[] = []
  for (const key of await keysIn(dir).catch(() => [])) {
    const paths = pathsIn(dir, key)
    const names = await readdir(paths.dir).catch(() => [])
    if (!names.some((name) => name.startsWith(uuid))) continue
    found.push({ key, description: await descriptionIn(descriptionAt(paths, uuid)) })
  }
  return found
}

/** The images in use, and the bytes that each running download will need. */
const createUses = () => {
  const pinned = new Map<string, number>()
  const reserved = new Map<string, number>()
  const unpin = (key: string): void => {
    const left = pinned.get(key)! - 1
    if (left > 0) return void pinned.set(key, left)
    pinned.delete(key)
    reserved.delete(key)
  }
  return {
    reserved,
    isPinned: (key: string): boolean => pinned.has(key),
    pin: (key: string) => {
      pinned.set(key, (pinned.get(key) ?? 0) + 1)
      let done = false
      return () => {
        if (!done) unpin(key)
        done = true
      }
    },
  }
}

export const createImageCache = (dir: string, maxBytes: number, clock: Clock): ImageCache => {
  const mutex = createKeyedMutex(clock)
  const { reserved, isPinned, pin } = createUses()
  const place = (key: string): CachePaths => pathsIn(dir, key)
  const makeRoom = async (key: string, bytes: number): Promise<boolean> => {
    const others = (await keysIn(dir)).filter((one) => one !== key)
    const found = await Promise.all(others.map((one) => entryAt(one, place(one))))
    const entries = found.map((one) => ({ ...one, bytes: Math.max(one.bytes, reserved.get(one.key) ?? 0) }))
    let total = entries.reduce((sum, one) => sum + one.bytes, bytes)
    for (const one of entries.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (total <= maxBytes) break
      if (isPinned(one.key)) continue
      await rm(place(one.key).dir, { recursive: true, force: true })
      total -= one.bytes
    }
    return total <= maxBytes
  }
  return {
    place,
    pin,
    reserve: (key, bytes) =>
      mutex.run('room', async () => {
        await mkdir(place(key).dir, { recursive: true })
        if (!(await makeRoom(key, bytes))) return false
        reserved.set(key, bytes)
        return true
      }),
    clear: async (key) => {
      const { dir: folder, part } = place(key)
      const names = await readdir(folder).catch(() => [])
      const paths = names.map((name) => join(folder, name)).filter((path) => path !== part)
      await Promise.all(paths.map((path) => rm(path, { force: true })))
    },
    named: async (key, name) => {
      const { dir: folder, whole } = place(key)
      const path = join(folder, name)
      await link(whole, path).catch(async (error: unknown) => {
        if ((await sizeOf(path)) === 0) throw error
      })
      const now = clock.now() / 1000
      await utimes(folder, now, now)
      return path
    },
    describe: (key, uuid, text) =>
      mutex.run(`description ${key}`, async () => {
        const path = descriptionAt(place(key), uuid)
        if ((await descriptionIn(path)) === text) return
        await writeFile(`${path}.part`, text)
        await rename(`${path}.part`, path)
      }),
    forget: async (uuid) => {
      for (const { key } of await foundIn(dir, uuid))
        await mutex.run(`description ${key}`, () => rm(descriptionAt(place(key), uuid), { force: true }))
    },
    find: (uuid) => foundIn(dir, uuid),
  }
}
