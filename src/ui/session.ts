/**
 * Identifies the user: with Keystone, by the token in the cookie; without Keystone, nobody signs in.
 *
 * SESSION-UI-1 the token is kept in a cookie that no script can read (HttpOnly) and that no page of another site makes
 *    a browser send (SameSite=Strict), and nowhere else: not in an address, not in the page, not in this process;
 * SESSION-UI-2 the cookie has no explicit path, so it applies below the folder of the sign-in page, wherever a proxy
 *    has put that folder;
 * SESSION-UI-3 a token that the console was given for a password is revoked when its user signs out; one that was
 *    pasted belongs to something else as well, and stays valid. A second cookie of the same kind has the digest of a
 *    token that was issued, so that it tells nothing of another token that came to stand beside it;
 * SESSION-UI-4 a change is accepted only from a page of this site, as its `Origin` or `Sec-Fetch-Site` header says.
 */
import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { serialize } from 'hono/utils/cookie'

const COOKIE = 'accelerando-token'
/** The digest of the token that the console was given for a password. */
const ISSUED_COOKIE = 'accelerando-issued'
/** In characters. Browsers keep no larger cookie. */
export const TOKEN_MAX = 4000

const isTls = (c: Context): boolean =>
  new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https'

/** Whether the text may be a token: not too long, and only characters that a header can hold. */
export const isToken = (text: string): boolean => text.length <= TOKEN_MAX && /^[\x21-\x7e]+$/.test(text)

export const tokenOf = (c: Context): string | null => {
  const token = getCookie(c, COOKIE)
  return token !== undefined && isToken(token) ? token : null
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** Whether the token of the request is one that the console was given for a password. */
export const isIssued = (c: Context): boolean => {
  const token = tokenOf(c)
  return token !== null && getCookie(c, ISSUED_COOKIE) === digestOf(token)
}
const hasIssued = (c: Context): boolean => getCookie(c, ISSUED_COOKIE) !== undefined

const cookie = (c: Context, name: string, value: string, maxAge: number): void =>
  c.header('set-cookie', serialize(name, value, { httpOnly: true, sameSite: 'Strict', secure: isTls(c), maxAge }), {
    append: true,
  })

export const keepToken = (c: Context, token: string, seconds: number, issued: boolean): void => {
  const maxAge = Math.max(1, Math.floor(seconds))
  cookie(c, COOKIE, token, maxAge)
  if (issued) cookie(c, ISSUED_COOKIE, digestOf(token), maxAge)
  else if (hasIssued(c)) cookie(c, ISSUED_COOKIE, '', 0)
}
export const dropToken = (c: Context): void => {
  cookie(c, COOKIE, '', 0)
  if (hasIssued(c)) cookie(c, ISSUED_COOKIE, '', 0)
}

/** Returns why a change is refused; null: the request comes from a page of this site. */
export const foreign = (c: Context): string | null => {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin' ? null : 'It was sent for a page of another site.'
  const origin = c.req.header('origin')
  if (origin === undefined) return 'The browser did not say which page it was sent for.'
  return URL.parse(origin)?.host === c.req.header('host') ? null : 'It was sent for a page of another site.'
}
