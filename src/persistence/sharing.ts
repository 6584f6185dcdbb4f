/**
 * Leases, claims and host sightings over SQL. A process decides by its own monotonic clock that leases and claims of
 * others have expired. Host sightings are dated by the clock of the database, on which only the first look of a process
 * relies.
 */
import { listOf } from './reads.ts'
import { type Observer, createObserver } from '../vocabulary/observer.ts'
import { type DueAt, FORGOTTEN_MAX, type HostReading, type Lease, type Sharing } from '../actors/runtime/sharing.ts'
import { type Database, type Rows, type Run, type Statement, reading } from './sql.ts'

/** `n`: the number of the parameter that holds a duration in ms. */
const fromNow = (n: number): string => `clock_timestamp() + $${n}::bigint * interval '1 ms'`

/**
 * "until" changes with each renewal; older releases also take over a lease when "until" has passed. `for_ms`: the lease
 * ends if not renewed for so long.
 */
const RENEW = `update leases set until = ${fromNow(3)}, for_ms = $3::bigint, epoch = epoch + $4::int
  where name = $1 and holder = $2 returning epoch`
const BEGIN = `insert into leases (name, holder, epoch, until, for_ms) values ($1, $2, 1, ${fromNow(3)}, $3::bigint)
  on conflict (name) do nothing returning epoch`
const LOOK = `select holder, epoch, until::text as until, for_ms, until = '-infinity' as free from leases where name = $1`
/** Takes a lease only if it is as it was observed: a process that has renewed or taken it since then keeps it. */
const TAKE_OVER = `update leases set holder = $2, until = ${fromNow(3)}, for_ms = $3::bigint, epoch = epoch + 1
  where name = $1 and holder = $4 and epoch = $5::bigint and until::text = $6 returning epoch`
/** The row is kept, since its epoch must never start again from 1. */
const RELEASE = `update leases set until = '-infinity' where name = $1 and holder = $2`
/**
 * The row of the lease is locked until the checkpoint is committed, so no other process can take the lease in between.
 * A position that this server has not reached belongs to another server and is refused as well.
 */
const SAVE_UNDER = `with held as (select 1 from leases where name = $1 and epoch = $2::bigint for share)
  insert into checkpoints (reader, position) select $3, $4 from held
  where coalesce(split_part(substring($4 from '\\d+\\.\\d+$'), '.', 1), '0')::xid8 < pg_snapshot_xmax(pg_current_snapshot())
  on conflict (reader) do update set position = excluded.position returning reader`

/**
 * `for update skip locked` makes concurrent callers pick different rows. If the claim of another caller became visible
 * only after the row was selected, the insert meets that claim and leaves it alone. `over`: expired claims as this
 * caller observed them. Claims of rows that are no longer due are deleted, a limited number at a time.
 */
const claimWhere = (
  compare: string,
): string => `with over as (select entity, until from json_to_recordset($5::json) o(entity text, until text)),
  picked as (
    select d.entity, d.kind, d.at from due d
    left join claims c on c.entity = d.entity left join over o on o.entity = c.entity and o.until = c.until::text
    where d.kind = any(string_to_array($4, ',')) and d.at ${compare} $1::bigint and (c.entity is null or o.entity is not null)
    order by d.at, d.entity limit $2::int for update of d skip locked),
  claimed as (
    insert into claims as c (entity, until, for_ms) select entity, ${fromNow(3)}, $3::bigint from picked order by entity
    on conflict (entity) do update set until = excluded.until, for_ms = excluded.for_ms
    where c.until::text = (select o.until from over o where o.entity = c.entity) returning c.entity),
  old as (
    select entity from claims c where until <= clock_timestamp() - interval '1 minute'
    and not exists (select from due d where d.entity = c.entity) order by until limit 500 for update skip locked),
  swept as (delete from claims where entity in (select entity from old))
  select p.entity, p.kind, p.at from picked p join claimed using (entity) order by p.at, p.entity`
/** Due rows that others have claimed: the caller observes for how long these claims stay unchanged. */
const claimedWhere = (
  compare: string,
): string => `select c.entity, c.until::text as until, c.for_ms from due d join claims c on c.entity = d.entity
  where d.kind = any(string_to_array($2, ',')) and d.at ${compare} $1::bigint order by d.at, d.entity limit $3::int`
const OBSERVED_MAX = 500
const UNCLAIM = `delete from claims where entity in (
    select entity from claims where entity in (select json_array_elements_text($1::json)) order by entity for update)`

const POSTPONE_DUE = `update due set at = $3::bigint where entity = $1 and at = $2::bigint returning entity`

const takeWhere = (compare: string): string => `with picked as (
    select slot, sent_at from pending_orders where sent_at ${compare} $1::bigint
    order by sent_at, slot limit $3::int for update skip locked),
  marked as (
    update pending_orders t set sent_at = $2::bigint from picked where t.slot = picked.slot
    returning t.slot, t.hostname, t.deployable_uuid, t.number, t.body, picked.sent_at)
  select slot, hostname, deployable_uuid, number, body, sent_at from marked order by sent_at, slot`

/** One statement for each kind of `DueAt`, so that the database plans them separately. */
const statementsFor = (compare: '<=' | '>', suffix: string) => ({
  claim: [`claim${suffix}`, claimWhere(compare)] as const,
  claimed: [`claimed${suffix}`, claimedWhere(compare)] as const,
  take: [`take${suffix}`, takeWhere(compare)] as const,
})
const [DUE, FAR] = [statementsFor('<=', ''), statementsFor('>', '_far')]
const momentOf = (moments: DueAt) =>
  typeof moments === 'number' ? { at: moments, by: DUE } : { at: moments.after, by: FAR }

/**
 * An order that another statement has locked is just being answered or taken, so it need not be postponed and is
 * skipped.
 */
const POSTPONE = `with wanted as (
    select t.slot, r.sent_at from pending_orders t
    join json_to_recordset($1::json) r(slot uuid, number int, sent_at bigint) on t.slot = r.slot and t.number = r.number
    order by t.slot for update of t skip locked)
  update pending_orders t set sent_at = wanted.sent_at from wanted where t.slot = wanted.slot`

const SEEN = `insert into host_seen (name, seen_at)
  select name, clock_timestamp() from (select distinct json_array_elements_text($1::json) as name) n order by name
  on conflict (name) do update set seen_at = excluded.seen_at`
const SILENCES = `select name, floor(extract(epoch from clock_timestamp() - seen_at) * 1000)::bigint as ms, seen_at::text as mark
  from host_seen`
/** Only names whose row no other statement is writing. */
const FORGET = `with old as (
    select s.name from host_seen s left join hosts h on h.name = s.name
    where s.seen_at <= clock_timestamp() - $1::bigint * interval '1 ms' and (h.name is null or h.liveness = 'removed')
    order by s.seen_at limit $2::int for update of s skip locked)
  , unmeasured as (delete from host_measured where name in (select name from old))
  delete from host_seen where name in (select name from old) returning name`

const MEASURED = `insert into host_measured (name, driver, reading)
  select r.host, r.driver, r.reading from json_to_recordset($1::json) r(host text, driver text, reading json)
  join hosts h on h.name = r.host and h.liveness <> 'removed' order by 1, 2
  on conflict (name, driver) do update set reading = excluded.reading`
const MEASURED_ON = `select reading from host_measured where name = $1 order by driver`

const named = (name: string, text: string, ...params: readonly unknown[]): Statement => ({ name, text, params })

type Calls = Pick<Database, 'share' | 'read'>

const leasesOn = (
  { share }: Calls,
  observer: Observer,
  monotonic: () => number,
): Pick<Sharing, 'acquire' | 'release'> => {
  /** The time until which each lease of this process holds without renewal, in ms of `monotonic`. */
  const own = new Map<string, number>()
  const epochOf = ([taken]: Rows): Lease | null => (taken === undefined ? null : { epoch: taken['epoch'] as number })
  const takeOver = async (name: string, holder: string, forMs: number): Promise<Lease | null> => {
    const [found] = await share(named('look', LOOK, name))
    if (found === undefined) return epochOf(await share(named('begin', BEGIN, name, holder, forMs)))
    const [other, epoch, until] = [found['holder'] as string, found['epoch'] as number, found['until'] as string]
    const over = observer.isOver(
      `lease ${name}`,
      `${other} ${epoch} ${until}`,
      (found['for_ms'] as number | null) ?? forMs,
    )
    if (!over && found['free'] !== true) return null
    return epochOf(await share(named('take_over', TAKE_OVER, name, holder, forMs, other, epoch, until)))
  }
  return {
    acquire: async (name, holder, forMs) => {
      const asked = monotonic()
      const lapsed = (own.get(`${name} ${holder}`) ?? -Infinity) <= asked
      const renewed = epochOf(await share(named('renew', RENEW, name, holder, forMs, lapsed ? 1 : 0)))
      const lease = renewed ?? (await takeOver(name, holder, forMs))
      if (lease === null) own.delete(`${name} ${holder}`)
      else own.set(`${name} ${holder}`, asked + forMs)
      return lease
    },
    release: async (name, holder) => {
      own.delete(`${name} ${holder}`)
      await share(named('release', RELEASE, name, holder))
    },
  }
}

const claimsOn = ({ share }: Calls, observer: Observer): Pick<Sharing, 'claimDue'> => ({
  claimDue: async (kinds, moments, limit, forMs) => {
    const { at, by } = momentOf(moments)
    const standing = await share(named(...by.claimed, at, kinds.join(), OBSERVED_MAX))
    const over = standing.filter((row) => {
      const [entity, until] = [row['entity'] as string, row['until'] as string]
      return observer.isOver(`claim ${entity}`, until, (row['for_ms'] as number | null) ?? forMs)
    })
    const ended = JSON.stringify(over.map(({ entity, until }) => ({ entity, until })))
    return listOf<'due'>(await share(named(...by.claim, at, limit, forMs, kinds.join(), ended)))
  },
})

/** `monotonic`: the clock of this process, ms. */
export const sqlSharing = (database: Calls, monotonic: () => number = () => performance.now()): Sharing => {
  const { share, read } = database
  const readMeasured = reading(database, 'the measurements')
  const observer = createObserver(monotonic)
  return {
    ...leasesOn(database, observer, monotonic),
    ...claimsOn(database, observer),
    saveUnder: async ({ name, epoch }, reader, position) =>
      (await share(named('save_under', SAVE_UNDER, name, epoch, reader, position))).length > 0,
    unclaim: async (entities) => void (await share(named('unclaim', UNCLAIM, JSON.stringify(entities)))),
    postponeDue: async (entity, at, to) =>
      (await share(named('postpone_due', POSTPONE_DUE, entity, at, to))).length > 0,
    takeOrders: async (moments, at, limit) => {
      const { at: before, by } = momentOf(moments)
      return listOf<'pending_orders'>(await share(named(...by.take, before, at, limit)))
    },
    postponeOrders: async (orders) => {
      const rows = orders.map(({ slot, number, sentAt }) => ({ slot, number, sent_at: sentAt }))
      await share(named('postpone', POSTPONE, JSON.stringify(rows)))
    },
    noteSeen: async (hosts) => void (await share(named('seen', SEEN, JSON.stringify(hosts)))),
    noteMeasured: async (readings) => {
      const rows = readings.map(({ host, reading }) => ({ host, driver: reading.driver, reading }))
      await share(named('measured', MEASURED, JSON.stringify(rows)))
    },
    measuredOn: async (host) =>
      (await readMeasured(named('measured_on', MEASURED_ON, host))).map(
        ({ reading }) => reading as HostReading['reading'],
      ),
    forgetSeen: async (silentMs) => (await share(named('forget', FORGET, silentMs, FORGOTTEN_MAX))).length,
    silences: async () =>
      new Map(
        (await read(named('silences', SILENCES))).map(({ name, ms, mark }) => [
          name as string,
          { ms: ms as number, mark: mark as string },
        ]),
      ),
  }
}

/** For a process that has the database to itself: the other holders of leases and claims have ended. */
export const endAllOthers = async (run: Run): Promise<void> => {
  await run({ text: `update leases set until = '-infinity' where until > '-infinity'`, params: [] })
  await run({ text: 'delete from claims', params: [] })
}
