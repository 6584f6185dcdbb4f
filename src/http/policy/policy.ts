/** The policy rules in force: the defaults, the mode, and the operator's overrides. */
import { messageOf } from '../../vocabulary/errorText.ts'
import { parseRule } from './language.ts'
import type { Check, Creds } from './language.ts'
import { BASE_RULES, OPERATION_RULES } from './rules.ts'
import type { OperationRule, RuleName } from './rules.ts'

export type PolicyOptions = {
  /** False: the older defaults are accepted in addition to the new ones. */
  readonly enforceNewDefaults: boolean
  /** Texts by rule name, as in a policy file; each replaces the default and its older form. */
  readonly rules: Readonly<Record<string, string>>
}
export type Policy = {
  readonly allows: (rule: RuleName, creds: Creds) => boolean
  /** The text of the rule in force. */
  readonly textOf: (rule: RuleName) => string
}

const operationText = (rule: OperationRule, enforceNewDefaults: boolean): string =>
  rule.legacy === null || enforceNewDefaults ? rule.now : `(${rule.now}) or (${rule.legacy})`

const texts = (options: PolicyOptions): ReadonlyMap<string, string> => {
  const operations = Object.entries<OperationRule>(OPERATION_RULES)
  return new Map([
    ...Object.entries(BASE_RULES),
    ...operations.map(([name, rule]) => [name, operationText(rule, options.enforceNewDefaults)] as const),
    ...Object.entries(options.rules),
  ])
}

/** A rule that refers to itself, directly or through other rules, cannot be evaluated. */
const inCircle = (start: string, names: ReadonlyMap<string, readonly string[]>): boolean => {
  const seen = new Set<string>()
  const waiting = [...names.get(start)!]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === start) return true
    if (!seen.has(name)) waiting.push(...(names.get(name) ?? []))
    seen.add(name)
  }
  return false
}

/** Throws one error that lists all problems in the operator's rules. */
export const readPolicy = (options: PolicyOptions): Policy => {
  const checks = new Map<string, Check>()
  const names = new Map<string, readonly string[]>()
  const problems: string[] = []
  const inForce = texts(options)
  for (const [name, text] of inForce) {
    try {
      const parsed = parseRule(text, (other) => checks.get(other))
      checks.set(name, parsed.check)
      names.set(name, parsed.names)
    } catch (error) {
      problems.push(`${name}: ${messageOf(error)}`)
    }
  }
  for (const [name, used] of names) {
    for (const other of used.filter((each) => !names.has(each))) problems.push(`${name}: there is no rule ${other}`)
    if (inCircle(name, names)) problems.push(`${name}: it leads back to itself`)
  }
  if (problems.length > 0) throw new Error(`policy rules: ${problems.join('; ')}`)
  return { allows: (rule, creds) => checks.get(rule)!(creds), textOf: (rule) => inForce.get(rule)! }
}
