/** Clients use several spellings of the paths. All are normalized to `/v2/...` before routing. */

const PREFIX = '/accelerator'
/** First segments of paths that are not below `/v2`. */
const OUTSIDE = /^\/(healthz|readyz|(?:open|async)api\.json)$/

/** The part of the URL after the host and before the query. */
const rawPath = (url: string): string => {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const query = url.indexOf('?', start)
  const hash = url.indexOf('#', start)
  const end = query < 0 ? hash : hash < 0 ? query : Math.min(query, hash)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

const withoutPrefix = (path: string): string =>
  path === PREFIX ? '/' : path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path

/**
 * Removes doubled and trailing slashes, the prefix `/accelerator`, and `.json` after the two discovery documents. A
 * path that names no version is taken as one below `/v2`.
 */
export const canonicalPath = (path: string): string => {
  const single = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  const trimmed = single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single
  const bare = withoutPrefix(trimmed)
  if (bare === '/' || bare === '/.json') return '/'
  if (bare === '/v2' || bare === '/v2.json') return '/v2'
  return bare.startsWith('/v2/') || OUTSIDE.test(bare) ? bare : `/v2${bare}`
}

export const pathOf = (request: { readonly url: string }): string => canonicalPath(rawPath(request.url))

export const isVersioned = (path: string): boolean => path === '/v2' || path.startsWith('/v2/')

/** Scheme and host of the request, or those that a trusted proxy states. */
export const originOf = (url: string): string => {
  const end = url.indexOf('/', url.indexOf('//') + 2)
  return end < 0 ? url : url.slice(0, end)
}

/** The query as it was sent, without the question mark. */
export const queryOf = (url: string): string => {
  const start = url.indexOf('?')
  if (start < 0) return ''
  const hash = url.indexOf('#', start)
  return hash < 0 ? url.slice(start + 1) : url.slice(start + 1, hash)
}
