/** Leases, claims and host sightings in memory, shared by all processes of a simulation. Uses the clock it is given. */
import type { EntityKey } from '../../identifiers.ts'
import type { Position } from '../../actors/runtime/ports.ts'
import type { Sharing } from '../../actors/runtime/sharing.ts'
import type { Row } from '../../actors/runtime/views.ts'
import type { Tables } from './tables.ts'

type Held = { readonly holder: string; readonly epoch: number; readonly until: number }
type Kept = { readonly tables: Tables; readonly checkpoints: Map<string, Position> }

const leasesOn = (
  checkpoints: Map<string, Position>,
  now: () => number,
): Pick<Sharing, 'acquire' | 'release' | 'saveUnder'> => {
  const leases = new Map<string, Held>()
  return {
    acquire: async (name, holder, forMs) => {
      const held = leases.get(name)
      const own = held !== undefined && held.holder === holder
      const over = held === undefined || held.until <= now()
      if (!own && !over) return null
      const epoch = (held?.epoch ?? 0) + (own && !over ? 0 : 1)
      leases.set(name, { holder, epoch, until: now() + forMs })
      return { epoch }
    },
    release: async (name, holder) => {
      const held = leases.get(name)
      if (held?.holder === holder) leases.set(name, { ...held, until: -Infinity })
    },
    saveUnder: async ({ name, epoch }, reader, position) => {
      if (leases.get(name)?.epoch !== epoch) return false
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

const workOn = (
  tables: Tables,
  now: () => number,
): Pick<Sharing, 'claimDue' | 'unclaim' | 'takeOrders' | 'postponeOrders'> => {
  /** Entity -> when its claim expires. */
  const claims = new Map<string, number>()
  const free = (entity: EntityKey): boolean => (claims.get(entity) ?? -Infinity) <= now()
  return {
    claimDue: async (kinds, moment, limit, forMs) => {
      for (const entity of claims.keys()) if (free(entity)) claims.delete(entity)
      const wanted = inOrder(tables, 'due', 'at').filter(({ kind }) => kinds.includes(kind))
      const found = wanted.filter(({ at, entity }) => at <= moment && free(entity))
      const taken = found.slice(0, limit)
      for (const { entity } of taken) claims.set(entity, now() + forMs)
      return taken
    },
    unclaim: async (entities) => {
      for (const entity of entities) claims.delete(entity)
    },
    takeOrders: async (before, at, limit) => {
      const rows = inOrder(tables, 'pending_orders', 'sent_at').filter(({ sent_at }) => sent_at <= before)
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

export const memorySharing = ({ tables, checkpoints }: Kept, now: () => number): Sharing => {
  const seen = new Map<string, number>()
  return {
    ...leasesOn(checkpoints, now),
    ...workOn(tables, now),
    noteSeen: async (hosts) => {
      for (const host of hosts) seen.set(host, now())
    },
    silences: async () => new Map([...seen].map(([host, at]) => [host, Math.max(0, now() - at)])),
  }
}
