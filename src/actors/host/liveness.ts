/** Who was heard of, and when: kept in memory, recorded only when a host's liveness changes. */
import { type Kernel, newWork } from '../kernel.ts'
import { type Liveness as State, host, hostKey } from './decider.ts'

export type Liveness = {
  readonly seen: (host: string) => void
  /** ms since the epoch; null when it was not heard of since this process started. */
  readonly lastSeen: (host: string) => number | null
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
    seen: (name) => {
      if (heard.size < HOSTS_MAX || heard.has(name)) heard.set(name, clock.now())
    },
    lastSeen: (name) => heard.get(name) ?? null,
    sweep: async () => {
      const hosts = await readers.list('hosts', {}, {})
      if (!hosts.ok) return
      for (const { name, liveness } of hosts.value.items) {
        const now = livenessAfter(clock.now() - (heard.get(name) ?? startedAt), options)
        if (liveness !== 'removed' && now !== liveness) await record(name, now)
      }
    },
  }
}
