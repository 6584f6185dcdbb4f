/**
 * Decides whether reports in the name of a host are believed, and which keys of hosts are accepted. Pure.
 *
 * ENROLLMENT-1 reports of a host that has a key are believed only if they are signed with that key;
 * ENROLLMENT-2 the first key of a host is accepted with its first signed report (`first-use`), or waits for an operator
 *    (`approve`). Reports without a signature are believed only with `first-use`, and only until a key was accepted;
 * ENROLLMENT-3 only an operator replaces a key, or lets the next key of the host count as its first one;
 * ENROLLMENT-4 a waiting key is recorded once, and for one host at most once an hour, whatever is sent in its name.
 */
import type { Fault } from '../../vocabulary/fault.ts'
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { REFUSALS_EVERY_MS, type Refusal } from '../runtime/refusals.ts'

export const ENROLLMENTS = ['first-use', 'approve'] as const
export type Enrollment = (typeof ENROLLMENTS)[number]

/** Public keys, in the form that messages contain. */
export type HostKeys = {
  readonly key?: string
  /** The key that waits for an operator. */
  readonly offered?: { readonly key: string; readonly at: number }
}
/** A change of a host's key; `replaced` with null: the next key counts as its first. */
export type KeyChange =
  | { readonly did: 'pinned' | 'offered' | 'approved'; readonly name: HostName; readonly key: string }
  | { readonly did: 'replaced'; readonly name: HostName; readonly key: string | null }

/** `named`: the key that the operator has compared; null: the key that waits, or the next one that comes. */
export type KeyCommand =
  | {
      readonly type: 'PresentKey'
      readonly name: HostName
      readonly key: string
      readonly enrollment: Enrollment
      readonly at: number
    }
  | ({
      readonly type: 'ApproveKey' | 'ReplaceKey'
      readonly name: HostName
      readonly named: string | null
    } & OperatorNote)

const KEY_COMMANDS = { PresentKey: true, ApproveKey: true, ReplaceKey: true } satisfies Record<KeyCommand['type'], true>
export const isKeyCommand = (command: { readonly type: string }): command is KeyCommand =>
  Object.hasOwn(KEY_COMMANDS, command.type)

/** `present`: the host shows a key, and no key was accepted for it yet. */
export type Judgement = 'believed' | 'present' | { readonly refusal: Refusal; readonly rule: string }

/** Whether a report in the name of this host is believed. `signer` null: it is not signed. */
export const judgeSigner = (
  name: HostName,
  { key }: HostKeys,
  signer: string | null,
  enrollment: Enrollment,
): Judgement => {
  if (key !== undefined && signer === key) return 'believed'
  if (key !== undefined)
    return signer === null
      ? { refusal: 'unsigned', rule: `host ${name} signs with key ${key}, and this is not signed` }
      : {
          refusal: 'foreign_key',
          rule: `host ${name} signs with key ${key}, and this is signed with key ${signer}; if the host has a new key, an operator says so: accelerando host rekey`,
        }
  if (signer !== null) return 'present'
  if (enrollment === 'first-use') return 'believed'
  return { refusal: 'not_approved', rule: `host ${name} has no approved key, and this is not signed` }
}

/** Null: nothing has to be done. */
export type KeyDecision = KeyChange | null | { readonly fault: Fault }

const conflict = (reason: string): KeyDecision => ({ fault: { kind: 'conflict', reason } })

const presented = (
  { key: known, offered }: HostKeys,
  { name, key, enrollment, at }: Extract<KeyCommand, { readonly type: 'PresentKey' }>,
): KeyDecision => {
  if (known !== undefined) return null
  if (enrollment === 'first-use') return { did: 'pinned', name, key }
  if (offered && (offered.key === key || at - offered.at < REFUSALS_EVERY_MS)) return null
  return { did: 'offered', name, key }
}
const approved = ({ key: known, offered }: HostKeys, name: HostName, named: string | null): KeyDecision => {
  if (known !== undefined)
    return named === null || named === known
      ? null
      : conflict(`host ${name} signs with key ${known} already: accelerando host rekey replaces it`)
  const key = named ?? offered?.key
  if (key === undefined)
    return conflict(`no key of host ${name} waits for approval: name the key, or wait for its report`)
  if (offered && offered.key !== key)
    return conflict(`the key of host ${name} that waits is ${offered.key}, not ${key}`)
  return { did: 'approved', name, key }
}

export const decideKey = (host: HostKeys, command: KeyCommand): KeyDecision => {
  if (command.type === 'PresentKey') return presented(host, command)
  const { name, named } = command
  if (command.type === 'ApproveKey') return approved(host, name, named)
  return (host.key ?? null) === named ? null : { did: 'replaced', name, key: named }
}

/** The keys of the host after the change. */
export const keysAfter = (change: KeyChange, at: number): HostKeys => {
  if (change.did === 'offered') return { offered: { key: change.key, at } }
  return change.key === null ? {} : { key: change.key }
}
