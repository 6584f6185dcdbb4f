/** Notifies code that waits for an entity when this process appends to the entity's journal. */
import type { EntityKey } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { Journal } from './ports.ts'

export type Changes = {
  /**
   * Resolves at the next append of this process to the entity, or after `ms`. Appends of other processes are not
   * noticed. To miss nothing, call it before reading the entity and await it afterwards.
   */
  readonly next: (key: EntityKey, ms: number) => Promise<void>
  readonly stop: () => void
}

export const createChanges = (journal: Pick<Journal, 'onAppended'>, clock: Pick<Clock, 'after'>): Changes => {
  const waiting = new Map<EntityKey, Set<() => void>>()
  const wake = (key: EntityKey) => {
    for (const resolve of waiting.get(key) ?? []) resolve()
    waiting.delete(key)
  }
  const stop = journal.onAppended((appends) => {
    if (waiting.size === 0) return
    const keys = appends ? appends.flatMap(({ rows }) => rows.map(({ key }) => key)) : [...waiting.keys()]
    for (const key of keys) wake(key)
  })
  return {
    next: async (key, ms) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const mine = waiting.get(key) ?? new Set()
      waiting.set(key, mine.add(resolve))
      const cancel = clock.after(ms, resolve)
      await promise
      cancel()
      mine.delete(resolve)
      if (mine.size === 0 && waiting.get(key) === mine) waiting.delete(key)
    },
    stop: () => {
      stop()
      for (const key of [...waiting.keys()]) wake(key)
    },
  }
}
