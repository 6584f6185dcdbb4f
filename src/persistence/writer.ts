/**
 * The only writer of a process: appends that arrive while a statement runs are batched into the next one. When a batch fails, one
 * query finds the appends that are stale or already written; these get their verdicts, and the rest is sent again.
 */
import type { Append, Journal, Verdict } from '../actors/runtime/ports.ts'
import { pickBatch } from './batch.ts'
import { failureOf, GAP_RULE, ruleOf } from './sql.ts'
import type { Database } from './sql.ts'
import { appendStatement, siftStatement } from './statements.ts'

/** With this many appends waiting, a further one is refused at once as `busy`. */
const MAX_WAITING = 20_000
/** How often a batch is retried after a rollback by a conflict with another transaction. */
const MAX_ROUNDS = 8

type Waiting = { readonly append: Append; readonly settle: (verdict: Verdict) => void }
export type Writer = {
  readonly append: (append: Append) => Promise<Verdict>
  readonly onAppended: Journal['onAppended']
  /** Refuses further appends, and resolves when all waiting ones have their verdicts. */
  readonly drain: () => Promise<void>
}

const settleAll = (batch: readonly Waiting[], verdict: Verdict): void => {
  for (const { settle } of batch) settle(verdict)
}

/** Settles the appends that the journal shows to be stale or already written; returns the others. */
const sift = async (database: Database, batch: readonly Waiting[]): Promise<readonly Waiting[]> => {
  const found = await database.write(siftStatement(batch.map(({ append }) => append)))
  const verdicts = new Map(
    found.map((row) => [row['a'] as number, row['seen'] === true ? ('seen' as const) : ('stale' as const)]),
  )
  return batch.filter(({ settle }, a) => {
    const verdict = verdicts.get(a)
    if (verdict !== undefined) settle(verdict)
    return verdict === undefined
  })
}

/** `written` is called after each successful statement. */
const committer = (database: Database, written: (appends: readonly Append[]) => void) => {
  const commit = async (batch: readonly Waiting[], round = 0): Promise<void> => {
    if (batch.length === 0) return
    const appends = batch.map(({ append }) => append)
    const error = await database.write(appendStatement(appends)).then(
      () => null,
      (cause: unknown) => ({ cause }),
    )
    if (error !== null) return failed(batch, error.cause, round)
    settleAll(batch, 'appended')
    written(appends)
  }
  const failed = async (batch: readonly Waiting[], error: unknown, round: number): Promise<void> => {
    const failure = failureOf(error)
    if (failure === 'not written') return settleAll(batch, 'busy')
    if (failure === 'unknown' || round >= MAX_ROUNDS) return settleAll(batch, 'unknown')
    if (failure === 'again') return commit(batch, round + 1)
    const rest = failure === 'fenced' ? await sift(database, batch) : batch
    return rest.length < batch.length ? commit(rest, round) : separate(batch, error, round)
  }
  /** No append failed the fence, so one breaks a rule of the views. The batch is halved until that append is found. */
  const separate = async (batch: readonly Waiting[], error: unknown, round: number): Promise<void> => {
    const middle = batch.length >> 1
    if (middle > 0) {
      await commit(batch.slice(0, middle), round)
      return commit(batch.slice(middle), round)
    }
    const rule = ruleOf(error)
    // The conflicting journal row is gone again, or the gap before this row has been filled: retry.
    if (rule.startsWith('journal_') || rule === GAP_RULE) return commit(batch, round + 1)
    settleAll(batch, { conflict: rule })
  }
  return commit
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
    const { batch, left } = pickBatch([...waiting, ...arrived])
    waiting = left
    arrived = []
    await commit(batch).catch(() => settleAll(batch, 'unknown'))
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
      arrived.push({ append: wanted, settle })
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
