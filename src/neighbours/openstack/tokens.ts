/**
 * Validates the tokens of callers with Keystone, and caches its answers.
 *
 * TOKENS-1 an answer is used for at most `cacheMs`, and not after the token ends; so a revoked token works at most
 *    that long;
 * TOKENS-2 a token is validated by one request at a time; other callers with the same token wait for that answer;
 * TOKENS-3 an answer that allowed an expired token is used only where that is allowed again;
 * TOKENS-4 at most `entries` valid tokens are cached, and as many invalid ones separately, so that invented tokens do
 *    not displace valid ones; the oldest are dropped first. Only the digest of a token is stored;
 * TOKENS-5 while Keystone does not answer, cached answers are used within their limit, and other tokens get
 *    `unavailable`;
 * TOKENS-6 the places for requests to Keystone are shared by the addresses of callers (`places.ts`), so that a flood
 *    of invented tokens keeps out no token that was valid before and delays those of other addresses by little;
 * TOKENS-7 what cannot be a token is invalid without a question: a text longer than any real token, and one that
 *    Keystone refuses as a request;
 * TOKENS-8 a token for which alone Keystone fails is not asked about again for `FAILED_FOR_MS`.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Tokens, TokenVerdict } from '../../vocabulary/token.ts'
import { readToken, remainingMs } from './answers.ts'
import { OnlyThisCall } from './circuit.ts'
import { createPlaces } from './places.ts'
import { createRefusals, type TokenRefusal } from './refusals.ts'
import { NotAsked, Unanswered } from './send.ts'
import type { Session } from './session.ts'

export type CacheOptions = { readonly cacheMs: number; readonly entries: number }
type Parts = {
  readonly session: Pick<Session, 'askFor'>
  readonly cache: CacheOptions
  readonly clock: Clock
  readonly log: Log
}
type Entry = { readonly verdict: TokenVerdict; readonly until: number }
export type CountedTokens = Tokens & { readonly refused: () => Readonly<Record<TokenRefusal, number>> }

/**
 * Tokens are printable ASCII. Those of Keystone (Fernet, JWS) have some hundred characters; a much longer one does not
 * fit into the requests that common servers of Keystone take, which end the connection then.
 */
const TOKEN = /^[\x21-\x7e]{1,4096}$/
/** Statuses by which Keystone, or a server before it, refuses the request because of what the caller has sent. */
const NO_TOKEN: ReadonlySet<number> = new Set([400, 404, 413, 414, 431])
/** How long an invalid token is remembered, to limit the requests to Keystone for it. */
const INVALID_FOR_MS = 10_000
const FAILED_FOR_MS = 5000
const RETRY_SECONDS = 1

const INVALID: TokenVerdict = { kind: 'invalid' }
const unavailable = (reason: string, retryAfterSeconds = RETRY_SECONDS): TokenVerdict => ({
  kind: 'unavailable',
  reason,
  retryAfterSeconds,
})
const FAILED = unavailable('the identity service fails for this token', FAILED_FOR_MS / 1000)

/** The answers, by kind: none of one kind displaces those of another. */
const createAnswers = ({ cache, clock }: Pick<Parts, 'cache' | 'clock'>) => {
  const known = { valid: new Map(), invalid: new Map(), unavailable: new Map() } satisfies Readonly<
    Record<TokenVerdict['kind'], Map<string, Entry>>
  >
  return {
    remember: (key: string, verdict: TokenVerdict, forMs: number): TokenVerdict => {
      for (const entries of Object.values(known)) entries.delete(key)
      const entries = known[verdict.kind]
      if (forMs > 0) entries.set(key, { verdict, until: clock.monotonic() + forMs })
      for (const oldest of entries.keys()) {
        if (entries.size <= cache.entries) break
        entries.delete(oldest)
      }
      return verdict
    },
    remembered: (key: string): TokenVerdict | null => {
      for (const entries of Object.values(known)) {
        const entry: Entry | undefined = entries.get(key)
        if (entry !== undefined) return clock.monotonic() < entry.until ? entry.verdict : null
      }
      return null
    },
    wasValid: (key: string): boolean => known.valid.has(key),
  }
}

export const createTokens = ({ session, cache, clock, log }: Parts): CountedTokens => {
  const { remember, remembered, wasValid } = createAnswers({ cache, clock })
  const asked = new Map<string, Promise<TokenVerdict>>()
  const places = createPlaces(clock)
  const refusals = createRefusals(clock, log)
  const ask = async (key: string, token: string, allowExpired: boolean): Promise<TokenVerdict> => {
    const answer = await session.askFor(`/auth/tokens?nocatalog${allowExpired ? '&allow_expired=1' : ''}`, {
      'x-subject-token': token,
      // without this header, Keystone refuses tokens of limited application credentials
      'openstack-identity-access-rules': '1.0',
    })
    if (NO_TOKEN.has(answer.status)) return remember(key, INVALID, Math.min(cache.cacheMs, INVALID_FOR_MS))
    const read = answer.status === 200 ? readToken(answer.text) : null
    if (read === null) throw new Unanswered(`it answers ${answer.status} to a token`)
    const endsInMs = allowExpired ? Infinity : remainingMs(read, answer, clock.now())
    return remember(key, { kind: 'valid', token: read.token }, Math.min(cache.cacheMs, endsInMs))
  }
  const asking = async (key: string, token: string, allowExpired: boolean): Promise<TokenVerdict> => {
    try {
      return await ask(key, token, allowExpired)
    } catch (error) {
      // the session has already logged other reasons, once
      if (!(error instanceof NotAsked)) refusals.failed(textOf(error))
      // one that was valid, as that of Nova's service, is asked about again at once
      if (error instanceof OnlyThisCall && !wasValid(key)) return remember(key, FAILED, FAILED_FOR_MS)
      return unavailable('the identity service does not answer')
    }
  }
  const inTurn = async (key: string, token: string, allowExpired: boolean, from: string): Promise<TokenVerdict> => {
    if (!(await places.take(from, wasValid(key)))) return unavailable('too many tokens are being validated')
    try {
      return await asking(key, token, allowExpired)
    } finally {
      places.leave(from)
    }
  }
  const verdictOf = async (token: string, allowExpired: boolean, from: string): Promise<TokenVerdict> => {
    if (!TOKEN.test(token)) return INVALID
    const digest = createHash('sha256').update(token).digest('base64')
    const key = allowExpired ? `${digest} expired` : digest
    const plain = remembered(digest)
    // a token that is valid is also valid where expired tokens are allowed
    const found = plain?.kind === 'valid' ? plain : remembered(key)
    if (found !== null) return found
    const other = asked.get(key)
    if (other !== undefined) return other
    const verdict = inTurn(key, token, allowExpired, from).finally(() => void asked.delete(key))
    asked.set(key, verdict)
    return verdict
  }
  return {
    validate: async (token, { allowExpired, from = '' }) => {
      const verdict = await verdictOf(token, allowExpired, from)
      if (verdict.kind !== 'valid') refusals.add(verdict.kind, from)
      return verdict
    },
    refused: refusals.counts,
  }
}
