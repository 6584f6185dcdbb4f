/**
 * Cleans released slots on this host, by the policy that the operator has chosen for each driver.
 *
 * CLEAN-2, CLEAN-3 (`../cleaning.ts`): a command runs after the driver has released the slot, and before another order may use the device.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { type Cleaned, type Cleaning, OUTPUT_KEPT, isClean } from '../cleaning.ts'
import { textOf } from '../errorText.ts'
import { formatPciAddress, pciAddressOf } from '../pci.ts'
import type { Slot } from '../drivers/driver.ts'
import type { Section } from './sections.ts'

/** The end of a program. `code` null: it did not end by itself, and `why` says what happened. */
export type ProgramEnd = {
  readonly code: number | null
  readonly why: string | null
  /** As hexadecimal text. */
  readonly outputSha256: string
  readonly outputBytes: number
  /** The last part of the output, at least some thousand bytes. */
  readonly outputEnd: string
}
/** Never rejects: a program that cannot be started ends without a code. When `signal` is aborted, the program and its children are killed. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  /** The deployable that it changes: it is not begun beside another program for the same one. */
  card: string,
) => Promise<ProgramEnd>

export type CleaningOrder = { readonly driver: string; readonly number: number; readonly slot: Slot }
export type CleaningPolicy =
  | { readonly driver: string; readonly kind: 'quarantine' }
  /** `command`: the absolute path of a program, and its arguments. */
  | {
      readonly driver: string
      readonly kind: 'command'
      readonly command: readonly [string, ...string[]]
      readonly limitMs: number
    }
/** The policies by driver. Slots of a driver without a policy are not cleaned. */
export type CleaningPolicies = ReadonlyMap<string, CleaningPolicy>

/** The slot was released, but was not cleaned. */
export class NotClean extends Error {
  readonly cleaned: Cleaned
  constructor(reason: string, cleaned: Cleaned) {
    super(reason)
    this.cleaned = cleaned
  }
}

/** Removes what a store or a terminal may not accept: control characters except line ends and tabs, and halves of surrogate pairs. */
const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]|\p{Cs}/gu, '')

const addressOf = (info: Slot['info']): string => {
  const address = pciAddressOf(info)
  return address === null ? '' : formatPciAddress(address)
}
/** The environment of a command, which tells it what to clean. The address is empty where the handle has none. */
export const environmentOf = ({ driver, number, slot }: CleaningOrder): Readonly<Record<string, string>> => ({
  ACCELERANDO_DRIVER: driver,
  ACCELERANDO_DEPLOYABLE: slot.deployable,
  ACCELERANDO_HANDLE: slot.uuid,
  ACCELERANDO_HANDLE_TYPE: slot.type,
  ACCELERANDO_HANDLE_INFO: JSON.stringify(slot.info),
  ACCELERANDO_ADDRESS: addressOf(slot.info),
  ACCELERANDO_ORDER: String(number),
})

const evidenceOf = (command: string, end: ProgramEnd, startedAt: number, finishedAt: number): Cleaned => ({
  command: command.slice(-1000),
  startedAt,
  finishedAt: Math.max(startedAt, finishedAt),
  exitCode: end.code,
  outputSha256: end.outputSha256,
  outputBytes: end.outputBytes,
  output: printable(end.outputEnd).slice(-OUTPUT_KEPT),
})
const NO_OUTPUT = createHash('sha256').digest('hex')
const unstarted = (error: unknown): ProgramEnd => ({
  code: null,
  why: textOf(error),
  outputSha256: NO_OUTPUT,
  outputBytes: 0,
  outputEnd: '',
})

/** How long the cleaning after a release for this driver may take, in milliseconds. */
export const cleaningLimitMs = (policies: CleaningPolicies, driver: string): number => {
  const policy = policies.get(driver)
  return policy?.kind === 'command' ? policy.limitMs : 0
}

export type Cleaner = {
  readonly policies: CleaningPolicies
  /** Null: no command is chosen for the driver. Throws `NotClean` unless the command ended with exit code 0. */
  readonly clean: (order: CleaningOrder, signal: AbortSignal) => Promise<Cleaned | null>
}
export const createCleaner = (policies: CleaningPolicies, run: RunProgram, clock: Pick<Clock, 'now'>): Cleaner => ({
  policies,
  clean: async (order, signal) => {
    const policy = policies.get(order.driver)
    if (policy?.kind !== 'command') return null
    const [program, ...args] = policy.command
    const startedAt = clock.now()
    const limits = { timeoutMs: policy.limitMs, signal }
    const end = await run(program, args, environmentOf(order), limits, order.slot.deployable).catch(unstarted)
    const cleaned = evidenceOf(program, end, startedAt, clock.now())
    // the host stops, or a newer order has come, so nobody waits for this result
    signal.throwIfAborted()
    if (isClean(cleaned)) return cleaned
    const how = end.code === null ? (end.why ?? 'did not end by itself') : `ended with exit code ${end.code}`
    throw new NotClean(`cleaning failed: ${program} ${how}`.slice(0, 2000), cleaned)
  },
})

const CHOSEN: Readonly<Record<CleaningPolicy['kind'], Cleaning>> = { command: 'by_host', quarantine: 'by_operator' }

/** Returns the section as it is reported, with the way in which its deployables are cleaned. */
export const withCleaning = (policies: CleaningPolicies, section: Section): Section => {
  const policy = policies.get(section.driver)
  if (section.status === 'failed' || policy === undefined) return section
  const cleaning = CHOSEN[policy.kind]
  const devices = section.devices.map((device) => ({
    ...device,
    deployables: device.deployables.map((one) => ({ ...one, cleaning })),
  }))
  return { ...section, devices }
}
