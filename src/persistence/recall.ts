/**
 * Reads the journal tails of entities. Requests of one turn of the event loop share one query, since many actors
 * recover at a time.
 */
import type { Cause, JournalRow, Recalled, Wish } from '../actors/runtime/ports.ts'
import { isStorable } from '../vocabulary/text.ts'
import { Unreadable } from '../actors/runtime/unreadable.ts'
import { openEffort } from './effort.ts'
import { failureOf, reading, unreadable } from './sql.ts'
import type { Database, Rows, Run } from './sql.ts'
import { ARCHIVED, tailStatement } from './tails.ts'

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

type Found = { void?: true; snapshot: Recalled['snapshot']; rows: JournalRow[] }
/**
 * If the first row of a tail does not follow the snapshot or the known version, the rows between them are read from the
 * archive.
 */
const completed = async (run: Run, wishes: readonly Wish[], found: readonly Found[]): Promise<void> => {
  const gaps = found.flatMap(({ void: isVoid, snapshot, rows: [first] }, i) => {
    const after = snapshot?.version ?? (isVoid ? 0 : wishes[i]!.after)
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
    if (row['version'] === 0) one.void = true
    else if (row['command'] === null) one.snapshot = { version: row['version'] as number, memory: row['data'] }
    else one.rows.push(journalRow(row))
  }
  await completed(run, wishes, found)
  return found
}

const NOTHING: Recalled = { snapshot: null, rows: [] }
const idOf = ({ key, after, last }: Wish): string => `${after} ${last?.commandId} ${last?.at} ${key}`

const answerAll = async (database: Database, calls: readonly Call[]): Promise<void> => {
  const asked = new Map(calls.flatMap((call) => call.wishes.map((wish) => [idOf(wish), wish] as const)))
  // PostgreSQL cannot hold such a key, so no journal has it, and asking for it would fail the whole query
  const wishes = [...asked.values()].filter(({ key }) => isStorable(key))
  await database.readsAreFinal().catch((cause: unknown) => {
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

/** When a query fails, its calls are halved until those at fault are alone, so that the others are answered. */
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
