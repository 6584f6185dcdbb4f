/** Clients use several spellings of the paths. All are normalized to `/v2/...` before routing. */

const PREFIX = '/accelerator'
/** First segments of paths that are not below `/v2`. */
const OUTSIDE = /^\/(healthz|readyz|(?:open|async)api\.json)$/

/** Scheme and host of the URL of a `Request`, which is absolute, and its path. */
const PARTS = /^([^/]*\/\/[^/?#]*)([^?#]*)/
const partsOf = (url: string) => PARTS.exec(url) as unknown as readonly [whole: string, origin: string, path: string]

const withoutPrefix = (path: string): string =>
  path === PREFIX ? '/' : path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path

/**
 * Removes doubled and trailing slashes, the prefix `/accelerator`, and `.json` after the two discovery documents. A
 * path that names no version is taken as one below `/v2`.
 */
export const canonicalPath = (path: string): string => {
  const single = path.replace(/\/{2,}/g, '/')
  const bare = withoutPrefix(single === '/' ? single : single.replace(/\/$/, ''))
  if (bare === '/' || bare === '/.json') return '/'
  if (bare === '/v2' || bare === '/v2.json') return '/v2'
  return bare.startsWith('/v2/') || OUTSIDE.test(bare) ? bare : `/v2${bare}`
}

export const pathOf = (request: { readonly url: string }): string => canonicalPath(partsOf(request.url)[2] || '/')

export const isVersioned = (path: string): boolean => path === '/v2' || path.startsWith('/v2/')

/** Scheme and host of the request, or those that a trusted proxy states. */
export const originOf = (url: string): string => partsOf(url)[1]

/** The query as it was sent, without the question mark. */
export const queryOf = (url: string): string => /\?([^#]*)/.exec(url)?.[1] ?? ''
