/**
 * The cleaning of released slots on this host, driver by driver, as its operator has chosen.
 *
 * CLEAN-2, CLEAN-3 (`../cleaning.ts`): a command runs with each release, in the turn of the device, after the driver has released the slot.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { type Cleaned, type Cleaning, OUTPUT_KEPT, isClean } from '../cleaning.ts'
import { textOf } from '../errorText.ts'
import { formatPciAddress, pciAddressOf } from '../pci.ts'
import type { Slot } from '../drivers/driver.ts'
import type { Section } from './sections.ts'

/** How a program has ended. `code` null: not by itself, and `why` says it. */
export type ProgramEnd = {
  readonly code: number | null
  readonly why: string | null
  /** In hex. */
  readonly outputSha256: string
  readonly outputBytes: number
  /** The end of the output, of some thousand bytes at least. */
  readonly outputEnd: string
}
/** Rejects never: what cannot be started has ended without a code. Once `signal` is aborted the program is killed with its children. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<ProgramEnd>

export type CleaningOrder = { readonly driver: string; readonly number: number; readonly slot: Slot }
export type CleaningPolicy =
  | { readonly driver: string; readonly kind: 'quarantine' }
  /** `command`: a program by its absolute path, and its arguments. */
  | {
      readonly driver: string
      readonly kind: 'command'
      readonly command: readonly [string, ...string[]]
      readonly limitMs: number
    }
/** By driver; of one that is not here, nothing is cleaned. */
export type CleaningPolicies = ReadonlyMap<string, CleaningPolicy>

/** The slot is released, and was not cleaned. */
export class NotClean extends Error {
  readonly cleaned: Cleaned
  constructor(reason: string, cleaned: Cleaned) {
    super(reason)
    this.cleaned = cleaned
  }
}

/** Text that every store keeps and every terminal shows: control characters but the ends of lines are left out. */
const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]|\p{Cs}/gu, '')

const addressOf = (info: Slot['info']): string => {
  const address = pciAddressOf(info)
  return address === null ? '' : formatPciAddress(address)
}
/** The environment of a command: what it has to clean. The address is empty where the handle has none. */
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
  /** Null: no command is chosen for the driver. Throws `NotClean` when the command has not ended with exit code 0. */
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
    const end = await run(program, args, environmentOf(order), limits).catch(unstarted)
    const cleaned = evidenceOf(program, end, startedAt, clock.now())
    // the host stops, or a newer order has come: nobody waits for this result
    signal.throwIfAborted()
    if (isClean(cleaned)) return cleaned
    const how = end.code === null ? (end.why ?? 'did not end by itself') : `ended with exit code ${end.code}`
    throw new NotClean(`cleaning failed: ${program} ${how}`.slice(0, 2000), cleaned)
  },
})

const CHOSEN: Readonly<Record<CleaningPolicy['kind'], Cleaning>> = { command: 'by_host', quarantine: 'by_operator' }

/** The section with what its deployables are cleaned by, as it is reported. */
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
