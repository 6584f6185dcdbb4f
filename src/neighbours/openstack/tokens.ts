/**
 * Validates the tokens of callers with Keystone, and caches its answers.
 *
 * TOKENS-1 an answer is used for at most `cacheMs`, and not after the token ends; so a revoked token works at most that
 *    long;
 * TOKENS-2 a token is validated by one request at a time; other callers with the same token wait for that answer;
 * TOKENS-3 an answer that allowed an expired token is used only where that is allowed again;
 * TOKENS-4 at most `entries` valid tokens are cached, and as many invalid ones separately, so that invented tokens do
 *    not displace valid ones; the oldest are dropped first. Only the digest of a token is stored;
 * TOKENS-5 while Keystone does not answer, cached answers are used within their limit, and other tokens get
 *    `unavailable`;
 * TOKENS-6 at most `VALIDATED_AT_ONCE` requests to Keystone are open, so that a flood of invented tokens blocks nothing
 *    else.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { textOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import type { Tokens, TokenVerdict } from '../../token.ts'
import { readToken, remainingMs } from './answers.ts'
import { NotAsked, Unanswered } from './send.ts'
import type { Session } from './session.ts'

export type CacheOptions = { readonly cacheMs: number; readonly entries: number }
type Parts = {
  readonly session: Pick<Session, 'ask'>
  readonly cache: CacheOptions
  readonly clock: Clock
  readonly log: Log
}
type Said = Exclude<TokenVerdict, { readonly kind: 'unavailable' }>
type Entry = { readonly verdict: Said; readonly until: number }

/** Tokens are printable ASCII; a longer one does not fit into a request. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/
const VALIDATED_AT_ONCE = 64
/** How long an invalid token is remembered, to limit the requests to Keystone for it. */
const INVALID_FOR_MS = 10_000
const RETRY_SECONDS = 1

const INVALID: Said = { kind: 'invalid' }
const unavailable = (reason: string): TokenVerdict => ({
  kind: 'unavailable',
  reason,
  retryAfterSeconds: RETRY_SECONDS,
})

export const createTokens = ({ session, cache, clock, log }: Parts): Tokens => {
  const known = { valid: new Map<string, Entry>(), invalid: new Map<string, Entry>() }
  const asked = new Map<string, Promise<TokenVerdict>>()
  const remember = (key: string, verdict: Said, forMs: number): TokenVerdict => {
    for (const entries of Object.values(known)) entries.delete(key)
    const entries = known[verdict.kind]
    if (forMs > 0) entries.set(key, { verdict, until: clock.monotonic() + forMs })
    for (const oldest of entries.keys()) {
      if (entries.size <= cache.entries) break
      entries.delete(oldest)
    }
    return verdict
  }
  const remembered = (key: string): Said | null => {
    const entry = known.valid.get(key) ?? known.invalid.get(key)
    return entry !== undefined && clock.monotonic() < entry.until ? entry.verdict : null
  }
  const ask = async (key: string, token: string, allowExpired: boolean): Promise<TokenVerdict> => {
    const answer = await session.ask(`/auth/tokens?nocatalog${allowExpired ? '&allow_expired=1' : ''}`, {
      'x-subject-token': token,
      // without this header, Keystone refuses tokens of limited application credentials
      'openstack-identity-access-rules': '1.0',
    })
    if (answer.status === 404) return remember(key, INVALID, Math.min(cache.cacheMs, INVALID_FOR_MS))
    const read = answer.status === 200 ? readToken(answer.text) : null
    if (read === null) throw new Unanswered(`it answers ${answer.status} to a token`)
    const endsInMs = allowExpired ? Infinity : remainingMs(read, answer, clock.now())
    return remember(key, { kind: 'valid', token: read.token }, Math.min(cache.cacheMs, endsInMs))
  }
  const asking = async (key: string, token: string, allowExpired: boolean): Promise<TokenVerdict> => {
    try {
      return await ask(key, token, allowExpired)
    } catch (error) {
      const reason = textOf(error)
      // the session has already logged other reasons, once
      if (!(error instanceof NotAsked)) log.warn({ reason }, 'keystone.tokenNotValidated')
      return unavailable('the identity service does not answer')
    }
  }
  return {
    validate: async (token, { allowExpired }) => {
      if (!TOKEN.test(token)) return INVALID
      const digest = createHash('sha256').update(token).digest('base64')
      const key = allowExpired ? `${digest} expired` : digest
      const plain = remembered(digest)
      // a token that is valid is also valid where expired tokens are allowed
      const found = plain?.kind === 'valid' ? plain : remembered(key)
      if (found !== null) return found
      const other = asked.get(key)
      if (other !== undefined) return other
      if (asked.size >= VALIDATED_AT_ONCE) return unavailable('too many tokens are being validated')
      const verdict = asking(key, token, allowExpired).finally(() => void asked.delete(key))
      asked.set(key, verdict)
      return verdict
    },
  }
}
