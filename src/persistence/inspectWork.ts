/** How the work stands that several processes share: who relays, what waits, which hosts are silent. Facts only. */
import type { Clock } from '../clock.ts'
import type { Rows, Run } from './sql.ts'

export type WorkQuestions = {
  /** Under this name the relay keeps its lease and its checkpoint. */
  readonly relay: string
  /** An accepted bind has an end within this time. */
  readonly bindDeadlineMs: number
}
export type HostFacts = {
  readonly name: string
  readonly liveness: string
  /** By the shared record; null: nobody has heard of it. */
  readonly silentMs: number | null
  /** Driver and what it said. */
  readonly failed: readonly string[]
}
export type WorkFacts = {
  /** `remainsMs`: below 0 it is over; null: it was given back. */
  readonly lease: { readonly holder: string; readonly epoch: number; readonly remainsMs: number | null } | null
  /** What the relay has not put on the bus; `rows` is counted up to `LAG_MAX`. */
  readonly lag: { readonly rows: number; readonly oldestMs: number }
  readonly hosts: readonly HostFacts[]
  /** Orders without an answer, by host; `late`: past their deadline. */
  readonly orders: readonly { readonly host: string; readonly waiting: number; readonly late: number }[]
  /** Recorded deadlines that passed a while ago, by kind of entity. */
  readonly overdue: readonly { readonly kind: string; readonly count: number; readonly oldestMs: number }[]
  /** ARQs that are still being bound after their time. */
  readonly lateBinds: readonly string[]
}

export const LAG_MAX = 100_000
const HOSTS_MAX = 20_000
const NAMED_MAX = 20
/** A sweeper looks every few seconds: what is not that old has only just become due. */
const OVERDUE_MS = 30_000

const LEASE = `select holder, epoch::float8 as epoch, case when isfinite(until)
  then extract(epoch from until - clock_timestamp())::float8 * 1000 end as ms from leases where name = $1`
const LAG = `select count(*)::int as rows, min(at)::float8 as oldest from (select at from journal
  where (xid, pos) > ($1::xid8, $2::int) order by xid, pos limit ${LAG_MAX}) behind`
const HOSTS = `select h.name, h.liveness, h.drivers, extract(epoch from clock_timestamp() - s.seen_at)::float8 * 1000 as silent
  from hosts h left join host_seen s using (name) order by h.name limit ${HOSTS_MAX}`
const ORDERS = `select hostname as host, count(*)::int as waiting,
  count(*) filter (where (body->>'deadline')::float8 < $1::float8)::int as late
  from pending_orders group by hostname order by hostname limit ${HOSTS_MAX}`
const OVERDUE = `select kind, count(*)::int as count, min(at)::float8 as oldest from due where at < $1::bigint group by kind order by kind`
const LATE = `select uuid::text from arqs where state = 'BindStarted' and coalesce(updated_at, created_at) < $1::bigint
  order by updated_at limit ${NAMED_MAX}`

const ask = (run: Run, text: string, ...params: readonly unknown[]): Promise<Rows> => run({ text, params })

const leaseOf = async (run: Run, relay: string): Promise<WorkFacts['lease']> => {
  const [row] = await ask(run, LEASE, relay)
  if (row === undefined) return null
  const remains = row['ms'] as number | null
  return {
    holder: row['holder'] as string,
    epoch: row['epoch'] as number,
    remainsMs: remains === null ? null : Math.round(remains),
  }
}

const lagOf = async (run: Run, relay: string, now: number): Promise<WorkFacts['lag']> => {
  const [saved] = await ask(run, 'select position from checkpoints where reader = $1', relay)
  // whatever the reader writes before it, a position ends with its place
  const position = (saved?.['position'] as string | undefined) ?? ''
  const [, xid = '0', pos = '0'] = /(\d+)\.(\d+)$/.exec(position) ?? []
  const [behind] = await ask(run, LAG, xid, Number(pos))
  const oldest = behind!['oldest'] as number | null
  return { rows: behind!['rows'] as number, oldestMs: oldest === null ? 0 : Math.max(0, now - oldest) }
}

type Drivers = Readonly<Record<string, { readonly status: string; readonly error: string | null }>>
const hostOf = (row: Rows[number]): HostFacts => ({
  name: row['name'] as string,
  liveness: row['liveness'] as string,
  silentMs: row['silent'] === null ? null : Math.max(0, Math.round(row['silent'] as number)),
  failed: Object.entries(row['drivers'] as Drivers)
    .filter(([, { status }]) => status !== 'ok')
    .map(([driver, { error }]) => (error === null ? driver : `${driver}: ${error}`)),
})

export const inspectWork = async (run: Run, clock: Clock, questions: WorkQuestions): Promise<WorkFacts> => {
  const now = clock.now()
  const overdue = await ask(run, OVERDUE, now - OVERDUE_MS)
  const late = await ask(run, LATE, now - questions.bindDeadlineMs - OVERDUE_MS)
  return {
    lease: await leaseOf(run, questions.relay),
    lag: await lagOf(run, questions.relay, now),
    hosts: (await ask(run, HOSTS)).map(hostOf),
    orders: (await ask(run, ORDERS, now)) as unknown as WorkFacts['orders'],
    overdue: overdue.map(({ kind, count, oldest }) => ({
      kind: kind as string,
      count: count as number,
      oldestMs: now - (oldest as number),
    })),
    lateBinds: late.map(({ uuid }) => uuid as string),
  }
}
