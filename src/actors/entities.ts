/** Every kind of persistent actor. A kind that is not listed here cannot be spawned. */
import { ownValue } from '../vocabulary/record.ts'
import type { EntityKey } from '../vocabulary/identifiers.ts'
import { arq } from './arq/decider.ts'
import { deployable } from './deployable/decider.ts'
import { device } from './device/decider.ts'
import { host } from './host/decider.ts'
import { instance } from './instance/decider.ts'
import { numbers } from './inventory/numbers.ts'
import { quota } from './arq/quota.ts'
import { type AnyDecider, blank, fold, kindOf, recallInto } from './runtime/memory.ts'
import { placement } from './placement/decider.ts'
import { marksOfRebuild } from './placement/marks.ts'
import type { JournalRow } from './runtime/ports.ts'
import { profile, profileName } from './profile/decider.ts'
import type { ViewChange, ViewName } from './runtime/views.ts'

export const ENTITIES: Readonly<Record<string, AnyDecider>> = Object.fromEntries(
  [arq, deployable, device, host, instance, numbers, placement, profile, profileName, quota].map((decider) => [
    decider.kind,
    decider,
  ]),
)

export const deciderOf = (key: EntityKey): AnyDecider => {
  const decider = ownValue(ENTITIES, kindOf(key))
  if (!decider) throw new Error(`no entity is of the kind of ${key}`)
  return decider
}

/** Views whose rows are never changed or removed, whatever happens to the entity. */
const LASTING: ReadonlySet<ViewName> = new Set(['usage'])

/**
 * The view rows of one entity, computed from all its journal rows, oldest first. Pure. They equal the rows that were
 * written over time.
 */
export const viewRowsOf = (key: EntityKey, rows: readonly JournalRow[]): readonly ViewChange[] => {
  const decider = deciderOf(key)
  const lasting: ViewChange[] = []
  let state: unknown = decider.initial
  for (const row of rows) {
    const next: unknown = fold(decider, state, row.events, row.at)
    if (key.startsWith(ARQS)) lasting.push(...decider.rows(state, next).filter(({ view }) => LASTING.has(view)))
    state = next
  }
  return [...decider.rows(decider.initial, state), ...lasting]
}
/** Only ARQs have rows in lasting views. */
const ARQS = `${arq.kind}/`

/** What a rebuild of the views writes for one entity: its rows, and what no event says (MARKS-1). Pure. */
export const rebuild = (key: EntityKey, rows: readonly JournalRow[]): readonly ViewChange[] => [
  ...viewRowsOf(key, rows),
  ...marksOfRebuild(key, rows.at(-1)!.at),
]

/** Builds the memory of an entity from its rows; used by the audit and tests. */
export const remember = (key: EntityKey, rows: readonly JournalRow[]) => {
  const decider = deciderOf(key)
  return recallInto(decider, blank(key, decider), { snapshot: null, rows })
}
