/**
 * Bitstream images in a folder: files named by the image's UUID, with or without an extension. A file `<uuid>.json`
 * beside an image has the description that an image service would give (`metadata.ts`): the image can then be searched
 * by properties, and its bytes are verified.
 */
import type { ImageUuid } from '../../identifiers.ts'
import { isUuid } from '../../uuid.ts'
import { opendir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { ImageCatalogue } from '../../actors/neighbours.ts'
import { codeOf, textOf } from '../../errorText.ts'
import { type Image, type ImageFiles, type NoImage, noImage } from '../../images.ts'
import { silent } from '../../log.ts'
import type { Log } from '../../log.ts'
import { bitstreamIn, SEARCHED, TAG } from './metadata.ts'
import { matches } from './verify.ts'

const UUID_LENGTH = 36
/** At most one extension, so that an incomplete `.gbs.part` is not taken for an image. */
const EXTENSION = /^(\.(?!tmp$|part$|json$)[a-z0-9]{1,16})?$/
const LISTED_MAX = 100_000
const DESCRIPTION_MAX = 1024 * 1024
type Held = { readonly found: true; readonly path: string; readonly image: Image }

const namesIn = async function* (dir: string): AsyncGenerator<string> {
  let listed = 0
  for await (const { name } of await opendir(dir)) {
    if (++listed > LISTED_MAX) throw new Error(`more than ${LISTED_MAX} files`)
    yield name
  }
}

/** The shortest name comes first, so that the choice does not depend on the order of the folder. */
const candidates = async (dir: string, uuid: ImageUuid): Promise<readonly string[]> => {
  const names: string[] = []
  for await (const name of namesIn(dir)) {
    const lower = name.toLowerCase()
    if (lower.startsWith(uuid) && EXTENSION.test(lower.slice(UUID_LENGTH))) names.push(name)
  }
  return names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
}

/**
 * The path of the real file; null: there is none inside the folder. A link may lead to another name in the folder,
 * never out of it.
 */
const fileIn = async (dir: string, name: string): Promise<string | null> => {
  const path = await realpath(join(dir, name)).catch(() => null)
  if (path === null || /^\.\.(?:[/\\]|$)/.test(relative(dir, path))) return null
  return (await stat(path)).isFile() ? path : null
}

const bare = (uuid: ImageUuid, size: number): Image => ({
  uuid,
  name: null,
  size,
  digest: null,
  tags: [TAG],
  properties: {},
})
const described = async (path: string): Promise<unknown> => {
  if ((await stat(path)).size > DESCRIPTION_MAX) throw new Error(`longer than ${DESCRIPTION_MAX} bytes`)
  return JSON.parse(await readFile(path, 'utf8'))
}
/** The image as the file beside it describes it. Without such a file, only the size is known. */
const imageAt = async (dir: string, uuid: ImageUuid, path: string): Promise<Held | NoImage> => {
  const beside = await fileIn(dir, `${uuid}.json`)
  const { size } = await stat(path)
  if (beside === null) return { found: true, path, image: bare(uuid, size) }
  try {
    const description = await described(beside)
    const read = bitstreamIn({ size, status: 'active', tags: [TAG], ...(description as object), id: uuid })
    return read.found ? { ...read, path } : read
  } catch (error) {
    return noImage('unusable', `${uuid}.json: ${textOf(error)}`)
  }
}

const findIn = async (dir: string, uuid: ImageUuid): Promise<Held | NoImage> => {
  const real = await realpath(dir)
  for (const name of await candidates(real, uuid)) {
    const path = await fileIn(real, name)
    if (path !== null) return imageAt(real, uuid, path)
  }
  return noImage('unknown')
}

/** A folder that cannot be read counts as empty, and the reason is logged. */
const finder = (dir: string | null, log: Log) => async (image: ImageUuid) => {
  if (dir === null) return noImage('none')
  const uuid = image.toLowerCase()
  if (!isUuid(uuid)) return noImage('unknown')
  try {
    return await findIn(dir, uuid)
  } catch (error) {
    log.warn({ folder: dir, error: String(error) }, 'images.unreadable')
    return noImage('unknown')
  }
}

/** The images whose files the folder has; with `ofDescriptions`, those that have a description. */
const imagesIn = async (dir: string, ofDescriptions: boolean): Promise<readonly ImageUuid[]> => {
  const found = new Set<ImageUuid>()
  for await (const name of namesIn(dir)) {
    const uuid = name.slice(0, UUID_LENGTH)
    const is = ofDescriptions ? name === `${uuid}.json` : EXTENSION.test(name.slice(UUID_LENGTH).toLowerCase())
    if (is && isUuid(uuid)) found.add(uuid)
  }
  return [...found].toSorted()
}

/** `dir` null: no folder is configured. */
export const folderCatalogue = (dir: string | null, log: Log = silent): ImageCatalogue => {
  const find = finder(dir, log)
  return {
    find,
    search: async (wish) => {
      const fits = ({ properties }: Image): boolean =>
        wish.by === 'all' || SEARCHED[wish.by].some((key) => properties[key] === wish.value)
      if (dir === null) return noImage('none')
      try {
        const images: Image[] = []
        for (const uuid of await imagesIn(dir, wish.by !== 'all')) {
          const one = await find(uuid)
          if (one.found && fits(one.image)) images.push(one.image)
        }
        return { found: true, images }
      } catch (error) {
        log.warn({ folder: dir, error: String(error) }, 'images.unreadable')
        return noImage('unavailable', 'the folder of images cannot be read')
      }
    },
  }
}

/** `dir` null: no folder is configured. The files are used in place, not copied. */
export const folderFiles = (dir: string | null, log: Log = silent): ImageFiles => {
  const find = finder(dir, log)
  return {
    open: async (uuid, { signal }) => {
      const one = await find(uuid)
      if (!one.found) return one
      const { digest } = one.image
      try {
        if (digest !== null && !(await matches(one.path, digest, signal))) return noImage('corrupt')
        return { found: true, image: one.image, path: one.path, close: () => {} }
      } catch (error) {
        return codeOf(error) === 'ENOENT' ? noImage('unknown') : noImage('unavailable', textOf(error))
      }
    },
  }
}
