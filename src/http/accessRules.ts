/**
 * Decides whether a rule of a limited application credential matches a request. Tenants write these rules, and a
 * regular expression made from one could run for hours. So the pattern is matched part by part, with the set of places
 * in the path that can be reached.
 */
import type { AccessRule } from '../token.ts'
import type { RequestTarget } from './identity.ts'
import { canonicalPath } from './paths.ts'

/** By the index in the path: whether the parts so far can match all of the path before it. */
type Reached = readonly boolean[]

const afterText = (text: string, path: string, reached: Reached): Reached =>
  reached.map((_, at) => at >= text.length && reached[at - text.length]! && path.startsWith(text, at - text.length))

/** Matches one or more characters; a slash only if `crossing`. */
const afterWildcard = (crossing: boolean, path: string, reached: Reached): Reached => {
  let open = false
  return reached.map((_, at) => {
    if (at === 0) return false
    open = (open || reached[at - 1]!) && (crossing || path[at - 1] !== '/')
    return open
  })
}

const PARTS = /\{[^{}]*\}|\*\*|\*|[^{}*]+|[{}]/g
const isWildcard = (part: string): boolean => part.startsWith('*') || (part.startsWith('{') && part.endsWith('}'))

/** `{name}` and `*` match one segment of a path or a part of one, `**` matches any text. */
const fits = (pattern: string, path: string): boolean => {
  const start: Reached = Array.from({ length: path.length + 1 }, (_, at) => at === 0)
  const parts = Array.from(pattern.matchAll(PARTS), ([part]) => part)
  return parts.reduce(
    (reached, part) =>
      isWildcard(part) ? afterWildcard(part === '**', path, reached) : afterText(part, path, reached),
    start,
  )[path.length]!
}

export const allows = (
  rule: AccessRule,
  { service, method, path }: RequestTarget & { readonly service: string },
): boolean => rule.service === service && rule.method === method && fits(canonicalPath(rule.path), path)
