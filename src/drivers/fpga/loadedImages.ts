/**
 * Which image a driver has loaded into each deployable. A card does not know the id of an image, so the driver keeps it in a file, together with
 * what the card itself showed after the image was loaded. When the card shows something else, the image is no longer the one.
 */
import * as v from 'valibot'
import type { HostIo } from '../driver.ts'
import { oneAtATime, readByRules, readIfThere } from '../files.ts'

const Loaded = v.object({
  image: v.pipe(v.string(), v.maxLength(100)),
  shows: v.string(),
  /** What the image does, where the image store says it. */
  functionId: v.optional(v.string()),
})
const File = v.object({
  loaded: v.record(v.string(), Loaded),
  /** During which run of the kernel that was seen. A file of an earlier release does not say it. */
  boot: v.optional(v.string()),
  /** What each card showed when it could last be asked. */
  seen: v.optional(v.record(v.string(), v.string()), () => ({})),
})
type State = v.InferOutput<typeof File>
export type LoadedImage = Readonly<v.InferOutput<typeof Loaded>>

/** Another one with each start of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
/** After a restart of the machine a card may hold something else, so that what it showed before says nothing any more. */
const ofThisRun = (state: State, boot: string): State =>
  state.boot === undefined || boot === '' || state.boot === boot ? state : { ...state, seen: {} }

/** What a card shows now. `hidden`: a guest has the function that shows it. */
export type Showing = { readonly deployable: string; readonly shows: string; readonly hidden: boolean }

export type LoadedImages = {
  /** The image of the deployable that shows this now; undefined: not known. */
  readonly read: (io: HostIo) => Promise<(deployable: string, shows: string) => LoadedImage | undefined>
  /**
   * By deployable: what it shows, or what it showed before a guest took the function, since the machine was started: what is reported of a card must not
   * change because it is bound.
   */
  readonly shown: (io: HostIo, cards: readonly Showing[]) => Promise<(deployable: string) => string>
  readonly note: (io: HostIo, deployable: string, loaded: LoadedImage) => Promise<void>
  /** Before the card is written: what is on it is not known until the end. */
  readonly forget: (io: HostIo, deployable: string) => Promise<void>
}

export const loadedImages = (driver: string): LoadedImages => {
  const inTurn = oneAtATime()
  const pathOf = (io: HostIo): string => `${io.stateDir}/${driver}.loaded.json`
  const now = async (io: HostIo): Promise<State> => {
    const text = await readIfThere(io, pathOf(io))
    return text === null ? { loaded: {}, seen: {} } : readByRules(File, text, pathOf(io))
  }
  const changed = (io: HostIo, made: (before: State) => State): Promise<void> =>
    inTurn(async () => {
      const before = await now(io)
      const text = JSON.stringify(made(before))
      if (text !== JSON.stringify(before)) await io.keep(pathOf(io), text)
    })
  const change = (io: HostIo, made: (loaded: State['loaded']) => State['loaded']): Promise<void> =>
    changed(io, ({ loaded, ...rest }) => ({ loaded: made(loaded), ...rest }))
  return {
    shown: async (io, cards) => {
      const boot = ((await readIfThere(io, BOOT_ID)) ?? '').trim()
      const { seen } = ofThisRun(await now(io), boot)
      const last = new Map(Object.entries(seen))
      for (const { deployable, shows, hidden } of cards) if (!hidden && shows !== '') last.set(deployable, shows)
      const run = boot === '' ? {} : { boot }
      await changed(io, ({ loaded }) => ({ loaded, ...run, seen: Object.fromEntries(last) }))
      const plain = new Map(cards.map(({ deployable, shows, hidden }) => [deployable, hidden ? null : shows]))
      return (deployable) => plain.get(deployable) ?? last.get(deployable) ?? ''
    },
    read: async (io) => {
      const { loaded } = await now(io)
      return (deployable, shows) =>
        Object.hasOwn(loaded, deployable) && loaded[deployable]!.shows === shows ? loaded[deployable] : undefined
    },
    note: (io, deployable, one) => change(io, (loaded) => ({ ...loaded, [deployable]: one })),
    forget: (io, deployable) =>
      change(io, (loaded) => Object.fromEntries(Object.entries(loaded).filter(([name]) => name !== deployable))),
  }
}

/** The id of the image in a file that is named by it, with or without an extension. */
export const imageIdOf = (imagePath: string): string =>
  imagePath.slice(imagePath.lastIndexOf('/') + 1).replace(/(?<=.)\.[^.]*$/, '')
