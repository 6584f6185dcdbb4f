/** Leases, claims and host sightings in memory, shared by all processes of a simulation. Uses the clock it is given. */
import type { EntityKey } from '../../../src/vocabulary/identifiers.ts'
import { type DueAt, FORGOTTEN_MAX, type Sharing } from '../../../src/actors/runtime/sharing.ts'
import type { Row } from '../../../src/actors/runtime/views.ts'
import { createObserver } from '../../../src/vocabulary/observer.ts'
import type { Kept, SharedWork } from './kept.ts'
import type { Tables } from './tables.ts'

export const noSharedWork = (): SharedWork => ({
  leases: new Map(),
  claims: new Map(),
  seen: new Map(),
  measured: new Map(),
  marks: 0,
})
/** For a process that has the store to itself: the other holders of leases and claims have ended. */
export const endAllOthers = ({ leases, claims }: SharedWork): void => {
  for (const [name, held] of leases) leases.set(name, { ...held, free: true })
  claims.clear()
}
type Shared = Pick<Kept, 'log' | 'tables' | 'checkpoints' | 'work'>

const leasesOn = (
  { log, checkpoints, work }: Shared,
  monotonic: () => number,
): Pick<Sharing, 'acquire' | 'release' | 'saveUnder'> => {
  const { leases } = work
  const observer = createObserver(monotonic)
  const own = new Map<string, number>()
  return {
    acquire: async (name, holder, forMs) => {
      const held = leases.get(name)
      const mine = held?.holder === holder
      const isOver =
        held === undefined ||
        held.free ||
        observer.isOver(name, `${held.holder} ${held.epoch} ${held.mark}`, held.forMs)
      if (!mine && !isOver) return null
      const lapsed = (own.get(`${name} ${holder}`) ?? -Infinity) <= monotonic()
      const epoch = (held?.epoch ?? 0) + (mine && !lapsed ? 0 : 1)
      leases.set(name, { holder, epoch, mark: ++work.marks, forMs })
      own.set(`${name} ${holder}`, monotonic() + forMs)
      return { epoch }
    },
    release: async (name, holder) => {
      const held = leases.get(name)
      if (held?.holder === holder) leases.set(name, { ...held, free: true })
      own.delete(`${name} ${holder}`)
    },
    saveUnder: async ({ name, epoch }, reader, position) => {
      if (leases.get(name)?.epoch !== epoch) return false
      // the position is beyond the end of the journal, so it belongs to rows that were lost
      if (Number(/\d+$/.exec(position)?.[0] ?? 0) > log.length) return false
      checkpoints.set(reader, position)
      return true
    },
  }
}

/** All rows of the view, ordered by the given column. */
const inOrder = <N extends 'due' | 'pending_orders'>(
  tables: Tables,
  view: N,
  sort: keyof Row<N> & string,
): readonly Row<N>[] => tables.page({ view, where: {}, sort, limit: Infinity }) ?? []

const isWithin = (moments: DueAt, at: number): boolean =>
  typeof moments === 'number' ? at <= moments : at > moments.after

const workOn = (
  { tables, work }: Shared,
  monotonic: () => number,
): Pick<Sharing, 'claimDue' | 'unclaim' | 'postponeDue' | 'takeOrders' | 'postponeOrders'> => {
  const { claims } = work
  const observer = createObserver(monotonic)
  const free = (entity: EntityKey): boolean => {
    const claim = claims.get(entity)
    return claim === undefined || observer.isOver(entity, String(claim.mark), claim.forMs)
  }
  return {
    claimDue: async (kinds, moments, limit, forMs) => {
      const wanted = inOrder(tables, 'due', 'at').filter(({ kind }) => kinds.includes(kind))
      const found = wanted.filter(({ at, entity }) => isWithin(moments, at) && free(entity))
      const taken = found.slice(0, limit)
      for (const { entity } of taken) claims.set(entity, { mark: ++work.marks, forMs })
      return taken
    },
    unclaim: async (entities) => {
      for (const entity of entities) claims.delete(entity)
    },
    postponeDue: async (entity, at, to) => {
      const row = tables.row('due', entity) as Row<'due'> | undefined
      if (row?.at !== at) return false
      tables.write([{ view: 'due', key: entity, row: { ...row, at: to } }])
      return true
    },
    takeOrders: async (moments, at, limit) => {
      const rows = inOrder(tables, 'pending_orders', 'sent_at').filter(({ sent_at: sent }) => isWithin(moments, sent))
      const taken = rows.slice(0, limit)
      tables.write(taken.map((row) => ({ view: 'pending_orders', key: row.slot, row: { ...row, sent_at: at } })))
      return taken
    },
    postponeOrders: async (orders) => {
      for (const { slot, number, sentAt } of orders) {
        const row = tables.row('pending_orders', slot) as Row<'pending_orders'> | undefined
        if (row?.number === number)
          tables.write([{ view: 'pending_orders', key: slot, row: { ...row, sent_at: sentAt } }])
      }
    },
  }
}

/**
 * The sharing of one process. `now` dates the sightings of hosts, `monotonic` is the clock of that process; both in ms.
 */
export const memorySharing = (kept: Shared, now: () => number, monotonic: () => number): Sharing => {
  const { seen, measured } = kept.work
  const { tables } = kept
  return {
    ...leasesOn(kept, monotonic),
    ...workOn(kept, monotonic),
    noteSeen: async (hosts) => {
      for (const host of hosts) seen.set(host, { at: now(), mark: ++kept.work.marks })
    },
    noteMeasured: async (readings) => {
      for (const { host, reading } of readings) {
        const row = tables.row('hosts', host)
        if (row === undefined || row['liveness'] === 'removed') continue
        measured.set(host, (measured.get(host) ?? new Map()).set(reading.driver, structuredClone(reading)))
      }
    },
    measuredOn: async (host) =>
      [...(measured.get(host)?.values() ?? [])].toSorted((one, other) => (one.driver < other.driver ? -1 : 1)),
    forgetSeen: async (silentMs) => {
      const isGone = (name: string) =>
        [undefined, 'removed'].some((one) => one === tables.row('hosts', name)?.['liveness'])
      const gone = [...seen].flatMap(([name, { at }]) => (now() - at >= silentMs && isGone(name) ? [name] : []))
      const some = gone.slice(0, FORGOTTEN_MAX)
      for (const name of some) {
        seen.delete(name)
        measured.delete(name)
      }
      return some.length
    },
    silences: async () =>
      new Map([...seen].map(([host, { at, mark }]) => [host, { ms: now() - at, mark: String(mark) }])),
  }
}
