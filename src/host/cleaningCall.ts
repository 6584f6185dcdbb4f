/**
 * Which program cleans a released slot, and what it is told.
 *
 * PLAYED-1 Ansible ends with exit code 0 also where no play is for this host, or where every task was skipped. A
 *    playbook has cleaned only when the recap at the end of its output says that a task was carried out. Facts are
 *    gathered only where a play asks for it: that counts as a task;
 * PLAYED-2 Ansible ends with exit code 0 also where a task failed and the playbook ignored that or went on to a rescue.
 *    It has cleaned only when the recap names neither: a task that may fail has to say so by `failed_when`.
 */
import { dirname } from 'node:path'
import type { Slot } from '../drivers/driver.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import { formatPciAddress, pciAddressOf } from '../vocabulary/pci.ts'
import { ANSIBLE_ENVIRONMENT, notInstalled, playOf } from './ansible.ts'

/** The end of a program. `code` null: it did not end by itself, and `why` says what happened. */
export type ProgramEnd = {
  readonly code: number | null
  readonly why: string | null
  /** As hexadecimal text. */
  readonly outputSha256: string
  readonly outputBytes: number
  /** The last part of the output, at least some thousand bytes. */
  readonly outputEnd: string
  /** The first part, unless the last one is all of it. */
  readonly outputBegin?: string
}
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
  /** `playbook`: the absolute path of a playbook of Ansible. */
  | { readonly driver: string; readonly kind: 'playbook'; readonly playbook: string; readonly limitMs: number }
/** A policy by which the host itself cleans. */
export type ActivePolicy = Exclude<CleaningPolicy, { readonly kind: 'quarantine' }>
/** How playbooks are run on this host. */
export type Ansible = {
  readonly host: HostName
  /** The name or the path of `ansible-playbook`. */
  readonly program: string
  /** Returns the path of a program; null: it is not installed. */
  readonly programAt: (program: string) => Promise<string | null>
  /** What Ansible needs of its environment: where programs and the home folder are. */
  readonly environment: Readonly<Record<string, string>>
}

const addressOf = (info: Slot['info']): string => {
  const address = pciAddressOf(info)
  return address === null ? '' : formatPciAddress(address)
}
/** The environment of a command, which tells it what to clean. The address is empty where the handle has none. */
const environmentOf = ({ driver, number, slot }: CleaningOrder): Readonly<Record<string, string>> => ({
  ACCELERANDO_DRIVER: driver,
  ACCELERANDO_DEPLOYABLE: slot.deployable,
  ACCELERANDO_HANDLE: slot.uuid,
  ACCELERANDO_HANDLE_TYPE: slot.type,
  ACCELERANDO_HANDLE_INFO: JSON.stringify(slot.info),
  ACCELERANDO_ADDRESS: addressOf(slot.info),
  ACCELERANDO_ORDER: String(number),
})

export type Call = {
  readonly program: string
  readonly args: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
  /** Why this end with exit code 0 does not count as clean; null: it does. */
  readonly doubt: (end: ProgramEnd) => string | null
}

const RECAP = /^localhost +: ok=\d+ .*$/gm
/** Exit code 0 counts only if a task was carried out (PLAYED-1), and none has failed (PLAYED-2). */
const doubtOfPlay = ({ outputEnd }: ProgramEnd): string | null => {
  const [recap = ''] = outputEnd.split('\nPLAY RECAP ').at(-1)!.match(RECAP)?.slice(-1) ?? []
  const count = (what: string): number => Number(new RegExp(` ${what}=(\\d+)`).exec(recap)?.[1] ?? 0)
  if (count('ok') === 0) return 'ended with exit code 0, but carried out no task on localhost'
  const failures = ['failed', 'unreachable', 'ignored', 'rescued'].flatMap((what) =>
    count(what) > 0 ? `${what}=${count(what)}` : [],
  )
  return failures.length === 0 ? null : `ended with exit code 0, but tasks of it failed (${failures.join(' ')})`
}
const OF_A_PLAY = { ...ANSIBLE_ENVIRONMENT, ANSIBLE_GATHERING: 'explicit', ANSIBLE_STDOUT_CALLBACK: 'default' }

const callOfPlaybook = async (playbook: string, order: CleaningOrder, ansible: Ansible): Promise<Call> => {
  const program = await ansible.programAt(ansible.program)
  if (program === null) throw new Error(notInstalled(ansible.program))
  const environment = environmentOf(order)
  const variables = Object.entries(environment).map(([name, value]) => [name.toLowerCase(), value])
  const facts = {
    ...Object.fromEntries(variables),
    accelerando_host: ansible.host,
    accelerando_handle_info: order.slot.info,
  }
  return {
    program,
    args: playOf(playbook, facts),
    environment: { ...ansible.environment, ...OF_A_PLAY, ...environment },
    folder: dirname(playbook),
    doubt: doubtOfPlay,
  }
}

/** What the evidence names: the program without its arguments, or the playbook. */
export const nameOf = (policy: ActivePolicy): string =>
  policy.kind === 'command' ? policy.command[0] : policy.playbook

/** Rejects when Ansible is not installed. */
export const callOf = async (policy: ActivePolicy, order: CleaningOrder, ansible: Ansible): Promise<Call> => {
  if (policy.kind === 'playbook') return callOfPlaybook(policy.playbook, order, ansible)
  const [program, ...args] = policy.command
  return { program, args, environment: environmentOf(order), folder: '/', doubt: () => null }
}
