/** The pages for signing in and out. */
import type { Context, Hono } from 'hono'
import { createApi } from './api.ts'
import { createAttempts } from './attempts.ts'
import { ASK_MS, TEXT_MAX, type Painted, type Show, type UiParts } from './looking.ts'
import { dropToken, isIssued, isToken, keepToken, tokenOf } from './session.ts'
import * as shapes from './shapes.ts'
import type { Done } from './view/screen.ts'
import { type PageError, pageError } from './loaded.ts'

/** How long a pasted token is kept, in ms; the token itself usually expires earlier. */
const PASTED_MS = 12 * 3600 * 1000

/** A path below the console, then any query and the name of a part of the page. */
const ADDRESS = /^[a-z][\w\-.~!'()*%]*(\/[\w\-.~!'()*%]+)*(\?[\x21\x24-\x5b\x5d-\x7e]*)?(#[\w-]*)?$/
/** The address to open after signing in: a page of the console, never one of another site. */
const addressIn = (text: unknown): string => (typeof text === 'string' && ADDRESS.test(text) ? text : './')

/** How the last session ended, by the name in the address. */
const ENDINGS = {
  revoked: {
    tone: 'good',
    text: 'You are signed out, and your token was revoked. Services that have checked it lately, this one among them, may accept it for a short while longer (keystone_authtoken.token_cache_seconds).',
  },
  kept: {
    tone: 'held',
    text: 'You are signed out here. The token that you had pasted was not revoked: it stays valid until it expires.',
  },
  failed: {
    tone: 'bad',
    text: 'You are signed out here, but your token could not be revoked: it stays valid until it expires. The log of the service says why.',
  },
} as const satisfies Readonly<Record<string, Done>>
const isEnding = (text: string): text is keyof typeof ENDINGS => Object.hasOwn(ENDINGS, text)
/** Leads to the page that says so. */
const signedOut = (c: Context, ending: keyof typeof ENDINGS) => c.redirect(`sign-in?out=${ending}`, 303)

export const signing = (app: Hono, parts: UiParts, show: Show): void => {
  const { signIn, log, remote = () => '' } = parts
  if (signIn === null) return
  const attempt = createAttempts(parts.clock)
  const painted = (error: PageError | null, user: string, back: string, ended: Done | null = null): Painted => ({
    view: 'sign_in',
    title: 'Sign in',
    body: { error, identity: signIn.identity, user, back, ended },
  })
  app.get('/ui/sign-in', (c) => {
    const out = c.req.query('out') ?? ''
    const ended = isEnding(out) ? ENDINGS[out] : null
    return show(c, 'sign-in', null, painted(null, '', addressIn(c.req.query('back')), ended))
  })
  app.post('/ui/sign-in', async (c) => {
    const form = await c.req.parseBody()
    const text = (name: string): string => (typeof form[name] === 'string' ? form[name].trim() : '')
    const [token, user, back] = [text('token'), text('user'), addressIn(form['back'])]
    const account = {
      user,
      password: typeof form['password'] === 'string' ? form['password'] : '',
      project: text('project'),
      domain: text('domain') || 'Default',
    }
    const refused = (reason: string, status = 401) =>
      show(c, 'sign-in', null, painted(pageError('sign_in', reason).error, user, back), status)
    const from = remote(c)
    const signed =
      token === ''
        ? await attempt(user, from, () => signIn.withPassword(account))
        : { ok: true as const, token, lifeMs: PASTED_MS }
    if ('waitMs' in signed) return refused(`Too many attempts: try again in ${Math.ceil(signed.waitMs / 1000)} s.`, 429)
    if (!signed.ok) {
      log.warn({ user: user.slice(0, TEXT_MAX), remote: from, reason: signed.reason }, 'ui.signInRefused')
      return refused(signed.reason)
    }
    if (!isToken(signed.token)) return refused('This is not a token, or one that is too long for a cookie.')
    const known = await createApi({ ...parts, timeoutMs: ASK_MS })(signed.token).get('/permissions', shapes.Permissions)
    if (!known.ok && known.error.kind === 'sign_in')
      return refused('The API does not accept this token: it may have expired.')
    keepToken(c, signed.token, signed.lifeMs / 1000, token === '')
    return c.redirect(back, 303)
  })
  app.post('/ui/sign-out', async (c) => {
    const token = tokenOf(c)
    dropToken(c)
    if (token === null) return c.redirect('sign-in', 303)
    if (!isIssued(c)) return signedOut(c, 'kept')
    const revoked = await signIn.revoke(token)
    if (!revoked.ok) parts.log.warn({ reason: revoked.reason }, 'ui.tokenNotRevoked')
    return signedOut(c, revoked.ok ? 'revoked' : 'failed')
  })
}
