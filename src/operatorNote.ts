/** Who decided something by hand, and why: kept in the journal with the decision. */
export type OperatorNote = { readonly by: string; readonly reason: string }
