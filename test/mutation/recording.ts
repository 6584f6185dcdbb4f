/**
 * What the processes of a recording share: where they write, and for which test file. `loading`: stands for the file
 * while modules are loaded.
 */
export const RECORDING = { folder: 'MUTATION_HITS', file: 'MUTATION_TEST', loading: 'loading' } as const
/** A line of a file in that folder: numbers of functions that ran for a test file. */
export type Hits = { readonly file: string; readonly functions: readonly number[] }
