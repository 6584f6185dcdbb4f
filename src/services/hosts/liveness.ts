/**
 * Records when each host was last heard from. Each process hears from some hosts only and writes that into one record
 * for all; a host's liveness is recorded in its journal only when it changes.
 *
 * LIVENESS-1 a host becomes up again only when a process has heard from it: a process that has just started changes
 *    nothing;
 * LIVENESS-2 the silence of a host counts only from the start of this process, so that hosts that went on while no
 *    control ran are not called silent when controls start again;
 * LIVENESS-3 hosts that change at the same time are recorded in portions of one append each; after a failed portion the
 *    next ones are smaller, down to single hosts, so that a host that cannot be recorded does not keep the others back;
 * LIVENESS-4 only the first read uses the store's clock to tell how long ago a host was heard from. After it, a changed
 *    record means that the host was heard from, and its age is measured by this process's monotonic clock: a step of
 *    the store's clock makes no host look silent or alive;
 * LIVENESS-5 a name in a report is forgotten after an hour unless the journal has such a host, because anybody can
 *    write a name into a report.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'
import { LIVENESS, type Liveness as State, host, hostKey } from '../../actors/host/decider.ts'

export type Liveness = {
  readonly seen: (host: HostName) => void
  /** When any process last heard from the host, ms since the epoch; null: never. */
  readonly lastSeen: (host: HostName) => number | null
  /** When the recorded state of the host last changed, as of the last sweep. */
  readonly changedAt: (host: HostName) => number | null
  /** Stores for the other processes which hosts this one has heard from, when that is due; called by the sweeper. */
  readonly note: () => Promise<void>
  /** Reads the common record and changes the liveness of hosts accordingly; called by the sweeper. */
  readonly sweep: () => Promise<void>
}

/** Pure: the liveness of a host that was last heard from `silentMs` ago. */
export const livenessAfter = (
  silentMs: number,
  { staleAfterMs, downAfterMs }: { readonly staleAfterMs: number; readonly downAfterMs: number },
): State => {
  if (silentMs >= downAfterMs) return 'down'
  return silentMs >= staleAfterMs ? 'stale' : 'up'
}

const rank = (state: State) => LIVENESS.indexOf(state)
/** Pure: the liveness to record for a host; null: no change. `silentMs` null: it was never heard from. */
export const livenessNow = (
  recorded: State,
  silentMs: number | null,
  upForMs: number,
  limits: Parameters<typeof livenessAfter>[1],
): State | null => {
  if (recorded === 'removed') return null
  const judged = livenessAfter(silentMs ?? Infinity, limits)
  if (rank(judged) < rank(recorded)) return judged
  const known = livenessAfter(Math.min(silentMs ?? Infinity, upForMs), limits)
  return rank(known) > rank(recorded) ? known : null
}

const HOSTS_MAX = 100_000
/** A record may be ahead of the store's clock by this much, because two statements ran at once. */
const AHEAD_MS = 1000
/**
 * After this much silence, names that are not hosts of the journal are forgotten; this is checked every
 * `FORGET_EVERY_MS`.
 */
const FORGET_AFTER_MS = 3_600_000
const FORGET_EVERY_MS = 60_000
/**
 * When each host was last heard from, by the monotonic clock: by this process, or by any process according to the last
 * read of the store.
 */
const createHearing = ({ clock, sharing, options, log }: Kernel) => {
  /** Hosts heard from by this process and not yet stored for the other processes. */
  const heard = new Map<HostName, number>()
  const known = new Map<HostName, number>()
  const marks = new Map<HostName, string>()
  let notedAt = -Infinity
  const learn = (learned: readonly (readonly [HostName, number])[]) => {
    for (const [name, at] of learned) known.set(name, Math.max(at, known.get(name) ?? -Infinity))
  }
  const note = async () => {
    const now = clock.monotonic()
    if (heard.size === 0 || now - notedAt < options.noteSeenEveryMs) return
    notedAt = now
    const taken = [...heard]
    // `noteSeen` stores the present moment, which would be wrong for a host that was heard from much earlier, because
    // the store did not answer meanwhile; only this process remembers that one
    const fresh = taken.filter(([, at]) => now - at < 2 * options.noteSeenEveryMs)
    if (fresh.length > 0) await sharing.noteSeen(fresh.map(([name]) => name))
    learn(taken)
    // a host heard from again meanwhile is recorded with the next batch
    for (const [name, at] of taken) if (heard.get(name) === at) heard.delete(name)
  }
  let forgotAt = clock.monotonic()
  const forget = async () => {
    if (clock.monotonic() - forgotAt < FORGET_EVERY_MS) return
    forgotAt = clock.monotonic()
    // the database role of an earlier release may not delete; the rows that stay do no harm
    const failed = (error: unknown) => (log.warn({ error: textOf(error) }, 'host.notForgotten'), 0)
    const names = await sharing.forgetSeen(FORGET_AFTER_MS).catch(failed)
    if (names > 0) log.info({ names }, 'host.forgotten')
  }
  return {
    note,
    forget,
    hear: (name: HostName) => {
      if (heard.size < HOSTS_MAX || heard.has(name)) heard.set(name, clock.monotonic())
    },
    read: async () => {
      const silences = await sharing.silences()
      const now = clock.monotonic()
      const fresh = [...silences].filter(([name, { ms, mark }]) => marks.get(name) !== mark && ms >= -AHEAD_MS)
      learn(fresh.map(([name, { ms }]) => [name, now - Math.max(0, ms)]))
      for (const [name, { mark }] of silences) marks.set(name, mark)
      for (const name of marks.keys()) if (!silences.has(name)) marks.delete(name)
      for (const [name, at] of known) if (!silences.has(name) && now - at >= FORGET_AFTER_MS) known.delete(name)
    },
    /** Null: the host was never heard from. */
    silence: (name: HostName): number | null => {
      const at = heard.get(name) ?? known.get(name)
      return at === undefined ? null : clock.monotonic() - at
    },
  }
}

type Change = { readonly name: HostName; readonly liveness: State }

/** How many hosts one append records. */
export const PORTION_MAX = 256

/** Records the changes in portions. If a portion cannot be recorded, a later sweep finds its changes again. */
const createRecord = (kernel: Kernel): ((changes: readonly Change[]) => Promise<void>) => {
  const { units, log } = kernel
  let size = PORTION_MAX
  /** Returns whether the portion was recorded. */
  const together = async (portion: readonly Change[]): Promise<boolean> => {
    const work = newWork(kernel, { by: 'liveness' }, (draft) =>
      portion.filter(({ name, liveness }) => {
        const key = hostKey(name)
        if (!draft.state(host, key).exists) return false
        return draft.decide(host, key, { type: 'SetLiveness', liveness, by: 'silence' }).length > 0
      }),
    )
    const recorded = await units.together(
      portion.map(({ name }) => hostKey(name)),
      work,
    )
    if (!recorded.ok)
      log.warn({ hosts: portion.length, first: portion[0]!.name, fault: recorded.fault }, 'liveness.refused')
    else for (const { name, liveness } of recorded.value ?? []) log.info({ host: name, liveness }, 'host.liveness')
    return recorded.ok
  }
  return async (changes) => {
    for (let at = 0; at < changes.length;) {
      const portion = changes.slice(at, at + size)
      at += portion.length
      size = (await together(portion)) ? Math.min(size * 2, PORTION_MAX) : Math.max(1, Math.floor(portion.length / 2))
    }
  }
}

export const createLiveness = (kernel: Kernel): Liveness => {
  const { clock, readers, options } = kernel
  const startedAt = clock.monotonic()
  const hearing = createHearing(kernel)
  const changed = new Map<HostName, number | null>()
  const record = createRecord(kernel)
  return {
    seen: hearing.hear,
    lastSeen: (name) => {
      const ms = hearing.silence(name)
      return ms === null ? null : Math.round(clock.now() - ms)
    },
    changedAt: (name) => changed.get(name) ?? null,
    note: hearing.note,
    sweep: async () => {
      await hearing.note()
      await hearing.read()
      await hearing.forget()
      const hosts = await readers.list('hosts', {}, {})
      if (!hosts.ok) return
      const upForMs = clock.monotonic() - startedAt
      const changes = hosts.value.items.flatMap(({ name, liveness: recorded, updated_at: at }): Change[] => {
        changed.set(name, at)
        if (recorded === 'pending') return []
        const liveness = livenessNow(recorded as State, hearing.silence(name), upForMs, options)
        return liveness === null ? [] : [{ name, liveness }]
      })
      await record(changes)
    },
  }
}
