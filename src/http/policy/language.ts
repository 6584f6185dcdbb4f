/**
 * The subset of the policy language that the rules of this service use: `role:`, `rule:`, comparisons, `and or not`,
 * `@`, `!`.
 */

export type Creds = {
  readonly userId: string
  readonly projectId: string
  readonly roles: readonly string[]
}
export type Check = (creds: Creds) => boolean
/**
 * Finds a named rule. It is called when a check is evaluated, so that a rule may refer to one that is defined later.
 */
export type Lookup = (name: string) => Check | undefined
export type Parsed = { readonly check: Check; readonly names: readonly string[] }

/** Everything but white space is part of a token. */
const TOKEN = /[()]|(?:%\(\w+\)s|[^\s()])+/g
const tokens = (text: string): readonly string[] => Array.from(text.matchAll(TOKEN), ([token]) => token)

/** The operands allowed on the left of a comparison. */
const FIELDS: Readonly<Record<string, (creds: Creds) => string>> = {
  is_admin: (creds) => (creds.roles.includes('admin') ? 'True' : 'False'),
  is_public_api: () => 'False',
  project_id: (creds) => creds.projectId,
  user_id: (creds) => creds.userId,
}

/** The target of every rule is the caller's own project and user. */
const wanted = (text: string): ((creds: Creds) => string) => {
  if (text === '%(project_id)s') return (creds) => creds.projectId
  if (text === '%(user_id)s') return (creds) => creds.userId
  if (text.includes('%(')) throw new Error(`"${text}" names no target; there are project_id and user_id`)
  return () => text
}

class Reader {
  #at = 0
  readonly names: string[] = []
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
    if (kind === 'role')
      return (
        (role) => (creds: Creds) =>
          creds.roles.includes(role)
      )(value.toLowerCase())
    if (kind === 'rule') {
      this.names.push(value)
      return (creds) => this.#lookup(value)?.(creds) ?? false
    }
    const field = Object.hasOwn(FIELDS, kind) ? FIELDS[kind] : undefined
    if (field === undefined) throw new Error(`"${token}" is not a check`)
    const right = wanted(value)
    return (creds) => field(creds) === right(creds)
  }
}

/** Throws an error that quotes the part that cannot be parsed. */
export const parseRule = (text: string, lookup: Lookup): Parsed => {
  const reader = new Reader(text, lookup)
  return { check: reader.whole(), names: reader.names }
}
