/** Who made a decision by hand, and why; the journal keeps it with the decision. */
export type OperatorNote = { readonly by: string; readonly reason: string }
/** As `OperatorNote`, with the moment of the decision in ms since the epoch. */
export type DatedNote = OperatorNote & { readonly at: number }
