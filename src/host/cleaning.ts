/**
 * Cleans released slots on this host, by the policy that the operator has chosen for each driver.
 *
 * CLEAN-2, CLEAN-3 (`../cleaning.ts`): a command or a playbook runs after the driver has released the slot, and before
 * another order may use the device.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../vocabulary/clock.ts'
import { type Cleaned, type HostCleaning, OUTPUT_KEPT } from '../vocabulary/cleaning.ts'
import { excerpt } from '../drivers/programFailed.ts'
import { textOf } from '../vocabulary/errorText.ts'
import {
  type ActivePolicy,
  type Ansible,
  type CleaningOrder,
  type CleaningPolicy,
  type ProgramEnd,
  callOf,
  nameOf,
} from './cleaningCall.ts'
import type { Section } from './sections.ts'

/**
 * Never rejects: a program that cannot be started ends without a code. When `signal` is aborted, the program and its
 * children are killed.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  limits: { readonly timeoutMs: number; readonly folder: string; readonly signal: AbortSignal },
  /** The deployable that it changes: it is not begun beside another program for the same one. */
  card: string,
) => Promise<ProgramEnd>

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

/**
 * Removes what a store or a terminal may not accept: control characters except line ends and tabs, and halves of
 * surrogate pairs.
 */
const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n\t]|\p{Cs}/gu, '')

const evidenceOf = (command: string, end: ProgramEnd, startedAt: number, finishedAt: number): Cleaned => ({
  command: command.slice(-1000),
  startedAt,
  finishedAt: Math.max(startedAt, finishedAt),
  exitCode: end.code,
  outputSha256: end.outputSha256,
  outputBytes: end.outputBytes,
  // some tell their error first, and how they are used after that
  output: excerpt(printable(`${end.outputBegin ?? ''}${end.outputEnd}`), OUTPUT_KEPT),
})
const NO_OUTPUT = createHash('sha256').digest('hex')
const unstarted = (error: unknown): ProgramEnd => ({
  code: null,
  why: textOf(error),
  outputSha256: NO_OUTPUT,
  outputBytes: 0,
  outputEnd: '',
})

const isActive = (policy: CleaningPolicy | undefined): policy is ActivePolicy =>
  policy !== undefined && policy.kind !== 'quarantine'

/** How long the cleaning after a release for this driver may take, in milliseconds. */
export const cleaningLimitMs = (policies: CleaningPolicies, driver: string): number => {
  const policy = policies.get(driver)
  return isActive(policy) ? policy.limitMs : 0
}

const problemOf = ({ code, why }: ProgramEnd, doubt: () => string | null): string | null => {
  if (code === 0) return doubt()
  return code === null ? (why ?? 'did not end by itself') : `ended with exit code ${code}`
}

export type Cleaner = {
  readonly policies: CleaningPolicies
  /** Null: neither a command nor a playbook is chosen for the driver. Throws `NotClean` unless it has cleaned. */
  readonly clean: (order: CleaningOrder, signal: AbortSignal) => Promise<Cleaned | null>
}
export type CleanerParts = {
  readonly policies: CleaningPolicies
  readonly run: RunProgram
  readonly clock: Pick<Clock, 'now'>
  readonly ansible: Ansible
}
export const createCleaner = ({ policies, run, clock, ansible }: CleanerParts): Cleaner => {
  const ended = async (policy: ActivePolicy, order: CleaningOrder, signal: AbortSignal) => {
    const { program, args, environment, folder, doubt } = await callOf(policy, order, ansible)
    const end = await run(
      program,
      args,
      environment,
      { timeoutMs: policy.limitMs, folder, signal },
      order.slot.deployable,
    )
    return { end, problem: problemOf(end, () => doubt(end)) }
  }
  return {
    policies,
    clean: async (order, signal) => {
      const policy = policies.get(order.driver)
      if (!isActive(policy)) return null
      const startedAt = clock.now()
      const { end, problem } = await ended(policy, order, signal).catch((error: unknown) => ({
        end: unstarted(error),
        problem: textOf(error),
      }))
      const cleaned = evidenceOf(nameOf(policy), end, startedAt, clock.now())
      // the host stops, or a newer order has come, so nobody waits for this result
      signal.throwIfAborted()
      if (problem === null) return cleaned
      throw new NotClean(`cleaning failed: ${nameOf(policy)} ${problem}`.slice(0, 2000), cleaned)
    },
  }
}

const CHOSEN: Readonly<Record<CleaningPolicy['kind'], HostCleaning>> = {
  command: 'by_host',
  playbook: 'by_host',
  quarantine: 'by_operator',
}

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
