/**
 * Who was heard of, and when: kept in memory, recorded only when a host's liveness changes.
 *
 * V1 several processes share the reports, and each hears of some hosts only: who called a host silent and finds it up again was
 *    overruled by one that hears of it, and leaves that host alone for a while.
 */
import { type Kernel, newWork } from '../kernel.ts'
import { type Liveness as State, host, hostKey } from './decider.ts'

export type Liveness = {
  readonly seen: (host: string) => void
  /** ms since the epoch; null when it was not heard of since this process started. */
  readonly lastSeen: (host: string) => number | null
  /** When what is recorded of the host changed last, as the last sweep saw it. */
  readonly changedAt: (host: string) => number | null
  /** Records what has changed; called by the sweeper. */
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

const HOSTS_MAX = 100_000
export const livenessOver = (kernel: Kernel): Liveness => {
  const { clock, readers, options, region, log } = kernel
  const startedAt = clock.now()
  const heard = new Map<string, number>()
  const changed = new Map<string, number | null>()
  /** Called silent here, and not heard of since. */
  const doubted = new Set<string>()
  /** Heard of by others, and until when that is believed. */
  const elsewhere = new Map<string, number>()
  const isElsewhere = (name: string, recorded: string): boolean => {
    if (recorded === 'up' && doubted.delete(name)) elsewhere.set(name, clock.now() + options.downAfterMs)
    return (elsewhere.get(name) ?? 0) > clock.now()
  }
  const record = async (name: string, liveness: State) => {
    const key = hostKey(name)
    const work = newWork(kernel, { by: 'liveness' }, (draft) => {
      draft.decide(host, key, { type: 'SetLiveness', liveness, by: 'silence' })
      return null
    })
    const told = await region.tell(key, work)
    if (!told.ok) return
    if (liveness !== 'up') doubted.add(name)
    log.info({ host: name, liveness }, 'host.liveness')
  }
  return {
    seen: (name) => {
      if (heard.size < HOSTS_MAX || heard.has(name)) heard.set(name, clock.now())
      doubted.delete(name)
      elsewhere.delete(name)
    },
    lastSeen: (name) => heard.get(name) ?? null,
    changedAt: (name) => changed.get(name) ?? null,
    sweep: async () => {
      const hosts = await readers.list('hosts', {}, {})
      if (!hosts.ok) return
      for (const { name, liveness, updated_at: at } of hosts.value.items) {
        changed.set(name, at)
        if (isElsewhere(name, liveness)) continue
        const now = livenessAfter(clock.now() - (heard.get(name) ?? startedAt), options)
        if (liveness !== 'removed' && now !== liveness) await record(name, now)
      }
    },
  }
}
