/** The arguments of an address that say which action was just carried out, and where what it recorded is found. */

export const DONE_NAMES = ['done', 'request', 'since', 'ended'] as const
/**
 * `done`: the name of the action; `request`: the id of its request; `since`: the id of the event after which its own
 * were recorded; `ended`: the name of its ending.
 */
export type DoneArguments = { readonly [N in (typeof DONE_NAMES)[number]]?: string }
export const queryOfDone = (said: DoneArguments): string => new URLSearchParams(said).toString()
