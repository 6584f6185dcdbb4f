/** Something the operator has to mend; the text says what. */
export class StartProblem extends Error {}
