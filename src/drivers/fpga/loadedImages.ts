/**
 * Which image a driver has loaded into each deployable. A card does not know the id of an image, so the driver keeps it
 * in a file, together with what the card itself showed after the image was loaded. When the card shows something else,
 * the image is no longer the one.
 *
 * LOADED-1 what is known of a card follows it to another address, and another card at its address has nothing of it.
 *    That is looked at with each discovery, when all cards are known; what cards do not tell is no difference;
 * LOADED-2 of a card that is not found while another one has its place, nothing is known any more: it was without
 *    power.
 */
import { Card, likeness, remembered } from '../../vocabulary/card.ts'
import type { LoadedFacts } from '../../vocabulary/hardware.ts'
import type { DeployableName } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { HostIo } from '../driver.ts'
import { oneAtATime, readByRules, readIfThere } from '../files.ts'

const Loaded = v.object({
  image: v.pipe(v.string(), v.maxLength(100)),
  shows: v.string(),
  /** What the image does, where the image store says it. */
  functionId: v.optional(v.string()),
  /** The digest of its bytes. Drivers before release 0.4.0 did not keep it. */
  digest: v.optional(v.string()),
})
const File = v.object({
  loaded: v.record(v.string(), Loaded),
  /** The card of each deployable of which anything is known. Drivers before release 0.4.0 did not keep it. */
  cards: v.optional(v.record(v.string(), Card), () => ({})),
  /** During which run of the kernel that was seen. A file of an earlier release does not say it. */
  boot: v.optional(v.string()),
  /** What each card showed when it could last be asked. */
  seen: v.optional(v.record(v.string(), v.string()), () => ({})),
})
type State = v.InferOutput<typeof File>
type Known = Pick<State, 'loaded' | 'seen' | 'cards'>
export type LoadedImage = Readonly<v.InferOutput<typeof Loaded>>

/** Another one with each start of the machine. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
/**
 * After a restart of the machine a card may hold something else, so that what it showed before says nothing any more.
 */
const ofThisRun = (state: State, boot: string): State =>
  state.boot === undefined || boot === '' || state.boot === boot ? state : { ...state, seen: {} }

/** What a card shows now. `hidden`: a guest has the function that shows it. */
export type Showing = {
  readonly deployable: DeployableName
  readonly shows: string
  readonly hidden: boolean
  /** Null: the card cannot be read. */
  readonly card: Card | null
}

export type LoadedImages = {
  /** The image of the deployable that shows this now; undefined: not known. */
  readonly read: (io: HostIo) => Promise<(deployable: DeployableName, shows: string) => LoadedImage | undefined>
  /** Rises whenever a card is going to be written or has been written. To be asked before cards are read. */
  readonly writes: () => number
  /**
   * By deployable: what it shows, or what it showed before a guest took the function, since the machine was started:
   * what is reported of a card must not change because it is bound. What was read of a card that was written after
   * `since` is not kept, and counts only where nothing else is known. `cards`: all of the driver; what is known of them
   * is at their present names afterwards.
   */
  readonly shown: (
    io: HostIo,
    cards: readonly Showing[],
    since: number,
  ) => Promise<(deployable: DeployableName) => string>
  /**
   * Called after the card was written. `seen`: what the card shows now, in the form that `shown` takes. It is noted at
   * once because a guest may take the function before the next look.
   */
  readonly note: (io: HostIo, now: Omit<Showing, 'hidden'>, loaded: LoadedImage) => Promise<void>
  /** Before the card is written: what is on it is not known until the end. */
  readonly forget: (io: HostIo, deployable: DeployableName) => Promise<void>
}

const without = <Value>(all: Readonly<Record<string, Value>>, name: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== name))

type Names<Value> = Readonly<Record<string, Value>>
const renamed = <Value>(all: Names<Value>, to: ReadonlyMap<string, string>): Record<string, Value> =>
  Object.fromEntries([...to].flatMap(([from, name]) => (Object.hasOwn(all, from) ? [[name, all[from]!]] : [])))

/** LOADED-1, LOADED-2 */
const followed = ({ loaded, seen, cards }: Known, now: ReadonlyMap<string, Card>): Known => {
  const [staying, moved]: [[string, string][], [string, string][]] = [[], []]
  for (const name of new Set([...Object.keys(loaded), ...Object.keys(seen)])) {
    const own = Object.hasOwn(cards, name) ? cards[name] : undefined
    const there = now.get(name)
    const like = own && there ? likeness(own, there) : 'alike'
    const homes = own ? [...now].filter(([, one]) => likeness(own, one) === 'same').map(([home]) => home) : []
    if (like !== 'same' && homes.length === 1) moved.push([name, homes[0]!])
    else if (like !== 'other') staying.push([name, name])
  }
  const taken = new Set(moved.map(([, name]) => name))
  const to = new Map([...staying.filter(([name]) => !taken.has(name)), ...moved])
  const known = new Map(Object.entries(renamed(cards, to)))
  for (const name of to.values()) if (now.has(name)) known.set(name, remembered(known.get(name), now.get(name)!))
  return { loaded: renamed(loaded, to), seen: renamed(seen, to), cards: Object.fromEntries(known) }
}

const bootOf = async (io: HostIo): Promise<string> => ((await readIfThere(io, BOOT_ID)) ?? '').trim()

const textOf = ({ loaded, boot, seen, cards: all }: State): string => {
  const known = Object.entries(all).filter(([name]) => Object.hasOwn(loaded, name) || Object.hasOwn(seen, name))
  return JSON.stringify({ loaded, boot, seen, ...(known.length > 0 && { cards: Object.fromEntries(known) }) })
}

/** The file of a driver. */
const stateOf = (driver: string) => {
  const inTurn = oneAtATime()
  const pathOf = (io: HostIo): string => `${io.stateDir}/${driver}.loaded.json`
  const now = async (io: HostIo): Promise<State> => {
    const text = await readIfThere(io, pathOf(io))
    return text === null ? { loaded: {}, seen: {}, cards: {} } : readByRules(File, text, pathOf(io))
  }
  const changed = async (io: HostIo, made: (before: Known) => Known): Promise<void> => {
    const boot = await bootOf(io)
    await inTurn(async () => {
      const before = await now(io)
      const after = textOf({ ...made(ofThisRun(before, boot)), ...(boot === '' ? {} : { boot }) })
      if (after !== textOf(before)) await io.keep(pathOf(io), after)
    })
  }
  return { now, changed }
}

export const loadedImages = (driver: string): LoadedImages => {
  const { now, changed } = stateOf(driver)
  let writes = 0
  const writtenAt = new Map<string, number>()
  const written = (io: HostIo, deployable: DeployableName, made: (before: Known) => Known): Promise<void> =>
    changed(io, (before) => {
      writtenAt.set(deployable, ++writes)
      return made(before)
    })
  return {
    writes: () => writes,
    shown: async (io, cards, since) => {
      const shown = new Map<string, string>()
      const now = new Map(cards.flatMap(({ deployable, card }) => (card === null ? [] : [[deployable, card] as const])))
      await changed(io, (before) => {
        const { loaded, seen, cards: known } = followed(before, now)
        const last = new Map(Object.entries(seen))
        for (const { deployable, shows, hidden } of cards) {
          const isOld = (writtenAt.get(deployable) ?? 0) > since
          if (!hidden && !isOld && shows !== '') last.set(deployable, shows)
          const known = hidden || isOld ? last.get(deployable) : shows
          shown.set(deployable, known ?? (hidden ? '' : shows))
        }
        return { loaded, seen: Object.fromEntries(last), cards: { ...Object.fromEntries(now), ...known } }
      })
      return (deployable) => shown.get(deployable) ?? ''
    },
    read: async (io) => {
      const { loaded } = await now(io)
      return (deployable, shows) =>
        Object.hasOwn(loaded, deployable) && loaded[deployable]!.shows === shows ? loaded[deployable] : undefined
    },
    note: (io, { deployable, shows, card }, one) =>
      written(io, deployable, ({ loaded, seen, cards }) => ({
        loaded: { ...loaded, [deployable]: one },
        seen: { ...without(seen, deployable), ...(shows === '' ? {} : { [deployable]: shows }) },
        cards: { ...without(cards, deployable), ...(card === null ? {} : { [deployable]: card }) },
      })),
    forget: (io, deployable) =>
      written(io, deployable, ({ loaded, seen, cards }) => ({
        loaded: without(loaded, deployable),
        seen: without(seen, deployable),
        cards: without(cards, deployable),
      })),
  }
}

/** What is reported of the image that a card holds; undefined: none is known. */
export const reportedImage = (
  loaded: LoadedImage | undefined,
): { readonly bitstreamId?: string; readonly bitstream?: LoadedFacts } => {
  if (loaded === undefined) return {}
  const { image, digest, functionId } = loaded
  const facts = { ...(digest === undefined ? {} : { digest }), ...(functionId === undefined ? {} : { functionId }) }
  return { bitstreamId: image, ...(Object.keys(facts).length > 0 && { bitstream: facts }) }
}

/** The id of the image in a file that is named by it, with or without an extension. */
export const imageIdOf = (imagePath: string): string =>
  imagePath.slice(imagePath.lastIndexOf('/') + 1).replace(/(?<=.)\.[^.]*$/, '')
