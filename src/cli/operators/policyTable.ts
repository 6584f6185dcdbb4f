/** Shows which roles the policy allows each operation, for tokens that are scoped to a project. */
import { misused } from '../exits.ts'
import { type PolicyOptions, readPolicy } from '../../http/policy/policy.ts'
import { OPERATION_RULES, type RuleName } from '../../http/policy/rules.ts'

type PolicyRow = {
  readonly operation: RuleName
  readonly rule: string
  /** By column head. */
  readonly allowed: Readonly<Record<string, boolean>>
}
export type PolicyTable = { readonly heads: readonly string[]; readonly rows: readonly PolicyRow[] }

/**
 * The roles in a token, by the role that was assigned: admin implies manager, manager implies member, member implies
 * reader. `other`: a role in no rule.
 */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  admin: ['admin', 'manager', 'member', 'reader'],
  manager: ['manager', 'member', 'reader'],
  member: ['member', 'reader'],
  reader: ['reader'],
  service: ['service'],
  other: ['other'],
}
/** The columns when the user names no roles. */
export const ROLE_NAMES = Object.keys(ROLES)
const PROJECT = 'p'

/** `as`: roles with commas between them. Throws when the rules cannot be read, or no role is named. */
export const policyTable = (options: PolicyOptions, as?: string): PolicyTable => {
  const { allows, textOf } = readPolicy(options)
  const named = as?.split(',').map((role) => role.trim().toLowerCase())
  if (named?.some((role) => role === '')) throw misused(`--as: must be roles with commas between them (is ${as})`)
  const columns = named === undefined ? ROLES : { [named.join('+')]: named }
  const rows = Object.keys(OPERATION_RULES).map((operation) => {
    const name = operation as RuleName
    const judged = Object.entries(columns).map(([head, roles]) => [
      head,
      allows(name, { userId: 'u', projectId: PROJECT, roles }),
    ])
    return { operation: name, rule: textOf(name), allowed: Object.fromEntries(judged) as Record<string, boolean> }
  })
  return { heads: Object.keys(columns), rows }
}
