/**
 * Mutants that no test can notice, each with the reason: the program does the same with them. They are not counted. A mutant is known
 * by its file, by the line it is in (without the blanks around it) and by what it replaces by what.
 */
import type { Mutant } from './mutants.ts'

export type Equivalent = {
  readonly path: string
  readonly line: string
  readonly original: string
  readonly mutated: string
  readonly reason: string
}

export const EQUIVALENT: readonly Equivalent[] = []

export const isKnown = (
  known: readonly Equivalent[],
  { path, line, original, mutated }: Mutant,
  text: string,
): boolean =>
  known.some(
    (one) =>
      one.path === path &&
      one.original === original &&
      one.mutated === mutated &&
      one.line === text.split('\n')[line - 1]?.trim(),
  )
