/**
 * The kinds of rows in the view `due`, the moments at which an entity needs work. Each kind is handled by one worker
 * (`Worker.kinds`), but those of `NEVER_DUE`.
 */

/** Kinds whose moment is a deadline of an entity of the same kind. */
export const DEADLINE_KINDS = ['instance', 'deployable'] as const
export type DeadlineKind = (typeof DEADLINE_KINDS)[number]
/** The next attempt to send events to Nova, for an instance that waits for nothing else. */
export const NOVA_DUE = 'nova'
/** An instance with events that Nova has not taken and is not notified of any more, since the moment of the row. */
export const NOVA_UNDELIVERED = 'nova-undelivered'
/** What waits for an operator. No read of what is due returns it, and it is never overdue. */
export const NEVER_DUE: readonly string[] = [NOVA_UNDELIVERED]
/** A host with a change that Placement should show. */
export const PLACEMENT_MARK = 'placement-mark'
/** The next comparison of a host with Placement, by the state of that host. */
export type ComparisonKind = `placement ${string}`
export type DueKind = DeadlineKind | typeof NOVA_DUE | typeof NOVA_UNDELIVERED | typeof PLACEMENT_MARK | ComparisonKind
