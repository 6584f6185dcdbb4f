/**
 * Which image a driver has loaded into each deployable. A card does not know the id of an image, so the driver keeps it in a file, together with
 * what the card itself showed after the image was loaded. When the card shows something else, the image is no longer the one.
 */
import * as v from 'valibot'
import type { HostIo } from '../driver.ts'
import { oneAtATime, readByRules, readIfThere } from '../files.ts'

const File = v.object({
  loaded: v.record(v.string(), v.object({ image: v.pipe(v.string(), v.maxLength(100)), shows: v.string() })),
})
type Loaded = v.InferOutput<typeof File>

export type LoadedImages = {
  /** The image of the deployable that shows this now; undefined: not known. */
  readonly read: (io: HostIo) => Promise<(deployable: string, shows: string) => string | undefined>
  readonly note: (io: HostIo, deployable: string, image: string, shows: string) => Promise<void>
  /** Before the card is written: what is on it is not known until the end. */
  readonly forget: (io: HostIo, deployable: string) => Promise<void>
}

export const loadedImages = (driver: string): LoadedImages => {
  const inTurn = oneAtATime()
  const pathOf = (io: HostIo): string => `${io.stateDir}/${driver}.loaded.json`
  const now = async (io: HostIo): Promise<Loaded> => {
    const text = await readIfThere(io, pathOf(io))
    return text === null ? { loaded: {} } : readByRules(File, text, pathOf(io))
  }
  const change = (io: HostIo, made: (loaded: Loaded['loaded']) => Loaded['loaded']): Promise<void> =>
    inTurn(async () => io.write(pathOf(io), JSON.stringify({ loaded: made((await now(io)).loaded) })))
  return {
    read: async (io) => {
      const { loaded } = await now(io)
      return (deployable, shows) =>
        Object.hasOwn(loaded, deployable) && loaded[deployable]!.shows === shows ? loaded[deployable]!.image : undefined
    },
    note: (io, deployable, image, shows) => change(io, (loaded) => ({ ...loaded, [deployable]: { image, shows } })),
    forget: (io, deployable) =>
      change(io, (loaded) => Object.fromEntries(Object.entries(loaded).filter(([name]) => name !== deployable))),
  }
}

/** The id of the image in a file that is named by it, with or without an extension. */
export const imageIdOf = (imagePath: string): string =>
  imagePath.slice(imagePath.lastIndexOf('/') + 1).replace(/(?<=.)\.[^.]*$/, '')
