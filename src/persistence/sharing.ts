/** Leases, claims and host sightings over SQL. Each step is one statement and uses the clock of the database, not of a process. */
import { listOf } from './reads.ts'
import type { Sharing } from '../actors/runtime/sharing.ts'
import type { Database, Statement } from './sql.ts'

/** `n`: the number of the parameter that holds a duration in ms. */
const fromNow = (n: number): string => `clock_timestamp() + $${n}::bigint * interval '1 ms'`

/** The end is computed before the statement waits for the row lock, so a lease may end too early, but never too late. */
const ACQUIRE = `insert into leases as l (name, holder, epoch, until) values ($1, $2, 1, ${fromNow(3)})
  on conflict (name) do update set holder = excluded.holder, until = excluded.until,
    epoch = l.epoch + (l.holder <> excluded.holder or l.until <= clock_timestamp())::int
  where l.holder = excluded.holder or l.until <= clock_timestamp()
  returning epoch`
/** The row is kept, since its epoch must never start again from 1. */
const RELEASE = `update leases set until = '-infinity' where name = $1 and holder = $2`
/** The row of the lease is locked until the checkpoint is committed, so no other process can take the lease in between. */
const SAVE_UNDER = `with held as (select 1 from leases where name = $1 and epoch = $2::bigint for share)
  insert into checkpoints (reader, position) select $3, $4 from held
  on conflict (reader) do update set position = excluded.position returning reader`

/**
 * `for update skip locked` makes concurrent callers pick different rows. A caller that selected a row before the claim of another
 * was visible meets that claim at the insert, and leaves it alone. Claims that expired long ago are deleted, some at a time.
 */
const CLAIM = `with picked as (
    select d.entity, d.kind, d.at from due d left join claims c on c.entity = d.entity
    where d.kind = any(string_to_array($4, ',')) and d.at <= $1::bigint and (c.until is null or c.until <= clock_timestamp())
    order by d.at, d.entity limit $2::int for update of d skip locked),
  claimed as (
    insert into claims as c (entity, until) select entity, ${fromNow(3)} from picked order by entity
    on conflict (entity) do update set until = excluded.until where c.until <= clock_timestamp() returning c.entity),
  old as (
    select entity from claims where until <= clock_timestamp() - interval '1 minute'
    and entity not in (select entity from picked) order by until limit 500 for update skip locked),
  swept as (delete from claims where entity in (select entity from old))
  select p.entity, p.kind, p.at from picked p join claimed using (entity) order by p.at, p.entity`
const UNCLAIM = `delete from claims where entity in (
    select entity from claims where entity in (select json_array_elements_text($1::json)) order by entity for update)`

const TAKE = `with picked as (
    select slot, sent_at from pending_orders where sent_at <= $1::bigint
    order by sent_at, slot limit $3::int for update skip locked),
  marked as (
    update pending_orders t set sent_at = $2::bigint from picked where t.slot = picked.slot
    returning t.slot, t.hostname, t.deployable_uuid, t.number, t.body, picked.sent_at)
  select slot, hostname, deployable_uuid, number, body, sent_at from marked order by sent_at, slot`

/** An order that another statement has locked is being answered or taken: it need not be put off. */
const POSTPONE = `with wanted as (
    select t.slot, r.sent_at from pending_orders t
    join json_to_recordset($1::json) r(slot uuid, number int, sent_at bigint) on t.slot = r.slot and t.number = r.number
    order by t.slot for update of t skip locked)
  update pending_orders t set sent_at = wanted.sent_at from wanted where t.slot = wanted.slot`

const SEEN = `insert into host_seen (name, seen_at)
  select name, clock_timestamp() from (select distinct json_array_elements_text($1::json) as name) n order by name
  on conflict (name) do update set seen_at = greatest(host_seen.seen_at, excluded.seen_at)`
const SILENCES = `select name, greatest(0, floor(extract(epoch from clock_timestamp() - seen_at) * 1000))::bigint as ms
  from host_seen`

const named = (name: string, text: string, ...params: readonly unknown[]): Statement => ({ name, text, params })

export const sqlSharing = ({ share, read }: Pick<Database, 'share' | 'read'>): Sharing => ({
  acquire: async (name, holder, forMs) => {
    const [taken] = await share(named('acquire', ACQUIRE, name, holder, forMs))
    return taken === undefined ? null : { epoch: taken['epoch'] as number }
  },
  release: async (name, holder) => void (await share(named('release', RELEASE, name, holder))),
  saveUnder: async ({ name, epoch }, reader, position) =>
    (await share(named('save_under', SAVE_UNDER, name, epoch, reader, position))).length > 0,
  claimDue: async (kinds, now, limit, forMs) =>
    listOf<'due'>(await share(named('claim', CLAIM, now, limit, forMs, kinds.join()))),
  unclaim: async (entities) => void (await share(named('unclaim', UNCLAIM, JSON.stringify(entities)))),
  takeOrders: async (before, at, limit) =>
    listOf<'pending_orders'>(await share(named('take', TAKE, before, at, limit))),
  postponeOrders: async (orders) => {
    const rows = orders.map(({ slot, number, sentAt }) => ({ slot, number, sent_at: sentAt }))
    await share(named('postpone', POSTPONE, JSON.stringify(rows)))
  },
  noteSeen: async (hosts) => void (await share(named('seen', SEEN, JSON.stringify(hosts)))),
  silences: async () =>
    new Map((await read(named('silences', SILENCES))).map((row) => [row['name'] as string, row['ms'] as number])),
})
