/** Trouble on command: what goes wrong with pretended hardware, told by a test or by an operator's file. */
import type { HostIo } from '../driver.ts'
import { jsonObject, readIfThere } from '../files.ts'

/** One thing asked of pretended hardware. */
export type DriverCall = {
  readonly action: 'prepare' | 'release' | 'program'
  readonly deployable: string
  /** The slot's UUID; null for `program`. */
  readonly slot: string | null
}

/** The next so many deeds fail; or all or none; or those on a slot UUID or deployable named here; or those it says. */
export type Failures = number | boolean | readonly string[] | ((deed: DriverCall) => boolean)

/** May be changed at any time; counts go down as they strike. */
export type InjectedFaults = {
  /** Every prepare, release and program takes this much longer. */
  delayMs: number
  failPrepare: Failures
  failRelease: Failures
  failProgram: Failures
  /** Devices that are out of the machine, by their place in the plan, from 0. */
  unplugged: readonly number[]
}

/** Nothing goes wrong. */
export const noFaults = (): InjectedFaults => ({
  delayMs: 0,
  failPrepare: 0,
  failRelease: 0,
  failProgram: 0,
  unplugged: [],
})

const FAILURES = { prepare: 'failPrepare', release: 'failRelease', program: 'failProgram' } as const

/** Whether the deed fails; a count goes down by one when it does. */
export const shouldFail = (trouble: InjectedFaults, deed: DriverCall): boolean => {
  const failures = trouble[FAILURES[deed.action]]
  if (typeof failures === 'boolean') return failures
  if (typeof failures === 'function') return failures(deed)
  if (typeof failures === 'object') return failures.includes(deed.slot ?? '') || failures.includes(deed.deployable)
  if (failures <= 0) return false
  trouble[FAILURES[deed.action]] = failures - 1
  return true
}

const isCount = (value: unknown): value is number => typeof value === 'number' && value >= 0
const isFailures = (value: unknown): value is Failures =>
  isCount(value) ||
  typeof value === 'boolean' ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'))

const RULES: Readonly<
  Record<keyof InjectedFaults, { readonly holds: (value: unknown) => boolean; readonly rule: string }>
> = {
  delayMs: { holds: isCount, rule: 'a number of milliseconds' },
  failPrepare: { holds: isFailures, rule: 'a count, true, false or a list of slots and deployables' },
  failRelease: { holds: isFailures, rule: 'a count, true, false or a list of slots and deployables' },
  failProgram: { holds: isFailures, rule: 'a count, true, false or a list of deployables' },
  unplugged: {
    holds: (value) => Array.isArray(value) && value.every(isCount),
    rule: 'a list of device numbers, from 0',
  },
}

/** Reads the text of a trouble file; what it does not name is quiet. Throws, naming the key and its rule. */
export const readInjectedFaults = (text: string | null, where: string): InjectedFaults => {
  const given = text === null ? {} : jsonObject(text, where)
  for (const [key, value] of Object.entries(given)) {
    const known = Object.hasOwn(RULES, key) ? RULES[key as keyof InjectedFaults] : null
    if (known === null) throw new Error(`${where}: ${key}: must be one of ${Object.keys(RULES).join(', ')}`)
    if (!known.holds(value)) throw new Error(`${where}: ${key}: must be ${known.rule}`)
  }
  return { ...noFaults(), ...given }
}

/** Where an operator puts trouble for a pretended host. */
export const injectedFaultsPath = (io: HostIo): string => `${io.stateDir}/trouble.json`

/** Reads the file at each call; counts start anew only when its text changes. */
export const injectedFaultsFile = (): ((io: HostIo) => Promise<InjectedFaults>) => {
  let seen: { readonly text: string | null; readonly trouble: InjectedFaults } = { text: null, trouble: noFaults() }
  return async (io) => {
    const text = await readIfThere(io, injectedFaultsPath(io))
    if (text !== seen.text) seen = { text, trouble: readInjectedFaults(text, injectedFaultsPath(io)) }
    return seen.trouble
  }
}
