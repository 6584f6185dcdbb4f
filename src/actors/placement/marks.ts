/**
 * Marks a host as due for Placement, within the append that changes what Placement should show of it.
 *
 * MARKS-1 the mark is a row of its own beside the recorded moment of the next pass. A pass deletes the mark at its
 *    beginning, before it reads the records, so a change during the pass leaves a new mark and is never lost. A rebuild
 *    of the views marks every host, since no event says which were marked.
 */
import type { EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import type { Deployable } from '../deployable/shape.ts'
import { deployable } from '../deployable/decider.ts'
import { type Host, host } from '../host/decider.ts'
import { type DueKind, PLACEMENT_MARK } from '../runtime/dueKinds.ts'
import { kindOf } from '../runtime/memory.ts'
import { type ViewChange, put } from '../runtime/views.ts'
import { HOST_STATES, dueKindOf } from './hostState.ts'
import { concernsPlacement } from './wanted.ts'

/** The kinds of rows in `due` that the work on Placement uses: marks, and next passes by the state of their host. */
export const PLACEMENT_DUE: readonly DueKind[] = [PLACEMENT_MARK, ...HOST_STATES.map(dueKindOf)]
export const markKey = (name: HostName): EntityKey => `${PLACEMENT_MARK}/${name}`
/** A mark is not an entity, so it has no journal. */
export const isMark = (key: EntityKey): boolean => kindOf(key) === PLACEMENT_MARK

const hostConcern = (before: Host, after: Host): HostName | null =>
  before.liveness !== after.liveness || before.retired !== after.retired || before.aliases !== after.aliases
    ? after.name
    : null
const deployableConcern = (before: Deployable, after: Deployable): HostName | null =>
  concernsPlacement(before, after) ? after.host : null

/** The host that must be compared after a change, by the kind of entity that has changed; null: none. */
const CONCERNS: ReadonlyMap<string, (before: never, after: never) => HostName | null> = new Map<
  string,
  (before: never, after: never) => HostName | null
>([
  [deployable.kind, deployableConcern],
  [host.kind, hostConcern],
])

export const markOf = (name: HostName, at: number): ViewChange =>
  put('due', { entity: markKey(name), kind: PLACEMENT_MARK, at })

/** The marks that an append must write because this entity has changed. Pure. */
export const marksFor = (key: EntityKey, before: unknown, after: unknown, at: number): readonly ViewChange[] => {
  const name = CONCERNS.get(kindOf(key))?.(before as never, after as never)
  return name ? [markOf(name, at)] : []
}

/** MARKS-1. The mark that a rebuild of the views adds to the rows of an entity; none unless it is a host. Pure. */
export const marksOfRebuild = (key: EntityKey, at: number): readonly ViewChange[] => {
  const [kind, name] = key.split('/')
  return kind === host.kind ? [markOf(name as HostName, at)] : []
}
