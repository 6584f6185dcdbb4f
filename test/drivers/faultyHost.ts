/**
 * A host on which chosen reads, listings, links, programs and sockets answer something else, fail or never end; and one
 * look of all drivers at it.
 */
import type { Cancel, Clock } from '../../src/vocabulary/clock.ts'
import type { BlockDevice, Driver, HostIo } from '../../src/drivers/driver.ts'
import { type Section, Watch } from '../../src/host/sections.ts'

export type Fault =
  | { readonly as: 'error'; readonly code: string }
  | { readonly as: 'answer'; readonly text: string; readonly names: readonly string[] }
  | { readonly as: 'permuted'; readonly by: number }
  | { readonly as: 'never' }
/** By access: `read PATH`, `list PATH`, `link PATH`, `head PATH`, `run PROGRAM ARGS`, `ask PATH TEXT`, `look PATH`. */
export type Faults = ReadonlyMap<string, Fault>

export type FaultyHost = HostIo & {
  /** All accesses until now. */
  readonly accesses: ReadonlySet<string>
  /** How many accesses have begun, and how many of them will never end. */
  readonly counts: () => { readonly begun: number; readonly never: number }
}

const errorOf = (code: string, access: string): Error => Object.assign(new Error(`${code}: ${access}`), { code })
export const permuted = <Item>(items: readonly Item[], by: number): readonly Item[] =>
  items
    .map((item, at) => ({ item, key: Math.imul(at + 1, 2 * by + 1) % 1009 }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item)

export const faultyHost = (host: HostIo, faultAt: (access: string) => Fault | undefined): FaultyHost => {
  const accesses = new Set<string>()
  let [begun, never] = [0, 0]
  const asked = async <Answer>(
    access: string,
    sane: () => Promise<Answer>,
    { text, list }: { readonly text: (text: string) => Answer; readonly list?: (names: readonly string[]) => Answer },
  ): Promise<Answer> => {
    accesses.add(access)
    begun++
    const fault = faultAt(access)
    if (fault?.as === 'error') throw errorOf(fault.code, access)
    if (fault?.as === 'answer') return list === undefined ? text(fault.text) : list(fault.names)
    if (fault?.as === 'never') {
      never++
      return new Promise(() => {})
    }
    const answer = await sane()
    return fault?.as === 'permuted' && list !== undefined && Array.isArray(answer)
      ? list(permuted(answer as readonly string[], fault.by))
      : answer
  }
  const text = (one: string): string => one
  return {
    ...host,
    accesses,
    counts: () => ({ begun, never }),
    read: (path) => asked(`read ${path}`, () => host.read(path), { text }),
    link: (path) => asked<string | null>(`link ${path}`, () => host.link(path), { text }),
    list: (path) => asked(`list ${path}`, () => host.list(path), { text: (one) => [one], list: (names) => names }),
    head: (path, bytes) =>
      asked(`head ${path}`, () => host.head(path, bytes), { text: (one) => Buffer.from(one).subarray(0, bytes) }),
    run: (program, args, timeoutMs, signal) =>
      asked(`run ${program} ${args.join(' ')}`, () => host.run(program, args, timeoutMs, signal), { text }),
    change: (card, program, args, timeoutMs, signal) =>
      asked(`run ${program} ${args.join(' ')}`, () => host.change(card, program, args, timeoutMs, signal), { text }),
    blockDevice: (path) =>
      asked<BlockDevice>(`look ${path}`, () => host.blockDevice(path), {
        text: (number) => ({ number, isClaimed: false }),
      }),
    // the real one decodes the answer, or says that it is no JSON
    askSocket: (path, question, timeoutMs) =>
      asked<unknown>(`ask ${path} ${question}`, () => host.askSocket(path, question, timeoutMs), {
        text: (one) => JSON.parse(one) as unknown,
      }),
  }
}

/**
 * Hosts that are the same but for what drivers keep: of that each has nothing at first. The host behind them must not
 * change, because it is asked for each answer only once.
 */
export const sameHosts = (host: HostIo): (() => HostIo) => {
  const known = new Map<string, Promise<unknown>>()
  const once = <Answer>(key: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = (known.get(key) as Promise<Answer> | undefined) ?? ask()
    known.set(key, answer)
    return answer
  }
  return () => {
    const kept = new Map<string, string>()
    const keep = async (path: string, text: string): Promise<void> => void kept.set(path, text)
    return {
      ...host,
      read: async (path) => kept.get(path) ?? once(`read ${path}`, () => host.read(path)),
      list: (path) => once(`list ${path}`, () => host.list(path)),
      link: (path) => once(`link ${path}`, () => host.link(path)),
      keep,
      write: keep,
    }
  }
}

/** A clock whose time passes when it is told. */
const heldClock = (): Clock & { readonly pass: () => void } => {
  const waiting = new Set<() => void>()
  return {
    now: () => 0,
    monotonic: () => 0,
    after: (_ms, run): Cancel => {
      waiting.add(run)
      return () => void waiting.delete(run)
    },
    pass: () => {
      for (const run of waiting) run()
      waiting.clear()
    },
  }
}
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const QUIET_TURNS = 20
/** The result of the work; when nothing moves any more because an access never ends, time passes. */
const ended = async <Result>(work: Promise<Result>, host: FaultyHost, pass: () => void): Promise<Result> => {
  let settled = false
  const done = work.finally(() => (settled = true))
  done.catch(() => undefined)
  for (let quiet = 0, before = -1; !settled;) {
    await nextTurn()
    const { begun, never } = host.counts()
    quiet = begun === before ? quiet + 1 : 0
    before = begun
    if (never > 0 && quiet > QUIET_TURNS) pass()
  }
  return done
}

export type Looked = {
  readonly sections: readonly Section[]
  /** What drivers have thrown, as they threw it. */
  readonly thrown: readonly { readonly driver: string; readonly error: unknown }[]
}
/** One report of all of them together, as a host program makes it. */
export const lookedAt = async (host: FaultyHost, drivers: readonly Driver[]): Promise<Looked> => {
  const clock = heldClock()
  const thrown: Looked['thrown'][number][] = []
  const watches = drivers.map((driver) => {
    const noting: Driver = {
      ...driver,
      discover: (io) =>
        driver.discover(io).catch((error: unknown) => {
          thrown.push({ driver: driver.name, error })
          throw error
        }),
    }
    return new Watch(noting, { io: host, clock, limitMs: 30_000, heldBack: () => null })
  })
  const sections = await ended(Promise.all(watches.map((watch) => watch.look())), host, clock.pass)
  return { sections, thrown }
}
