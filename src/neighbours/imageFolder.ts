/** Bitstream images in a folder: files named by the image's UUID, with or without an extension. */
import type { ImageUuid } from '../identifiers.ts'
import { isUuid } from '../uuid.ts'
import { opendir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Images } from '../actors/neighbours.ts'
import { silent } from '../log.ts'
import type { Log } from '../log.ts'

type Found = Awaited<ReturnType<Images['find']>>

const UUID_LENGTH = 36
/** One extension, so that `.gbs.part` is not taken for an image before it is whole. */
const EXTENSION = /^(\.(?!tmp$|part$)[a-z0-9]{1,16})?$/
const LISTED_MAX = 100_000
const UNKNOWN: Found = { found: false, why: 'unknown' }

/** Shortest first, so that the choice does not depend on the order of the folder. */
const candidates = async (dir: string, uuid: ImageUuid): Promise<readonly string[]> => {
  const names: string[] = []
  let listed = 0
  for await (const { name } of await opendir(dir)) {
    if (++listed > LISTED_MAX) throw new Error(`more than ${LISTED_MAX} files`)
    const lower = name.toLowerCase()
    if (lower.startsWith(uuid) && EXTENSION.test(lower.slice(UUID_LENGTH))) names.push(name)
  }
  return names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
}

/** The real file, or null: a link may lead to another name in the folder, never out of it. */
const fileIn = async (dir: string, name: string): Promise<string | null> => {
  const path = await realpath(join(dir, name)).catch(() => null)
  if (path === null || /^\.\.(?:[/\\]|$)/.test(relative(dir, path))) return null
  return (await stat(path)).isFile() ? path : null
}

const findIn = async (dir: string, uuid: ImageUuid): Promise<Found> => {
  const real = await realpath(dir)
  for (const name of await candidates(real, uuid)) {
    const path = await fileIn(real, name)
    if (path !== null) return { found: true, path }
  }
  return UNKNOWN
}

/** `folder` null: none is configured. A folder that cannot be read counts as empty, and the reason is logged. */
export const imageFolder = (dir: string | null, log: Log = silent): Images => ({
  find: async (imageUuid) => {
    if (dir === null) return { found: false, why: 'none' }
    const uuid = imageUuid.toLowerCase()
    if (!isUuid(uuid)) return UNKNOWN
    try {
      return await findIn(dir, uuid)
    } catch (error) {
      log.warn({ folder: dir, error: String(error) }, 'images.unreadable')
      return UNKNOWN
    }
  },
})
