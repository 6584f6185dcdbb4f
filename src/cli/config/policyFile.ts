/** Reads the operator's policy file: YAML, which includes JSON, with one `"name": "rule"` for each operation. */
import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { ParsedNode, YAMLParseError } from 'yaml'
import { parseRule } from '../../http/policy/language.ts'
import { readPolicy } from '../../http/policy/policy.ts'
import { FORMER_RULES, OPERATION_RULES } from '../../http/policy/rules.ts'

type Rules = Readonly<Record<string, string>>
/** `warnings`: what is in the file and has no effect. */
type PolicyReading = {
  readonly rules: Rules
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}
type Entry = { readonly name: string; readonly rule: string; readonly line: number }
type Entries = { readonly entries: readonly Entry[]; readonly problems: readonly string[] }

/**
 * Several times the size of a policy with comments for every operation. Parsing compares all names, so a much larger
 * file would take minutes.
 */
const CHARACTERS_MAX = 131_072

/**
 * Returns undefined for anything that is not text. This excludes aliases, so that nothing is expanded, and an unquoted
 * `!`, which YAML reads as a tag on an empty text and not as the rule that denies everything.
 */
const textOf = (node: ParsedNode | null): string | undefined =>
  isScalar(node) && typeof node.value === 'string' && node.tag === undefined ? node.value.trim() : undefined

/**
 * The older form of a rule: a list of which one has to hold, each of them a check or a list of checks that all hold.
 * Undefined: it is no such list.
 */
const listed = (node: ParsedNode | null): string | undefined => {
  if (!isSeq<ParsedNode>(node) || node.tag !== undefined) return undefined
  const parts = node.items.map((item) => (isSeq<ParsedNode>(item) ? item.items.map(textOf) : [textOf(item)]))
  if (parts.flat().some((check) => check === undefined || !ONE_CHECK.test(check))) return undefined
  const filled = parts.filter((checks) => checks.length > 0)
  if (parts.length === 0) return '@'
  return filled.length === 0 ? '!' : filled.map((checks) => checks.join(' and ')).join(' or ')
}
const ONE_CHECK = /^(?:[@!]|[^\s()@!:]+:(?:%\([^\s()]+\)s|[^\s()])+)$/

/** The library's own message for this error is advice for programmers, so it is replaced. */
const said = ({ code, message }: YAMLParseError): string =>
  code === 'MULTIPLE_DOCS' ? 'a second document begins here' : message

const entriesOf = (text: string): Entries => {
  const counter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: counter,
    prettyErrors: false,
    stringKeys: true,
    uniqueKeys: false,
  })
  const lineOf = (offset: number): number => counter.linePos(offset).line
  if (document.errors.length > 0)
    return { entries: [], problems: document.errors.map((error) => `line ${lineOf(error.pos[0])}: ${said(error)}`) }
  const { contents } = document
  if (contents === null || (isScalar(contents) && contents.value === null)) return { entries: [], problems: [] }
  if (!isMap<ParsedNode, ParsedNode | null>(contents))
    return { entries: [], problems: [`line ${lineOf(contents.range[0])} must be NAME: "RULE"`] }
  const read = contents.items.map(({ key, value }) => ({
    name: String(key),
    rule: textOf(value) ?? listed(value),
    line: lineOf(key.range[0]),
  }))
  return {
    entries: read.flatMap(({ rule, ...rest }) => (rule === undefined ? [] : [{ ...rest, rule }])),
    problems: read.flatMap(({ name, rule, line }) =>
      rule === undefined ? [`line ${line}: ${name} must be text: NAME: "RULE"`] : [],
    ),
  }
}

/** Misspelled rule names are errors, because the operation that was meant would silently keep its default. */
const strangers = (entries: readonly Entry[]): readonly string[] =>
  entries
    .filter(
      ({ name }) => name.startsWith('cyborg:') && !Object.hasOwn(OPERATION_RULES, name) && !FORMER_RULES.has(name),
    )
    .map(({ name, line }) => `line ${line}: ${name} is not an operation of this API`)

const idle = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ name, rule, line }, at) => [
    ...(entries.slice(at + 1).some((later) => later.name === name) ? [`line ${line}: ${name} is set again below`] : []),
    ...(FORMER_RULES.has(name) ? [`line ${line}: ${name} is an operation of a former release of Cyborg`] : []),
    ...parseRule(rule, () => undefined).never.map((check) => `line ${line}: ${name}: "${check}" never holds here`),
  ])

/** The problems that the policy language reports, each with the line of its rule. */
const unsound = (entries: readonly Entry[], error: unknown): readonly string[] =>
  (error as Error).message
    .replace(/^policy rules: /, '')
    .split('; ')
    .map((broken) => {
      const entry = entries.find(({ name }) => broken.startsWith(`${name}: `))
      return entry === undefined ? broken : `line ${entry.line}: ${broken}`
    })

export const readPolicyFile = (text: string, enforceNewDefaults: boolean): PolicyReading => {
  if (text.length > CHARACTERS_MAX)
    return { rules: {}, warnings: [], problems: [`must not be longer than ${CHARACTERS_MAX} characters`] }
  const { entries, problems: unread } = entriesOf(text)
  const problems = [...unread, ...strangers(entries)]
  if (problems.length > 0) return { rules: {}, problems, warnings: [] }
  const rules = Object.fromEntries(entries.map(({ name, rule }) => [name, rule]))
  try {
    readPolicy({ enforceNewDefaults, rules })
    return { rules, problems, warnings: idle(entries) }
  } catch (error) {
    return { rules: {}, problems: unsound(entries, error), warnings: [] }
  }
}
