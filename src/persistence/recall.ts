/** Reads the journal tails of entities. Requests of one turn of the event loop share one query, since many actors recover at a time. */
import type { EntityKey } from '../identifiers.ts'
import { SNAPSHOT_SCHEMA } from '../actors/runtime/views.ts'
import type { Cause, JournalRow, Recalled } from '../actors/runtime/ports.ts'
import { isStorable } from '../text.ts'
import { Unreadable } from '../actors/runtime/unreadable.ts'
import { openEffort } from './effort.ts'
import { failureOf, reading, unreadable } from './sql.ts'
import type { Database, Rows, Run, Statement } from './sql.ts'

type Wish = { readonly key: EntityKey; readonly after: number }
type Answer = ReadonlyMap<string, Recalled>
type Call = {
  readonly wishes: readonly Wish[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (cause: unknown) => void
}

/** The name of the journal in the messages of failed reads. */
export const JOURNAL = 'the journal'
/** Queries in flight at once; further requests are collected for the next query. */
const MAX_READS = 2
/** The most keys in one statement. */
const MAX_KEYS = 2_000

const COLUMNS = 'key, version, pos, xid, command, data, at, cause'
/** Rows of the journal and of its archive, to select from. */
export const WHOLE = `(select ${COLUMNS} from journal union all select ${COLUMNS} from journal_archive)`

export const journalRow = (row: Rows[number]): JournalRow => ({
  key: row['key'] as string,
  version: row['version'] as number,
  commandId: row['command'] as string,
  events: row['data'] as JournalRow['events'],
  at: row['at'] as number,
  cause: row['cause'] as Cause,
})

/** A snapshot comes as a row without a command, before the rows after it. */
const TAILS = `with k as (select k.i, k.key, k.after, s.version, s.memory
    from json_to_recordset($1::json) k(i int, key text, after int)
    left join snapshots s on s.entity = k.key and s.version > k.after and s.schema = ${SNAPSHOT_SCHEMA})
  select k.i, k.key, k.version, null::uuid as command, k.memory as data, null::bigint as at, null::json as cause
    from k where k.version is not null
  union all
  select k.i, t.* from k cross join lateral (
    select j.key, j.version, j.command, j.data, j.at, j.cause from journal j
    where j.key = k.key and j.version > coalesce(k.version, k.after)) t
  order by i, version`

export const tailStatement = (wishes: readonly Wish[]): Statement => ({
  text: TAILS,
  params: [JSON.stringify(wishes.map(({ key, after }, i) => ({ i, key, after })))],
  name: 'tails',
})

const ARCHIVED = `select k.i, a.key, a.version, a.command, a.data, a.at, a.cause
  from json_to_recordset($1::json) k(i int, key text, after int, upto int)
  join journal_archive a on a.key = k.key and a.version > k.after and a.version < k.upto order by k.i, a.version`

type Found = { snapshot: Recalled['snapshot']; rows: JournalRow[] }
/** If the first row of a tail does not follow the snapshot or the known version, the rows between them are read from the archive. */
const completed = async (run: Run, wishes: readonly Wish[], found: readonly Found[]): Promise<void> => {
  const gaps = found.flatMap(({ snapshot, rows: [first] }, i) => {
    const after = snapshot?.version ?? wishes[i]!.after
    return first === undefined || first.version === after + 1 ? [] : [{ i, key: first.key, after, upto: first.version }]
  })
  if (gaps.length === 0) return
  const rows = await run({ text: ARCHIVED, params: [JSON.stringify(gaps)], name: 'archived' })
  for (const [i, own] of Map.groupBy(rows, (row) => row['i'] as number)) found[i]!.rows.unshift(...own.map(journalRow))
}

const read = async (run: Run, wishes: readonly Wish[]): Promise<readonly Recalled[]> => {
  const found = wishes.map((): Found => ({ snapshot: null, rows: [] }))
  for (const row of await run(tailStatement(wishes))) {
    const one = found[row['i'] as number]!
    if (row['command'] === null) one.snapshot = { version: row['version'] as number, memory: row['data'] }
    else one.rows.push(journalRow(row))
  }
  await completed(run, wishes, found)
  return found
}

const NOTHING: Recalled = { snapshot: null, rows: [] }
const idOf = ({ key, after }: Wish): string => `${after} ${key}`

const answerAll = async (database: Database, calls: readonly Call[]): Promise<void> => {
  const asked = new Map(calls.flatMap((call) => call.wishes.map((wish) => [idOf(wish), wish] as const)))
  // no journal holds a key that PostgreSQL cannot, and asking for it would fail the whole query
  const wishes = [...asked.values()].filter(({ key }) => isStorable(key))
  await database.settled().catch((cause: unknown) => {
    throw unreadable(JOURNAL, cause)
  })
  const run = reading(database, JOURNAL)
  const found = new Map<string, Recalled>()
  for (let from = 0; from < wishes.length; from += MAX_KEYS) {
    const part = wishes.slice(from, from + MAX_KEYS)
    const answers = await read(run, part)
    for (const [index, wish] of part.entries()) found.set(idOf(wish), answers[index]!)
  }
  for (const { wishes, resolve } of calls)
    resolve(new Map(wishes.map((wish) => [wish.key, found.get(idOf(wish)) ?? NOTHING])))
}

/** The calls of a query that failed are halved until those at fault are alone, so that the others are answered. */
const answerEach = async (database: Database, calls: readonly Call[], effort = openEffort()): Promise<void> => {
  try {
    await answerAll(database, calls)
  } catch (cause) {
    const failure = failureOf(cause instanceof Unreadable ? cause.cause : cause)
    if (!effort.worth(failure, calls.length)) return rejectAll(calls, cause)
    const middle = calls.length >> 1
    await answerEach(database, calls.slice(0, middle), effort)
    await answerEach(database, calls.slice(middle), effort)
  }
}
const rejectAll = (calls: readonly Call[], cause: unknown): void => {
  for (const { reject } of calls) reject(cause)
}

export const recallOf = (database: Database): ((wishes: readonly Wish[]) => Promise<Answer>) => {
  let calls: Call[] = []
  let [reads, scheduled] = [0, false]
  const flush = (): void => {
    scheduled = false
    const now = calls
    calls = []
    reads++
    void answerEach(database, now).finally(() => {
      reads--
      if (calls.length > 0) schedule()
    })
  }
  const schedule = (): void => {
    if (scheduled || reads >= MAX_READS) return
    scheduled = true
    setImmediate(flush)
  }
  return (wishes) =>
    new Promise((resolve, reject) => {
      calls.push({ wishes, resolve, reject })
      schedule()
    })
}
