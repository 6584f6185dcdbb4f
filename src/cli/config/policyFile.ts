/**
 * Reads the operator's policy file: JSON, or the flat form that policy generators write, with one `"name": "rule"` per
 * line.
 */
import { readPolicy } from '../../http/policy/policy.ts'
import { OPERATION_RULES } from '../../http/policy/rules.ts'

type Rules = Readonly<Record<string, string>>
type PolicyReading = { readonly rules: Rules; readonly problems: readonly string[] }

const LINE =
  /^(?:"([^"\\]+)"|'([^']+)'|([\w:.-]+))\s*:\s+(?:"([^"\\]*)"|'([^']*)'|([^"'#\s[{|>&*][^#]*?))\s*(?:\s#.*)?$/

const flat = (text: string): PolicyReading => {
  const problems: string[] = []
  const rules = text.split(/\r?\n/).flatMap((line, at): [string, string][] => {
    if (/^(?:\s*(?:#.*)?|---\s*|\{\}\s*)$/.test(line)) return []
    const found = LINE.exec(line)
    if (found === null) problems.push(`line ${at + 1} must be NAME: "RULE"`)
    return found ? [[(found[1] ?? found[2] ?? found[3])!, (found[4] ?? found[5] ?? found[6])!]] : []
  })
  return { rules: Object.fromEntries(rules), problems }
}

const json = (text: string): PolicyReading => {
  try {
    const entries = Object.entries(JSON.parse(text) as Record<string, unknown>)
    const problems = entries.flatMap(([name, rule]) => (typeof rule === 'string' ? [] : [`${name} must be text`]))
    return { rules: Object.fromEntries(entries) as Rules, problems }
  } catch (error) {
    return { rules: {}, problems: [(error as Error).message] }
  }
}

/** A misspelled rule name is an error, because the operation it was meant for would silently keep its default. */
const strangers = (rules: Rules): readonly string[] =>
  Object.keys(rules)
    .filter((name) => name.startsWith('cyborg:') && !Object.hasOwn(OPERATION_RULES, name))
    .map((name) => `${name} is no operation of this API`)

export const readPolicyFile = (text: string, enforceNewDefaults: boolean): PolicyReading => {
  const read = text.trimStart().startsWith('{') && text.trim() !== '{}' ? json(text) : flat(text)
  const problems = [...read.problems, ...strangers(read.rules)]
  if (problems.length > 0) return { rules: {}, problems }
  try {
    readPolicy({ enforceNewDefaults, rules: read.rules })
    return { rules: read.rules, problems }
  } catch (error) {
    return { rules: {}, problems: (error as Error).message.replace(/^policy rules: /, '').split('; ') }
  }
}
