/**
 * The state of the work that several processes share: relay lease, backlogs, silent hosts. Collects facts and judges
 * nothing.
 */
import { sql } from 'kysely'
import { NEVER_DUE } from '../actors/runtime/dueKinds.ts'
import type { Clock } from '../vocabulary/clock.ts'
import { partsOfPosition, positionIn } from './landmarks.ts'
import { TABLES } from './ormEntities.ts'
import type { Queries } from './typedQueries.ts'

export type WorkQuestions = {
  /** The name under which the relay keeps its lease and its checkpoint. */
  readonly relay: string
  /** An accepted bind ends (bound or failed) within this time. */
  readonly bindDeadlineMs: number
}
export type HostFacts = {
  readonly name: string
  readonly liveness: string
  /** An operator took it out of service. */
  readonly retired: boolean
  /** Time since any process last received a message of this host; null: never. */
  readonly silentMs: number | null
  /** Drivers that failed, each with its message. */
  readonly failed: readonly string[]
}
export type WorkFacts = {
  /** `remainsMs`: below 0 the lease has expired; null: it was released. */
  readonly lease: { readonly holder: string; readonly epoch: number; readonly remainsMs: number | null } | null
  /** Journal rows that the relay has not published yet; `rows` is counted up to `LAG_MAX`. */
  readonly lag: { readonly rows: number; readonly oldestMs: number }
  readonly hosts: readonly HostFacts[]
  /** Orders without a result, by host; `late`: past their deadline. */
  readonly orders: readonly { readonly host: string; readonly waiting: number; readonly late: number }[]
  /** Recorded deadlines that passed more than `OVERDUE_MS` ago, by kind of entity. */
  readonly overdue: readonly { readonly kind: string; readonly count: number; readonly oldestMs: number }[]
  /** ARQs that are still being bound after the bind deadline. */
  readonly lateBinds: readonly string[]
  /** The hosts of each key that several hosts have. */
  readonly sharedKeys: readonly (readonly string[])[]
}

export const LAG_MAX = 100_000
const HOSTS_MAX = 20_000
const NAMED_MAX = 20
/** A sweeper runs every few seconds, so a deadline that passed less than this ago is no fault. */
const OVERDUE_MS = 30_000

const leaseOf = async ({ db }: Queries, relay: string): Promise<WorkFacts['lease']> => {
  const found = await db
    .selectFrom('leases')
    .where('name', '=', relay)
    .select((eb) => [
      'holder',
      'epoch',
      sql<number | null>`case when isfinite(${eb.ref('until')})
        then extract(epoch from ${eb.ref('until')} - clock_timestamp())::float8 * 1000 end`.as('ms'),
    ])
    .executeTakeFirst()
  if (found === undefined) return null
  const { holder, epoch, ms } = found
  return { holder, epoch, remainsMs: ms === null ? null : Math.round(ms) }
}

const lagOf = async ({ em, db }: Queries, relay: string, now: number): Promise<WorkFacts['lag']> => {
  const saved = await em.findOne(TABLES.checkpoints, { reader: relay })
  const [xid, pos] = partsOfPosition(positionIn(saved?.position ?? '') ?? '')
  const behind = db
    .selectFrom('journal')
    .where((eb) => eb(eb.refTuple('xid', 'pos'), '>', eb.tuple(xid, pos)))
    .orderBy('xid')
    .orderBy('pos')
    .limit(LAG_MAX)
    .select('at')
  const { rows, oldest } = await db
    .selectFrom(behind.as('behind'))
    .select(({ fn }) => [fn.countAll<number>().as('rows'), fn.min<number | null>('at').as('oldest')])
    .executeTakeFirstOrThrow()
  return { rows, oldestMs: oldest === null ? 0 : Math.max(0, now - oldest) }
}

type Drivers = Readonly<Record<string, { readonly status: string; readonly error: string | null }>>
const failedOf = (drivers: Drivers): readonly string[] =>
  Object.entries(drivers)
    .filter(([, { status }]) => status !== 'ok')
    .map(([driver, { error }]) => (error === null ? driver : `${driver}: ${error}`))

const hostsOf = async ({ db }: Queries): Promise<WorkFacts['hosts']> => {
  const found = await db
    .selectFrom('hosts')
    .leftJoin('host_seen', 'host_seen.name', 'hosts.name')
    .orderBy('hosts.name')
    .limit(HOSTS_MAX)
    .select((eb) => [
      'hosts.name',
      'hosts.liveness',
      'hosts.out_of_service as retired',
      'hosts.drivers',
      sql<number | null>`extract(epoch from clock_timestamp() - ${eb.ref('host_seen.seen_at')})::float8 * 1000`.as(
        'silent',
      ),
    ])
    .execute()
  return found.map(({ name, liveness, retired, drivers, silent }) => ({
    name,
    liveness,
    retired: retired === true,
    silentMs: silent === null ? null : Math.max(0, Math.round(silent)),
    failed: failedOf(drivers as Drivers),
  }))
}

const ordersOf = ({ db }: Queries, now: number): Promise<WorkFacts['orders']> =>
  db
    .selectFrom('pending_orders')
    .groupBy('hostname')
    .orderBy('hostname')
    .limit(HOSTS_MAX)
    .select((eb) => [
      'hostname as host',
      eb.fn.countAll<number>().as('waiting'),
      eb.fn
        .countAll<number>()
        .filterWhere(sql<number>`(${eb.ref('body')} ->> 'deadline')::float8`, '<', now)
        .as('late'),
    ])
    .execute()

const overdueOf = async ({ db }: Queries, now: number): Promise<WorkFacts['overdue']> => {
  const found = await db
    .selectFrom('due')
    .where('at', '<', now - OVERDUE_MS)
    .where('kind', 'not in', NEVER_DUE)
    .groupBy('kind')
    .orderBy('kind')
    .select(({ fn }) => ['kind', fn.countAll<number>().as('count'), fn.min('at').as('oldest')])
    .execute()
  return found.map(({ kind, count, oldest }) => ({ kind, count, oldestMs: now - oldest }))
}

const lateBindsOf = async ({ db }: Queries, before: number): Promise<WorkFacts['lateBinds']> => {
  const found = await db
    .selectFrom('arqs')
    .where('state', '=', 'BindStarted')
    .where(({ eb, fn }) => eb(fn.coalesce('updated_at', 'created_at'), '<', before))
    .orderBy('updated_at')
    .limit(NAMED_MAX)
    .select('uuid')
    .execute()
  return found.map(({ uuid }) => uuid)
}

/** The key of a host is what its last event about an accepted key says; removed hosts have none. */
const sharedKeysOf = async ({ db }: Queries): Promise<WorkFacts['sharedKeys']> => {
  const { rows } = await sql<{ readonly names: readonly string[] }>`
    select json_agg(name order by name) as names from (
      select distinct on (hosts.name) hosts.name, said.event -> 'key' ->> 'key' as key
      from hosts
      join (select key, version, data from journal union all select key, version, data from journal_archive) told
        on told.key = 'host/' || hosts.name
      cross join lateral json_array_elements(told.data) with ordinality as said (event, place)
      where hosts.liveness <> 'removed' and said.event -> 'key' ->> 'did' <> 'offered'
      order by hosts.name, told.version desc, said.place desc
    ) keyed
    where key is not null group by key having count(*) > 1 order by min(name) limit ${NAMED_MAX}`.execute(db)
  return rows.map(({ names }) => names)
}

export const inspectWork = async (queries: Queries, clock: Clock, questions: WorkQuestions): Promise<WorkFacts> => {
  const now = clock.now()
  return {
    overdue: await overdueOf(queries, now),
    lateBinds: await lateBindsOf(queries, now - questions.bindDeadlineMs - OVERDUE_MS),
    lease: await leaseOf(queries, questions.relay),
    lag: await lagOf(queries, questions.relay, now),
    hosts: await hostsOf(queries),
    orders: await ordersOf(queries, now),
    sharedKeys: await sharedKeysOf(queries),
  }
}
