/**
 * The policy language of oslo.policy, without checks that call another program: `role:`, `rule:`, comparisons of what
 * is known of the caller with text or with the target, `and or not`, `@`, `!`.
 */
import type { PolicyFields } from '../../vocabulary/token.ts'

export type Creds = {
  readonly userId: string
  readonly projectId: string
  readonly roles: readonly string[]
  readonly fields?: PolicyFields | undefined
}
export type Check = (creds: Creds) => boolean
/**
 * Finds a named rule. It is called when a check is evaluated, so that a rule may refer to one that is defined later.
 */
export type Lookup = (name: string) => Check | undefined
/** `never`: the comparisons that no caller of this service satisfies, because what they compare is never known. */
export type Parsed = { readonly check: Check; readonly names: readonly string[]; readonly never: readonly string[] }

/** Everything but white space is part of a token. */
const TOKEN = /[()]|(?:%\([^\s()]+\)s|[^\s()])+/g
const tokens = (text: string): readonly string[] => Array.from(text.matchAll(TOKEN), ([token]) => token)

/** The operands allowed on the left of a comparison. */
const FIELDS: Readonly<Record<string, (creds: Creds) => string | undefined>> = {
  is_admin: (creds) => (creds.roles.includes('admin') ? 'True' : 'False'),
  is_public_api: () => 'False',
  project_id: (creds) => creds.projectId,
  tenant: (creds) => creds.projectId,
  user_id: (creds) => creds.userId,
  user: (creds) => creds.userId,
  project_domain_id: ({ fields }) => fields?.project_domain_id,
  user_domain_id: ({ fields }) => fields?.user_domain_id,
  // unless the identity service has a project of administrators, every project counts as it
  is_admin_project: ({ fields }) => fields?.is_admin_project ?? 'True',
}
/** What other services know of their callers. This one serves tokens with the scope of a project only. */
const UNKNOWN =
  /^(?:system_scope|domain_id|domain_name|domain|(?:user|project)(?:_domain)?_name|service_roles|service_(?:user|project)(?:_domain)?_id|\w+(?:\.\w+)+)$/
/** A literal of Python, in quotes or not. */
const LITERAL = /^(?:'([^']*)'|"([^"]*)"|(True|False|None|\d+))$/

/** The target of every rule is the caller's own project and user. */
const TARGETS: Readonly<Record<string, (creds: Creds) => string>> = {
  project_id: (creds) => creds.projectId,
  user_id: (creds) => creds.userId,
}
type Value = (creds: Creds) => string | undefined
/** Undefined: it names a target that no rule here has, so nothing is equal to it. */
const wanted = (text: string): Value | undefined => {
  const named = Array.from(text.matchAll(/%\(([^)]*)\)s/g), ([, name]) => name!)
  if (!named.every((name) => Object.hasOwn(TARGETS, name))) return undefined
  return (creds) => text.replaceAll(/%\(([^)]*)\)s/g, (_, name: string) => TARGETS[name]!(creds))
}
const fieldOf = (kind: string): Value | undefined => {
  const literal = LITERAL.exec(kind)
  if (literal !== null) return () => literal[1] ?? literal[2] ?? literal[3]
  return Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : undefined
}

class Reader {
  #at = 0
  readonly names: string[] = []
  readonly never: string[] = []
  readonly #tokens: readonly string[]
  readonly #lookup: Lookup

  constructor(text: string, lookup: Lookup) {
    this.#tokens = tokens(text)
    this.#lookup = lookup
  }

  whole(): Check {
    if (this.#tokens.length === 0) return () => true
    const check = this.#either()
    if (this.#at < this.#tokens.length) throw new Error(`unexpected "${this.#tokens[this.#at]}"`)
    return check
  }

  #takes(word: string): boolean {
    const match = this.#tokens[this.#at]?.toLowerCase() === word
    if (match) this.#at += 1
    return match
  }

  #either(): Check {
    const parts = [this.#both()]
    while (this.#takes('or')) parts.push(this.#both())
    return parts.length === 1 ? parts[0]! : (creds) => parts.some((part) => part(creds))
  }

  #both(): Check {
    const parts = [this.#one()]
    while (this.#takes('and')) parts.push(this.#one())
    return parts.length === 1 ? parts[0]! : (creds) => parts.every((part) => part(creds))
  }

  #one(): Check {
    if (this.#takes('not')) {
      const inner = this.#one()
      return (creds) => !inner(creds)
    }
    if (!this.#takes('(')) return this.#leaf(this.#tokens[this.#at++])
    const inner = this.#either()
    if (!this.#takes(')')) throw new Error('a parenthesis is not closed')
    return inner
  }

  #leaf(token: string | undefined): Check {
    if (token === undefined) throw new Error('it ends too early')
    if (token === '@') return () => true
    if (token === '!') return () => false
    if (!token.includes(':')) throw new Error(`"${token}" is not a check`)
    const colon = token.indexOf(':')
    const [kind, value] = [token.slice(0, colon), token.slice(colon + 1)]
    if (kind === 'rule') {
      this.names.push(value)
      return (creds) => this.#lookup(value)?.(creds) ?? false
    }
    return this.#comparison(token, kind, value)
  }

  #comparison(token: string, kind: string, value: string): Check {
    const left = fieldOf(kind)
    if (kind !== 'role' && left === undefined && !UNKNOWN.test(kind)) throw new Error(`"${token}" is not a check`)
    const right = wanted(value)
    if (right === undefined || (kind !== 'role' && left === undefined)) {
      this.never.push(token)
      return () => false
    }
    if (kind === 'role') return (creds) => creds.roles.includes(right(creds)!.toLowerCase())
    return (creds) => left!(creds) === right(creds)
  }
}

/** Throws an error that quotes the part that cannot be parsed. */
export const parseRule = (text: string, lookup: Lookup): Parsed => {
  const reader = new Reader(text, lookup)
  return { check: reader.whole(), names: reader.names, never: reader.never }
}
