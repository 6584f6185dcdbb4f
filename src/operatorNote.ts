/** Who decided something by hand, and why: kept in the journal with the decision. */
export type OperatorNote = { readonly by: string; readonly reason: string }
/** The same when it is shown: with the moment, in ms since the epoch. */
export type DatedNote = OperatorNote & { readonly at: number }
