/** A problem that prevents the start and that the operator must fix. The text says how. */
export class StartProblem extends Error {}
