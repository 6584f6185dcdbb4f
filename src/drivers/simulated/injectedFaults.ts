/** Injected faults: failures and delays of simulated hardware, set by a test or by an operator's file. */
import type { DeployableName, HandleUuid } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { HostIo } from '../driver.ts'
import { readByRules, readIfThere } from '../files.ts'

/** One operation on simulated hardware. */
export type DriverCall = {
  readonly action: 'prepare' | 'release' | 'program'
  readonly deployable: DeployableName
  /** The slot's UUID; null for `program`. */
  readonly slot: HandleUuid | null
}

/**
 * Which operations fail: the next N, all, none, those on a slot UUID or deployable listed here, or those for which the
 * function returns true.
 */
export type Failures = number | boolean | readonly string[] | ((call: DriverCall) => boolean)

/** May be changed at any time. Counts are decremented with each failure. */
export type InjectedFaults = {
  /** Every prepare, release and program takes this much longer, in ms. */
  delayMs: number
  failPrepare: Failures
  failRelease: Failures
  failProgram: Failures
  /** Devices that are unplugged, by their index in the plan, from 0. */
  unplugged: readonly number[]
  /** Deployables that something else uses, by their names. */
  inUse: readonly string[]
  /** Devices that report fatal errors, by their index in the plan, from 0. */
  bad: readonly number[]
}

/** No faults. */
export const noFaults = (): InjectedFaults => ({
  delayMs: 0,
  failPrepare: 0,
  failRelease: 0,
  failProgram: 0,
  unplugged: [],
  inUse: [],
  bad: [],
})

const FAILURES = { prepare: 'failPrepare', release: 'failRelease', program: 'failProgram' } as const

/** Whether the operation fails. A count is decremented when it does. */
export const shouldFail = (faults: InjectedFaults, call: DriverCall): boolean => {
  const failures = faults[FAILURES[call.action]]
  if (typeof failures === 'boolean') return failures
  if (typeof failures === 'function') return failures(call)
  if (typeof failures === 'object') return failures.includes(call.slot ?? '') || failures.includes(call.deployable)
  if (failures <= 0) return false
  faults[FAILURES[call.action]] = failures - 1
  return true
}

const counted = (rule: string) => v.pipe(v.number(rule), v.minValue(0, rule))
const failures = (named: string) => {
  const rule = `must be a count, true, false or a list of ${named}`
  return v.optional(v.union([counted(rule), v.boolean(), v.array(v.string())], rule), 0)
}
const numbered = v.optional(
  v.array(counted('must be the number of a device, from 0'), 'must be a list of device numbers, from 0'),
  () => [],
)
const FIELDS = {
  delayMs: v.optional(counted('must be a number of milliseconds'), 0),
  failPrepare: failures('slots and deployables'),
  failRelease: failures('slots and deployables'),
  failProgram: failures('deployables'),
  unplugged: numbered,
  inUse: v.optional(v.array(v.string(), 'must be a list of deployables'), () => []),
  bad: numbered,
}
/** The text is known to be an object, so this message can only be about an unknown key. */
const InjectedFaultsFile = v.strictObject(FIELDS, `must be one of ${Object.keys(FIELDS).join(', ')}`)

/**
 * Parses the text of a fault file. Faults that it does not name are off. Throws an error that names the key and its
 * rule.
 */
const readInjectedFaults = (text: string | null, where: string): InjectedFaults =>
  text === null ? noFaults() : readByRules(InjectedFaultsFile, text, where)

/** The file in which an operator sets faults for a simulated host. */
export const injectedFaultsPath = (io: HostIo): string => `${io.stateDir}/faults.json`

/** Reads the file at each call. Counts start again only when its text changes. */
export const injectedFaultsFile = (): ((io: HostIo) => Promise<InjectedFaults>) => {
  let seen: { readonly text: string | null; readonly faults: InjectedFaults } = { text: null, faults: noFaults() }
  return async (io) => {
    const text = await readIfThere(io, injectedFaultsPath(io))
    if (text !== seen.text) seen = { text, faults: readInjectedFaults(text, injectedFaultsPath(io)) }
    return seen.faults
  }
}
