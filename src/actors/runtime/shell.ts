/**
 * Runs a decider as a nact actor over the journal. No other code uses all three.
 *
 * SHELL-1 memory is a cache: if in doubt, the tail of the journal is read;
 * SHELL-2 while its memory is lent, the actor handles no other message, for at most `holdMs`;
 * SHELL-3 a handler that throws stops the actor; the region answers the callers who waited.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import { type Ref, spawnPersistent } from 'nact'
import type { Outcome } from '../../vocabulary/fault.ts'
import { type Clock } from '../../vocabulary/clock.ts'
import { bounded } from '../../vocabulary/waiting.ts'
import type { Persisting } from './engine.ts'
import { type AnyDecider, type Loan, type Memory } from './memory.ts'
import type { Append, Verdict } from './ports.ts'
import { type Counted, type Work, catchUp, commit } from './commit.ts'

export type Message =
  /** `fresh`: the tail of the journal is read first, so that writes of other processes are seen. */
  | {
      readonly kind: 'read'
      readonly fresh: boolean
      /** Called when the read begins: later callers need a read of their own. */
      readonly begun: () => void
      readonly reply: (memory: Memory) => void
    }
  | { readonly kind: 'tell'; readonly work: Work<unknown>; readonly reply: (outcome: Outcome<unknown>) => void }
  | { readonly kind: 'lend'; readonly reply: (memory: Memory) => void; readonly returned: Promise<Loan | 'doubt'> }

export type ShellPorts = {
  readonly journal: Counted
  readonly clock: Clock
  readonly deciderOf: (key: EntityKey) => AnyDecider
  readonly holdMs: number
  readonly crashed: (key: EntityKey, error: unknown) => void
  /**
   * Called when a borrower whose time is over may still write; the returned function must be called when that has
   * ended.
   */
  readonly overdue: () => () => void
  /** Whether another writer may have written to this entity, or may still write: its memory then proves nothing. */
  readonly inDoubt: () => boolean
}
type Persist = (persisting: Persisting) => Promise<void>

const handle = async (
  { journal, clock, deciderOf, holdMs, overdue, inDoubt }: ShellPorts,
  remembered: Memory,
  message: Message,
  persist: Persist,
) => {
  const memory: Memory = inDoubt() ? { ...remembered, unread: true } : remembered
  const mine = (loan: Loan) => loan.get(memory.key) ?? memory
  const alone: Loan = new Map([[memory.key, memory]])
  switch (message.kind) {
    case 'read': {
      message.begun()
      const now = message.fresh || memory.unread ? mine(await catchUp(alone, journal, deciderOf)) : memory
      message.reply(now)
      return now
    }
    case 'lend': {
      message.reply(memory)
      const back = await bounded(clock, message.returned, holdMs, 'doubt' as const)
      if (back !== 'doubt') return mine(back)
      // the borrower may still append long after its time is over
      void message.returned.then(overdue())
      return mine(await catchUp(alone, journal, deciderOf))
    }
    case 'tell': {
      const append = async (rows: Append): Promise<Verdict> => {
        const persisting: Persisting = { append: rows, verdict: 'unknown' }
        await persist(persisting)
        return persisting.verdict
      }
      const { loan, outcome } = await commit(alone, deciderOf, { ...journal, append }, message.work)
      message.reply(outcome)
      return mine(loan)
    }
  }
}

type Hooks = {
  readonly started: () => void
  readonly finished: () => void
  readonly stopped: (error?: unknown) => void
}

export const spawnEntity = (
  parent: Ref<never>,
  key: EntityKey,
  name: string,
  ports: ShellPorts,
  hooks: Hooks,
): Ref<Message> => {
  let over = false
  const act = async (memory: Memory, message: Message, ctx: unknown): Promise<Memory> => {
    hooks.started()
    try {
      return await handle(ports, memory, message, (ctx as { persist: Persist }).persist)
    } finally {
      hooks.finished()
    }
  }
  return spawnPersistent(parent, act as never, key, name, {
    onCrash: (_message: unknown, error: unknown, ctx: { readonly stop: symbol }) => {
      if (!over) ports.crashed(key, error)
      over = true
      hooks.stopped(error)
      return ctx.stop
    },
    afterStop: () => {
      over = true
      hooks.stopped()
    },
  } as never) as Ref<Message>
}
