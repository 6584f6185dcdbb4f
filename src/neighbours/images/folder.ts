/**
 * Bitstream images in a folder: files named by the image's UUID, with or without an extension. A file `<uuid>.json`
 * beside an image has the description that an image service would give (`metadata.ts`): the image can then be searched
 * by properties, and its bytes are verified.
 */
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import { isUuid } from '../../vocabulary/uuid.ts'
import { opendir, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { AllImages, FoundImages, ImageCatalogue, ImageSearch } from '../../actors/neighbours.ts'
import { codeOf, textOf } from '../../vocabulary/errorText.ts'
import { type Digest, type Image, type ImageFiles, type NoImage, noImage } from '../../vocabulary/images.ts'
import { silent } from '../../vocabulary/log.ts'
import type { Log } from '../../vocabulary/log.ts'
import { bitstreamIn, COMPARED_BY, isWanted, TAG, wantedBy } from './metadata.ts'
import { digestOf } from './verify.ts'

const UUID_LENGTH = 36
/** At most one extension, so that an incomplete `.gbs.part` is not taken for an image. */
const EXTENSION = /^(\.(?!tmp$|part$|json$)[a-z0-9]{1,16})?$/
const LISTED_MAX = 100_000
const DESCRIPTION_MAX = 1024 * 1024
/** What a search looks at, for people who miss an image. */
const AMONG = 'the images in the folder that a .json file describes'
/** The digest that a host keeps of an image without one in its description. */
const OWN_ALGORITHM = 'sha256'
type Held = { readonly found: true; readonly path: string; readonly image: Image }

/** The names in a folder. */
type List = (dir: string) => AsyncIterable<string>
const namesIn: List = async function* (dir: string): AsyncGenerator<string> {
  let listed = 0
  for await (const { name } of await opendir(dir)) {
    if (++listed > LISTED_MAX) throw new Error(`more than ${LISTED_MAX} files`)
    yield name
  }
}

/** Whether the name is that of an image's file. */
const isNamed = (name: string): boolean => EXTENSION.test(name.slice(UUID_LENGTH).toLowerCase())
/** The shortest name comes first, so that the choice does not depend on the order of the folder. */
const inOrder = (names: readonly string[]): readonly string[] =>
  names.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
const candidates = async (list: List, dir: string, uuid: ImageUuid): Promise<readonly string[]> => {
  const names: string[] = []
  for await (const name of list(dir)) if (name.toLowerCase().startsWith(uuid) && isNamed(name)) names.push(name)
  return inOrder(names)
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
const described = async (path: string): Promise<object> => {
  if ((await stat(path)).size > DESCRIPTION_MAX) throw new Error(`longer than ${DESCRIPTION_MAX} bytes`)
  const json: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Error('must be a JSON object')
  return json
}
/** The image as the file beside it describes it. Without such a file, only the size is known. */
const imageAt = async (dir: string, uuid: ImageUuid, path: string): Promise<Held | NoImage> => {
  const beside = await fileIn(dir, `${uuid}.json`)
  const { size } = await stat(path)
  if (beside === null) return { found: true, path, image: bare(uuid, size) }
  try {
    const read = bitstreamIn({ size, status: 'active', tags: [TAG], ...(await described(beside)), id: uuid })
    if (!read.found) return read
    const said = read.image.size ?? size
    return said === size
      ? { ...read, path }
      : noImage('corrupt', `its description says ${said} bytes, and the file has ${size}`)
  } catch (error) {
    return noImage('unusable', `${uuid}.json: ${textOf(error)}`)
  }
}

/** `names`: those that the image's file may have. */
const firstOf = async (dir: string, uuid: ImageUuid, names: readonly string[]): Promise<Held | NoImage> => {
  for (const name of names) {
    const path = await fileIn(dir, name)
    if (path !== null) return imageAt(dir, uuid, path)
  }
  return noImage('unknown')
}

type Folder = { readonly dir: string; readonly log: Log; readonly list: List }
/** What cannot be read counts as absent, and the reason is logged. */
const orUnknown = async ({ dir, log }: Folder, found: Promise<Held | NoImage>): Promise<Held | NoImage> => {
  try {
    return await found
  } catch (error) {
    log.warn({ folder: dir, error: String(error) }, 'images.unreadable')
    return noImage('unknown')
  }
}
const findIn = async ({ dir, list }: Folder, uuid: ImageUuid): Promise<Held | NoImage> => {
  const real = await realpath(dir)
  return firstOf(real, uuid, await candidates(list, real, uuid))
}
const finder = (folder: Folder | null) => async (image: ImageUuid) => {
  if (folder === null) return noImage('none')
  const uuid = image.toLowerCase()
  return isUuid(uuid) ? orUnknown(folder, findIn(folder, uuid)) : noImage('unknown')
}

/** The names of the files of each image; with `ofDescriptions`, only of images that have a description. */
const imagesIn = async (names: AsyncIterable<string>, ofDescriptions: boolean) => {
  const files = new Map<ImageUuid, string[]>()
  const descriptions = new Set<ImageUuid>()
  for await (const name of names) {
    const uuid = name.slice(0, UUID_LENGTH).toLowerCase()
    if (!isUuid(uuid)) continue
    if (name === `${uuid}.json`) descriptions.add(uuid)
    else if (isNamed(name)) {
      const others = files.get(uuid)
      if (others === undefined) files.set(uuid, [name])
      else others.push(name)
    }
  }
  return [...files]
    .filter(([uuid]) => !ofDescriptions || descriptions.has(uuid))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
}
/** The folder is listed once, however many images it has. */
const searchIn = async (folder: Folder, wish: ImageSearch | AllImages): Promise<readonly Image[]> => {
  const real = await realpath(folder.dir)
  const images: Image[] = []
  for (const [uuid, names] of await imagesIn(folder.list(real), wish.by !== 'all')) {
    const one = await orUnknown(folder, firstOf(real, uuid, inOrder(names)))
    if (one.found) images.push(one.image)
    else if (one.why !== 'unknown') folder.log.warn({ image: uuid, why: one.why, reason: one.detail }, 'images.leftOut')
  }
  if (wish.by === 'all') return images
  const found = wantedBy(wish).map((wanted) => images.filter((one) => isWanted(one, wanted)))
  return found.find((some) => some.length > 0) ?? []
}
const foundIn = async (folder: Folder, wish: ImageSearch | AllImages): Promise<FoundImages> => {
  const images = await searchIn(folder, wish)
  return wish.by === 'all' ? { found: true, images } : { found: true, images, among: `${COMPARED_BY[wish.by]}${AMONG}` }
}

/** `dir` null: no folder is configured. */
export const folderCatalogue = (dir: string | null, log: Log = silent, list: List = namesIn): ImageCatalogue => {
  const folder = dir === null ? null : { dir, log, list }
  return {
    find: finder(folder),
    search: async (wish) => {
      if (folder === null) return noImage('none')
      try {
        return await foundIn(folder, wish)
      } catch (error) {
        log.warn({ folder: dir, error: String(error) }, 'images.unreadable')
        return noImage('unavailable', 'the folder of images cannot be read')
      }
    },
  }
}

const problemOf = (error: unknown): NoImage =>
  codeOf(error) === 'ENOENT' ? noImage('unknown') : noImage('unavailable', textOf(error))

/** The digests of files that have not changed since they were read, so that a bind need not read them again. */
const createDigests = () => {
  const known = new Map<string, string>()
  return async (path: string, algorithm: string, signal: AbortSignal): Promise<string> => {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    const mark = [algorithm, dev, ino, size, mtimeNs, ctimeNs].join(' ')
    const digest = known.get(mark) ?? (await digestOf(path, algorithm, signal))
    if (known.size >= DIGESTS_MAX) known.clear()
    known.set(mark, digest)
    return digest
  }
}
const DIGESTS_MAX = 1000

/** `dir` null: no folder is configured. The files are used in place, not copied. */
export const folderFiles = (dir: string | null, log: Log = silent): ImageFiles => {
  const find = finder(dir === null ? null : { dir, log, list: namesIn })
  const keptDigestOf = createDigests()
  return {
    open: async (uuid, { signal }) => {
      const one = await find(uuid)
      if (!one.found) return one
      const { digest: said } = one.image
      try {
        const algorithm = said?.algorithm ?? OWN_ALGORITHM
        const digest: Digest = { algorithm, value: await digestOf(one.path, algorithm, signal) }
        if (said !== null && said.value !== digest.value) return noImage('corrupt')
        return { found: true, image: { ...one.image, digest }, path: one.path, close: () => {} }
      } catch (error) {
        return problemOf(error)
      }
    },
    compare: async (uuid, digest, { signal }) => {
      const one = await find(uuid)
      if (!one.found) return one
      try {
        const isSame = digest && (await keptDigestOf(one.path, digest.algorithm, signal)) === digest.value
        return { ...one, isSame }
      } catch (error) {
        return problemOf(error)
      }
    },
  }
}
