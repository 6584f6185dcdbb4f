/**
 * Gets a token for a person who signs in with a password, and revokes it when the person signs out. The token belongs
 * to the person: this service neither stores nor uses it.
 */
import { type Read, readToken, remainingMs } from './answers.ts'
import { type Credentials, authRequest } from './credentials.ts'
import { type Answer, type Send, Unanswered } from './send.ts'

type Parts = {
  readonly send: Send
  /** URL of the identity service, including the version. */
  readonly authUrl: string
  readonly timeoutMs: number
  /** ms since the epoch. */
  readonly now: () => number
}
export type Issued =
  | { readonly ok: true; readonly token: string; readonly lifeMs: number }
  /** `wrong`: Keystone does not accept user, password and project. */
  | { readonly ok: false; readonly reason: string; readonly wrong?: true }
type Password = Extract<Credentials, { readonly kind: 'password' }>

const issued = (answer: Answer, read: Read | null, now: number): Issued => {
  const token = answer.headers['x-subject-token']
  if (answer.status === 401)
    return { ok: false, reason: 'Keystone does not accept this user, password and project.', wrong: true }
  if (answer.status !== 201 || token === undefined || read === null)
    return { ok: false, reason: `Keystone gave no token: it answered ${answer.status}.` }
  return { ok: true, token, lifeMs: Math.max(0, remainingMs(read, answer, now)) }
}

/** Never rejects. The reason is shown to the person who signs in. */
export const issueToken = async (
  { send, authUrl, timeoutMs, now }: Parts,
  account: Omit<Password, 'kind'>,
): Promise<Issued> => {
  const body = JSON.stringify(authRequest({ kind: 'password', ...account }))
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  try {
    const answer = await send({ method: 'POST', url: `${authUrl}/auth/tokens`, headers, body, timeoutMs })
    return issued(answer, readToken(answer.text), now())
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return { ok: false, reason: `Keystone does not answer: ${error.message}` }
  }
}

export type Revoked = { readonly ok: true } | { readonly ok: false; readonly reason: string }
/** That the token is not valid any more: it has expired, or was revoked before. */
const GONE = [401, 404]
/** Never rejects. A token may revoke itself, whatever the roles of its user are. */
export const revokeToken = async (
  { send, authUrl, timeoutMs }: Pick<Parts, 'send' | 'authUrl' | 'timeoutMs'>,
  token: string,
): Promise<Revoked> => {
  const headers = { 'x-auth-token': token, 'x-subject-token': token, accept: 'application/json' }
  try {
    const { status } = await send({ method: 'DELETE', url: `${authUrl}/auth/tokens`, headers, timeoutMs })
    if (status === 204 || GONE.includes(status)) return { ok: true }
    return { ok: false, reason: `Keystone revoked no token: it answered ${status}.` }
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return { ok: false, reason: `Keystone does not answer: ${error.message}` }
  }
}
