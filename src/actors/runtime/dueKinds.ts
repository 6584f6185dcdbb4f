/** The kinds of the rows of the view `due`: recorded moments at which an entity needs work. Each kind is worked on by one worker (`Worker.kinds`). */

/** A deadline ends something of the entity of that kind. */
export const DEADLINE_KINDS = ['instance', 'deployable'] as const
export type DeadlineKind = (typeof DEADLINE_KINDS)[number]
/** An instance that waits for nothing but the next try to tell Nova. */
export const NOVA_DUE = 'nova'
/** A host of which something has changed that Placement should show. */
export const PLACEMENT_MARK = 'placement-mark'
/** The next comparison of a host with Placement, by the state of that host. */
export type ComparisonKind = `placement ${string}`
export type DueKind = DeadlineKind | typeof NOVA_DUE | typeof PLACEMENT_MARK | ComparisonKind
