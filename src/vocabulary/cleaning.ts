/**
 * The cleaning of a slot after its release, as a host reports it.
 *
 * CLEAN-1 an order to release a slot says whether the slot must be cleaned (`clean`). Then only a result with the
 *    evidence of a command or playbook that ended with exit code 0 counts as clean. A host that does not know the field
 *    answers without evidence, which counts as not cleaned;
 * CLEAN-2 a host whose operator has chosen a command or a playbook for a driver runs it with each release for that
 *    driver, whether or not the order says so;
 * CLEAN-3 a command or playbook may run more than once for one order: if the host program died meanwhile, the order is
 *    carried out again.
 */
import * as v from 'valibot'
import type { DeepReadonly } from './deepReadonly.ts'
import { moment, prose } from './fields.ts'

/**
 * How a host has handles cleaned. `by_host`: it runs a command or a playbook with each release; `by_operator`: a handle
 * that was given up is withheld until an operator releases it.
 */
export const HOST_CLEANINGS = ['by_host', 'by_operator'] as const
export type HostCleaning = (typeof HOST_CLEANINGS)[number]

/**
 * What the device profile of a request asks for beyond that. `by_host`: that the host cleans, and where it does not,
 * that operators do; `by_operator`: that operators clean, whatever the host does.
 */
export type RequestedCleaning = HostCleaning

/** How many characters of the output are kept, half of them from its beginning, where it has more. */
export const OUTPUT_KEPT = 1000

/** The evidence of one run of the command or playbook. */
export const Cleaned = v.object({
  /** The program without its arguments, or the path of the playbook. */
  command: prose(1000),
  startedAt: moment,
  finishedAt: moment,
  /** Null: the command did not end by itself, or could not be started. */
  exitCode: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  /** SHA-256, in hex, of the whole output: standard output and standard error in the order in which they came. */
  outputSha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')),
  outputBytes: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** The output; of a long one its beginning and its end. */
  output: prose(OUTPUT_KEPT),
})
export type Cleaned = DeepReadonly<v.InferOutput<typeof Cleaned>>

export const isClean = (cleaned: Cleaned | undefined): boolean => cleaned?.exitCode === 0
