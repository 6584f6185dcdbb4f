/**
 * The only writer of a process: appends that arrive while a statement runs are batched into the next one. When a batch
 * fails, one query finds the appends that are stale or already written; these get their verdicts, and the rest is sent
 * again.
 *
 * WRITER-1 an append is answered `unknown` only when its statement may have been committed;
 * WRITER-2 a batch that was surely rolled back is halved until the append at fault is alone: only that one is refused,
 *    the others are written;
 * WRITER-3 a batch that fails for a reason that passes (a full disk, a lock) is halved only a few times, since all
 *    halves may fail alike: the remaining appends are answered `busy`;
 * WRITER-4 an append that nobody waits for any more (`notAfter`) is not sent. A statement that runs when that time
 *    comes writes nothing: the late append is answered `busy`, and the others are sent again. It is written only if the
 *    server had begun to commit before that time.
 */
import type { Append, Journal, Verdict } from '../actors/runtime/ports.ts'
import { pickBatch } from './batch.ts'
import { openEffort } from './effort.ts'
import type { Effort } from './effort.ts'
import { misfitByCode, misfitOf } from './misfit.ts'
import { causeOf, codeOf, failureOf, GAP_RULE, ruleOf, Unsendable } from './sql.ts'
import type { Database, Rows, Statement } from './sql.ts'
import { appendStatement, siftStatement } from './statements.ts'

/** With this many appends waiting, a further one is refused at once as `busy`. */
const MAX_WAITING = 20_000
/** How often a batch is retried after a rollback by a conflict with another transaction. */
const MAX_ROUNDS = 8

type Waiting = { readonly append: Append; readonly resolve: (verdict: Verdict) => void }
type Round = { readonly round: number; readonly effort: Effort }
export type Writer = {
  readonly append: (append: Append) => Promise<Verdict>
  readonly onAppended: Journal['onAppended']
  /** Refuses further appends, and resolves when all waiting ones have their verdicts. */
  readonly drain: () => Promise<void>
}

const resolveAll = (batch: readonly Waiting[], verdict: Verdict): void => {
  for (const { resolve: settle } of batch) settle(verdict)
}

const appendsOf = (batch: readonly Waiting[]): readonly Append[] => batch.map(({ append }) => append)

/** How long a statement with these appends may run, in ms; null: no append has a time limit. */
const timeOf = (appends: readonly Append[]): number | null => {
  const end = Math.min(...appends.map(({ notAfter = Infinity }) => notAfter))
  return end === Infinity ? null : Math.max(0, end - performance.now())
}

const send = async (database: Database, make: () => Statement): Promise<Rows> => {
  let statement: Statement
  try {
    statement = make()
  } catch (cause) {
    throw new Unsendable(`the statement cannot be put together: ${String(cause)}`, { cause })
  }
  return database.write(statement)
}

/** Answers late appends with `busy` (WRITER-4); returns the others. */
const withoutLate = (waiting: readonly Waiting[]): readonly Waiting[] => {
  const now = performance.now()
  const [late, rest] = [[] as Waiting[], [] as Waiting[]]
  for (const one of waiting) (now >= (one.append.notAfter ?? Infinity) ? late : rest).push(one)
  resolveAll(late, 'busy')
  return rest
}

/** Settles the appends that the journal shows to be stale or already written; returns the others. */
const sift = async (database: Database, batch: readonly Waiting[]): Promise<readonly Waiting[]> => {
  const found = await send(database, () => siftStatement(appendsOf(batch)))
  const verdicts = new Map(
    found.map((row) => [row['a'] as number, row['seen'] === true ? ('seen' as const) : ('stale' as const)]),
  )
  return batch.filter(({ resolve: settle }, a) => {
    const verdict = verdicts.get(a)
    if (verdict !== undefined) settle(verdict)
    return verdict === undefined
  })
}

/** The verdict of an append that fails by itself and would fail again. */
const refusalOf = (append: Append, error: unknown): Verdict => {
  const misfit = error instanceof Unsendable ? null : (misfitOf(append) ?? misfitByCode(codeOf(error)))
  return { refused: misfit ?? { kind: 'broken', reason: `the journal cannot be written: ${causeOf(error)}` } }
}

/** `written` is called after each successful statement. */
const committer = (database: Database, written: (appends: readonly Append[]) => void) => {
  const commit = async (batch: readonly Waiting[], at: Round): Promise<void> => {
    if (batch.length === 0) return
    const appends = appendsOf(batch)
    const error = await send(database, () => appendStatement(appends, true, timeOf(appends))).then(
      () => null,
      (cause: unknown) => ({ cause }),
    )
    if (error !== null) return failed(batch, error.cause, at)
    resolveAll(batch, 'appended')
    written(appends)
  }
  const failed = async (batch: readonly Waiting[], error: unknown, at: Round): Promise<void> => {
    const failure = failureOf(error)
    if (at.effort.worth(failure, batch.length)) return halves(batch, at)
    switch (failure) {
      case 'unknown':
        return resolveAll(batch, 'unknown')
      case 'stopped':
        return resolveAll(batch, { stopped: (error as Error).message })
      case 'not sent':
      case 'rolled back':
        return resolveAll(batch, 'busy')
      case 'again':
        return again(batch, at)
      case 'late':
        return again(withoutLate(batch), at)
      case 'fenced':
        return fenced(batch, error, at)
      case 'refused':
        return resolveAll(batch, refusalOf(batch[0]!.append, error))
    }
  }
  const fenced = async (batch: readonly Waiting[], error: unknown, at: Round): Promise<void> => {
    const rest = await sift(database, batch).catch((cause: unknown) => ({ cause }))
    if ('cause' in rest)
      return failureOf(rest.cause) === 'refused' ? failed(batch, rest.cause, at) : resolveAll(batch, 'busy')
    if (rest.length < batch.length) return commit(rest, at)
    // no append failed the fence, so one breaks a unique rule of the views
    if (batch.length > 1) return halves(batch, at)
    const rule = ruleOf(error)
    // the conflicting journal row is gone again, or the gap before this row has been filled
    if (rule.startsWith('journal_') || rule === GAP_RULE) return again(batch, at)
    resolveAll(batch, { conflict: rule })
  }
  const again = async (batch: readonly Waiting[], at: Round): Promise<void> =>
    at.round < MAX_ROUNDS ? commit(batch, { ...at, round: at.round + 1 }) : resolveAll(batch, 'busy')
  const halves = async (batch: readonly Waiting[], at: Round): Promise<void> => {
    const middle = batch.length >> 1
    await commit(batch.slice(0, middle), at)
    await commit(batch.slice(middle), at)
  }
  return (batch: readonly Waiting[]): Promise<void> => commit(batch, { round: 0, effort: openEffort() })
}

export const writerOf = (database: Database, maxWaiting = MAX_WAITING): Writer => {
  const listeners = new Set<(appends: readonly Append[]) => void>()
  let waiting: readonly Waiting[] = []
  let arrived: Waiting[] = []
  let running: Promise<void> | null = null
  let draining = false

  const commit = committer(database, (appends) => {
    for (const listener of listeners) listener(appends)
  })
  const round = async (): Promise<void> => {
    const { batch, left } = pickBatch(withoutLate([...waiting, ...arrived]))
    waiting = left
    arrived = []
    if (batch.length === 0) return
    await commit(batch).catch(() => resolveAll(batch, 'unknown'))
  }
  const run = async (): Promise<void> => {
    // Appends of the same turn of the event loop share the first statement.
    await new Promise((turn) => setImmediate(turn))
    while (waiting.length + arrived.length > 0) await round()
    running = null
  }
  const append = (wanted: Append): Promise<Verdict> => {
    if (draining || waiting.length + arrived.length >= maxWaiting) return Promise.resolve('busy')
    return new Promise((settle) => {
      arrived.push({ append: wanted, resolve: settle })
      running ??= run()
    })
  }
  return {
    append,
    onAppended: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    drain: async () => {
      draining = true
      await running
    },
  }
}
