/**
 * The scheme and host that the client used, as stated by proxies in `Forwarded` (RFC 7239) or the older
 * X-Forwarded-Proto and X-Forwarded-Host. They are read only when the service is configured to trust proxies.
 *
 * When `Forwarded` is sent, only that header counts, and of it only the first element, which was added by the proxy
 * nearest to the client. When it cannot be parsed no header is trusted, because the older headers may then come from
 * the client itself. `for` is not used: nothing here depends on who the client was.
 */
import type { Header } from './identity.ts'

type Element = ReadonlyMap<string, string>

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
/**
 * Proxies write ports and IPv6 addresses without the quotes that the grammar requires, so more characters than those of
 * a token are accepted.
 */
const BARE = '[^\\s;,"]+'
/** At most one pair and its separator: `;` continues the same element, `,` begins the next one. */
const STEP = `[ \\t]*(?:(${TOKEN})=(?:(${BARE})|"((?:[^"\\\\]|\\\\.)*)")[ \\t]*)?([;,]|$)`

/**
 * The elements in order, with names in lower case and without empty ones. Null when the header violates the grammar.
 */
export const parseForwarded = (text: string): readonly Element[] | null => {
  const elements: Map<string, string>[] = [new Map()]
  const step = new RegExp(STEP, 'y')
  for (let end = ','; end !== '';) {
    const found = step.exec(text)
    if (found === null) return null
    const [, name, bare, quoted] = found
    const element = elements.at(-1)!
    if (name !== undefined && element.has(name.toLowerCase())) return null
    if (name !== undefined) element.set(name.toLowerCase(), bare ?? quoted!.replace(/\\(.)/g, '$1'))
    end = found[4]!
    if (end === ',') elements.push(new Map())
  }
  return elements.filter((element) => element.size > 0)
}

/** A host name or address (IPv6 in brackets) with an optional port. Nothing else is accepted into a link. */
const HOST = /^(?:[a-z0-9._~-]{1,255}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i

const originIn = (header: Header): readonly [proto: string | undefined, host: string | undefined] => {
  const forwarded = header('forwarded')
  if (forwarded !== undefined) {
    const nearest = parseForwarded(forwarded)?.[0]
    return [nearest?.get('proto'), nearest?.get('host')]
  }
  const first = (name: string) => header(name)?.split(',')[0]!.trim()
  return [first('x-forwarded-proto'), first('x-forwarded-host')]
}

/**
 * Scheme and host as the client sees them. A part that the proxies do not state, or state in an invalid form, is taken
 * from the request's own `origin`.
 */
export const originThrough = (origin: string, header: Header): string => {
  const [scheme, own] = origin.split('://') as [string, string]
  const [proto, host = ''] = originIn(header)
  const known = proto !== undefined && /^https?$/i.test(proto) ? proto.toLowerCase() : scheme
  return `${known}://${HOST.test(host) ? host : own}`
}
