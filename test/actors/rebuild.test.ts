import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deciderOf, ENTITIES, remember, viewRowsOf } from '../../src/actors/entities.ts'
import { type AnyDecider, fold } from '../../src/actors/runtime/memory.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import type { ViewChange } from '../../src/actors/runtime/views.ts'
import { lifeOf } from './commands.ts'
import { id } from './samples.ts'

type Views = Map<string, ViewChange>
const apply = (views: Views, changes: readonly ViewChange[]): Views => {
  for (const change of changes) {
    const place = `${change.view}/${change.key}`
    if (change.row === null) views.delete(place)
    else views.set(place, change)
  }
  return views
}
const asKept = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value
const sorted = (views: Views) => [...views].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => asKept(change))

/** The entity lives through the commands; its rows pass through JSON, as in every store. */
const live = (decider: AnyDecider, key: string, commands: readonly unknown[]) => {
  let state: unknown = decider.initial
  const [rows, views]: [JournalRow[], Views] = [[], new Map()]
  for (const [at, command] of commands.entries()) {
    const decision = decider.decide(state, command)
    if (!decision.ok || decision.events.length === 0) continue
    const next = fold(decider, state, decision.events, 1000 + at)
    apply(views, decider.rows(state, next))
    state = next
    rows.push(
      asKept({ key, version: rows.length + 1, commandId: id(at), events: decision.events, at: 1000 + at, cause: {} }),
    )
  }
  return { state, rows, views }
}

describe.each(Object.keys(ENTITIES))('%s, whatever is asked of it', (kind) => {
  const { key, first, commands } = lifeOf[kind]!
  const lives = fc.tuple(first, fc.array(commands, { maxLength: 60, size: 'max' })).map(([one, rest]) => [one, ...rest])
  it('has the same view rows along the way as in a rebuild', () => {
    fc.assert(
      fc.property(lives, (asked) => {
        const { rows, views } = live(deciderOf(key), key, asked)
        expect(sorted(apply(new Map(), viewRowsOf(key, rows)))).toEqual(sorted(views))
      }),
      { numRuns: 300 },
    )
  })
  it('is the same replayed as it was live (S13)', () => {
    fc.assert(
      fc.property(lives, (asked) => {
        const { rows, state } = live(deciderOf(key), key, asked)
        expect(remember(key, rows).state).toEqual(state)
        expect(JSON.stringify(remember(key, rows).state)).toBe(JSON.stringify(state))
      }),
      { numRuns: 300 },
    )
  })
  it('never changes what it was handed', () => {
    fc.assert(
      fc.property(lives, (asked) => {
        const before = JSON.stringify(asked)
        live(deciderOf(key), key, asked)
        expect(JSON.stringify(asked)).toBe(before)
      }),
    )
  })
})
