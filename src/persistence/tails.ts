/** SQL that reads the journal tails of entities. Pure. */
import { snapshotSchemaOf } from '../actors/runtime/snapshots.ts'
import type { Wish } from '../actors/runtime/ports.ts'
import type { Statement } from './sql.ts'

/**
 * SQL for "the table lacks the last known row". Not written with `exists`, for which the planner may hash the whole
 * journal first.
 */
const lackedBy = (table: string): string =>
  `(select t.version from ${table} t where t.key = w.key and t.version = w.after
    and t.command = w.last and (w.last_at is null or t.at = w.last_at)) is null`
/** Neither the journal nor its archive holds the last known row. */
const VOID = `w.last is not null and ${lackedBy('journal')} and ${lackedBy('journal_archive')}`

/**
 * For each key, rows without a command come first: one of version 0 if the last known row is gone (void), and the
 * snapshot.
 */
const TAILS = `with v as (select w.i, w.key, w.after, w.schema, ${VOID} as void
    from json_to_recordset($1::json) w(i int, key text, after int, last uuid, last_at bigint, schema int)),
  k as (select v.i, v.key, v.void, v.after, s.version, s.memory
    from (select i, key, void, schema, case when void then 0 else after end as after from v) v
    left join snapshots s on s.entity = v.key and s.version > v.after and s.schema = v.schema)
  select k.i, k.key, 0 as version, null::uuid as command, null::json as data, null::bigint as at, null::json as cause
    from k where k.void
  union all
  select k.i, k.key, k.version, null::uuid as command, k.memory as data, null::bigint as at, null::json as cause
    from k where k.version is not null
  union all
  select k.i, t.* from k cross join lateral (
    select j.key, j.version, j.command, j.data, j.at, j.cause from journal j
    where j.key = k.key and j.version > coalesce(k.version, k.after)) t
  order by i, version`

export const tailStatement = (wishes: readonly Wish[]): Statement => ({
  text: TAILS,
  params: [
    JSON.stringify(
      wishes.map(({ key, after, last }, i) => ({
        i,
        key,
        after,
        last: last?.commandId ?? null,
        last_at: last?.at ?? null,
        schema: snapshotSchemaOf(key),
      })),
    ),
  ],
  name: 'tails',
})

/** Rows between a known version (`after`) and a row of the journal (`upto`), both exclusive. */
export const ARCHIVED = `select k.i, a.key, a.version, a.command, a.data, a.at, a.cause
  from json_to_recordset($1::json) k(i int, key text, after int, upto int)
  join journal_archive a on a.key = k.key and a.version > k.after and a.version < k.upto order by k.i, a.version`
