/**
 * Who was heard of, and when. Each process hears of some hosts only; what each heard is noted in one record for all, and a host's
 * liveness is recorded in its journal only when it changes.
 *
 * LIVENESS-1 a host is up again only when somebody heard of it: a process that has just started knows nothing, and says nothing;
 * LIVENESS-2 a host is called silent only for as long as this process could have learned of it, so that hosts that lived on while no
 *    control did are not called silent when controls come back.
 */
import { type Kernel, newWork } from './kernel.ts'
import { type Liveness as State, host, hostKey } from '../host/decider.ts'

export type Liveness = {
  readonly seen: (host: string) => void
  /** ms since the epoch, by any process; null when nobody ever heard of it. */
  readonly lastSeen: (host: string) => number | null
  /** When what is recorded of the host changed last, as the last sweep saw it. */
  readonly changedAt: (host: string) => number | null
  /** Tells the other processes who was heard of, when it is time; called by the sweeper. */
  readonly note: () => Promise<void>
  /** Looks at the record for all, and records what has changed; called by the sweeper. */
  readonly sweep: () => Promise<void>
}

/** Pure: what a host is that was last heard of `silentMs` ago. */
export const livenessAfter = (
  silentMs: number,
  { staleAfterMs, downAfterMs }: { readonly staleAfterMs: number; readonly downAfterMs: number },
): State => {
  if (silentMs >= downAfterMs) return 'down'
  return silentMs >= staleAfterMs ? 'stale' : 'up'
}

const RANK: Readonly<Record<State, number>> = { up: 0, stale: 1, down: 2, removed: 3 }
/** Pure: what is to be recorded of a host; null: nothing. `silentMs` null: nobody ever heard of it. */
export const livenessNow = (
  recorded: State,
  silentMs: number | null,
  upForMs: number,
  limits: Parameters<typeof livenessAfter>[1],
): State | null => {
  if (recorded === 'removed') return null
  const judged = livenessAfter(silentMs ?? Infinity, limits)
  if (RANK[judged] < RANK[recorded]) return judged
  const known = livenessAfter(Math.min(silentMs ?? Infinity, upForMs), limits)
  return RANK[known] > RANK[recorded] ? known : null
}

const HOSTS_MAX = 100_000
/** When each host was heard of, by the monotonic clock: by this process, and by any as far as the record for all was read. */
const createHearing = ({ clock, sharing, options }: Kernel) => {
  /** Not noted yet. */
  const heard = new Map<string, number>()
  const known = new Map<string, number>()
  let notedAt = -Infinity
  const learn = (learned: readonly (readonly [string, number])[]) => {
    for (const [name, at] of learned) known.set(name, Math.max(at, known.get(name) ?? -Infinity))
  }
  const note = async () => {
    const now = clock.monotonic()
    if (heard.size === 0 || now - notedAt < options.noteSeenEveryMs) return
    notedAt = now
    const taken = [...heard]
    // noted as heard of now: what could not be noted for long is kept here only
    const fresh = taken.filter(([, at]) => now - at < 2 * options.noteSeenEveryMs)
    if (fresh.length > 0) await sharing.noteSeen(fresh.map(([name]) => name))
    learn(taken)
    // heard of once more meanwhile: noted with the next
    for (const [name, at] of taken) if (heard.get(name) === at) heard.delete(name)
  }
  return {
    note,
    hear: (name: string) => {
      if (heard.size < HOSTS_MAX || heard.has(name)) heard.set(name, clock.monotonic())
    },
    read: async () => {
      const silences = await sharing.silences()
      const now = clock.monotonic()
      learn([...silences].map(([name, ms]) => [name, now - ms]))
    },
    /** Null: nobody ever heard of it. */
    silence: (name: string): number | null => {
      const at = heard.get(name) ?? known.get(name)
      return at === undefined ? null : clock.monotonic() - at
    },
  }
}

export const createLiveness = (kernel: Kernel): Liveness => {
  const { clock, readers, options, region, log } = kernel
  const startedAt = clock.monotonic()
  const hearing = createHearing(kernel)
  const changed = new Map<string, number | null>()
  const record = async (name: string, liveness: State) => {
    const key = hostKey(name)
    const work = newWork(kernel, { by: 'liveness' }, (draft) => {
      draft.decide(host, key, { type: 'SetLiveness', liveness, by: 'silence' })
      return null
    })
    const told = await region.tell(key, work)
    if (told.ok) log.info({ host: name, liveness }, 'host.liveness')
  }
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
      const hosts = await readers.list('hosts', {}, {})
      if (!hosts.ok) return
      const upForMs = clock.monotonic() - startedAt
      for (const { name, liveness, updated_at: at } of hosts.value.items) {
        changed.set(name, at)
        const wanted = livenessNow(liveness as State, hearing.silence(name), upForMs, options)
        if (wanted !== null) await record(name, wanted)
      }
    },
  }
}
