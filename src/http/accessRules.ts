/**
 * Decides whether a rule of a limited application credential matches a request. Tenants write these rules, and a
 * regular expression made from one could run for hours. So the pattern is matched part by part, with the set of places
 * in the path that can be reached.
 */
import type { AccessRule } from '../vocabulary/token.ts'
import type { RequestTarget } from './identity.ts'
import { canonicalPath } from './paths.ts'

/** By the index in the path: whether the parts so far can match all of the path before it. */
type Reached = readonly boolean[]

const afterText = (text: string, path: string, reached: Reached): Reached =>
  reached.map((_, at) => reached[at - text.length] === true && path.startsWith(text, at - text.length))

/** Matches one or more characters; a slash only if `crossing`. */
const afterWildcard = (crossing: boolean, path: string, reached: Reached): Reached => {
  let open = false
  return reached.map((_, at) => {
    open = (open || reached[at - 1] === true) && (crossing || path[at - 1] !== '/')
    return open
  })
}

/** The parts of a pattern; what the group catches is a wildcard. */
const PARTS = /(\{[^{}]*\}|\*\*|\*)|[^{}*]+|[{}]/g

/** `{name}` and `*` match one segment of a path or a part of one, `**` matches any text. */
const fits = (pattern: string, path: string): boolean => {
  const start: Reached = [true, ...path.split('').map(() => false)]
  const parts = [...pattern.matchAll(PARTS)]
  return parts.reduce(
    (reached, [part, wildcard]) =>
      wildcard === undefined ? afterText(part, path, reached) : afterWildcard(part === '**', path, reached),
    start,
  )[path.length]!
}

export const allows = (
  rule: AccessRule,
  { service, method, path }: RequestTarget & { readonly service: string },
): boolean => rule.service === service && rule.method === method && fits(canonicalPath(rule.path), path)
