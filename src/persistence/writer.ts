/**
 * The one writer of a process: what gathers while a statement is under way goes into the next one. A batch that fails is
 * sifted by one query; what is at fault gets its verdict, the rest goes again.
 */
import type { Append, Journal, Verdict } from '../actors/runtime/ports.ts'
import { pickBatch } from './batch.ts'
import { failureOf, GAP_RULE, ruleOf } from './sql.ts'
import type { Database } from './sql.ts'
import { appendStatement, siftStatement } from './statements.ts'

/** Beyond this many waiting appends a caller is told at once that the journal cannot keep up. */
const MAX_WAITING = 20_000
/** How often a batch that was rolled back by chance, or settled by a race, is sent again. */
const MAX_ROUNDS = 8

type Waiting = { readonly append: Append; readonly settle: (verdict: Verdict) => void }
export type Writer = {
  readonly append: (append: Append) => Promise<Verdict>
  readonly onAppended: Journal['onAppended']
  /** Takes no more, and resolves when all that waits has its verdict. */
  readonly drain: () => Promise<void>
}

const settleAll = (batch: readonly Waiting[], verdict: Verdict): void => {
  for (const { settle } of batch) settle(verdict)
}

/** Settles what the journal already shows to be at fault; returns the others. */
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

/** `told` is called after each statement that wrote. */
const committer = (database: Database, told: (appends: readonly Append[]) => void) => {
  const commit = async (batch: readonly Waiting[], round = 0): Promise<void> => {
    if (batch.length === 0) return
    const appends = batch.map(({ append }) => append)
    const error = await database.write(appendStatement(appends)).then(
      () => null,
      (cause: unknown) => ({ cause }),
    )
    if (error !== null) return failed(batch, error.cause, round)
    settleAll(batch, 'appended')
    told(appends)
  }
  const failed = async (batch: readonly Waiting[], error: unknown, round: number): Promise<void> => {
    const failure = failureOf(error)
    if (failure === 'not written') return settleAll(batch, 'busy')
    if (failure === 'unknown' || round >= MAX_ROUNDS) return settleAll(batch, 'unknown')
    if (failure === 'again') return commit(batch, round + 1)
    const rest = failure === 'fenced' ? await sift(database, batch) : batch
    return rest.length < batch.length ? commit(rest, round) : separate(batch, error, round)
  }
  /** The fence is not at fault: a rule of the views is. By halves down to the append that breaks it. */
  const separate = async (batch: readonly Waiting[], error: unknown, round: number): Promise<void> => {
    const middle = batch.length >> 1
    if (middle > 0) {
      await commit(batch.slice(0, middle), round)
      return commit(batch.slice(middle), round)
    }
    const rule = ruleOf(error)
    // What hit the journal's own keys is gone again, or the gap before it was filled meanwhile.
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
    // What comes in the same turn of the event loop shares the first statement.
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
