/** Judges a step of a timeline from a file by what the schema does not say, and what could not be shown. Pure. */
import { MOMENTS } from './view/steps.ts'

/** Of what a step contains: JSON is written by recursion, and indented by two blanks for each level. */
const DEPTH_MAX = 32
/** A step that the service answers has a quarter of them. */
const DETAILS_MAX = 50
const INDENT = 2
/** Quotation marks, brackets, a comma and the end of a line. */
const SIGNS = 4

const isMoment = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
const MOMENT = 'it must be a moment such as 2026-03-01T08:15:30.123Z'

/** The names of fields count as texts beside their values. */
const childrenOf = (value: unknown): readonly unknown[] => {
  if (typeof value !== 'object' || value === null) return []
  return Array.isArray(value) ? (value as readonly unknown[]) : Object.entries(value).flat()
}
const isSound = (value: unknown): boolean => typeof value !== 'string' || value.isWellFormed()
/** An object or a list has a line for its end, too. */
const lengthOf = (value: unknown, ownLine: number): number =>
  typeof value === 'object' && value !== null ? ownLine * 2 : ownLine + String(value).length

/**
 * The size of a value as indented JSON, in characters, or somewhat more; a text: why it cannot be shown. Level by
 * level, so that no depth exhausts the stack.
 */
export const sizeOf = (value: unknown): number | string => {
  let size = 0
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) return `it must not be nested deeper than ${DEPTH_MAX} levels`
    if (!level.every(isSound)) return 'it holds half of a surrogate pair'
    const ownLine = INDENT * depth + SIGNS
    size = level.reduce<number>((sum, each) => sum + lengthOf(each, ownLine), size)
    level = level.flatMap(childrenOf)
  }
  return size
}

type Step = { readonly at: string; readonly detail: Readonly<Record<string, unknown>> }
/** The size of a step, or the field that is wrong and the rule. `place`: of the step in the list, from 0. */
export const sizeOfStep = (step: Step, place: number): number | string => {
  const { at, detail } = step
  if (!isMoment(at)) return `steps.${place}.at: ${MOMENT}`
  const bad = MOMENTS.find((name) => Object.hasOwn(detail, name) && !isMoment(detail[name]))
  if (bad !== undefined) return `steps.${place}.detail.${bad}: ${MOMENT}`
  const details = Object.keys(detail).length
  if (details > DETAILS_MAX) return `steps.${place}.detail: at most ${DETAILS_MAX} are shown; these are ${details}`
  let size = 0
  for (const [name, value] of Object.entries(step)) {
    const one = sizeOf(value)
    if (typeof one === 'string') return `steps.${place}.${name}: ${one}`
    size += one
  }
  return size
}
