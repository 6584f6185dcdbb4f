/** What the processes of a recording share: where they write, and for which test file. */
export const RECORDING = { folder: 'MUTATION_HITS', file: 'MUTATION_TEST' } as const
/** A line of a file in that folder: numbers of functions that ran for a test file. */
export type Hits = { readonly file: string; readonly functions: readonly number[] }
