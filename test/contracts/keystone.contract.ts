/**
 * What the service expects of Keystone, tried with its own session and validation: on the double, and on the real
 * Keystone of the rig.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { tokenIdentity } from '../../src/http/tokenIdentity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { createSender, type Sender } from '../../src/neighbours/openstack/send.ts'
import { createSession, type Session, type SessionOptions } from '../../src/neighbours/openstack/session.ts'
import { createTokens } from '../../src/neighbours/openstack/tokens.ts'
import { credentialOf, type Held, limitedCredential, revoke, signIn, signInWith } from '../support/signIn.ts'

/** `lifeMs`: how long a token lasts. */
type Keystone = { readonly authUrl: string; readonly lifeMs: number }

export const SERVICE = {
  kind: 'password',
  username: 'cyborg',
  userDomain: 'Default',
  password: 'rig-secret',
  project: 'service',
  projectDomain: 'Default',
} as const

export const sessionOptions = (authUrl: string): SessionOptions => ({
  authUrl,
  credentials: SERVICE,
  region: 'RegionOne',
  interfaces: ['internal', 'public'],
  timeoutMs: 5000,
})

const RULE = { service: 'accelerator', method: 'GET', path: '/v2/device_profiles' }

export const keystoneContract = (keystone: () => Keystone): void => {
  let sender: Sender
  let session: Session
  beforeAll(() => {
    sender = createSender(null)
    session = createSession({
      options: sessionOptions(keystone().authUrl),
      send: sender.send,
      clock: systemClock,
      log: silent,
    })
  })
  afterAll(() => sender.close())
  /** Without a memory: each answer is Keystone's own. */
  const validate = (token: string, allowExpired = false) =>
    createTokens({ session, cache: { cacheMs: 0, entries: 0 }, clock: systemClock, log: silent }).validate(token, {
      allowExpired,
    })
  const enter = (user: string, project: string): Promise<Held> => signIn(keystone().authUrl, user, { project })

  describe('Keystone', () => {
    test.each([
      ['alpha-member', 'alpha', ['member', 'reader']],
      ['alpha-reader', 'alpha', ['reader']],
      ['alpha-manager', 'alpha', ['manager', 'member', 'reader']],
      ['alpha-bare', 'alpha', ['bare']],
      ['plain-service', 'service', ['service']],
      ['cyborg', 'service', ['admin', 'manager', 'member', 'reader', 'service']],
    ])('a token of %s in %s has its project and roles', async (user, project, roles) => {
      const held = await enter(user, project)
      const verdict = await validate(held.token)
      expect(verdict).toMatchObject({ kind: 'valid', token: { userId: held.userId, accessRules: null } })
      if (verdict.kind !== 'valid') return
      expect(verdict.token.roles.toSorted()).toEqual(roles)
      expect(verdict.token.projectId).toMatch(/^\S+$/)
    })
    test('a token for the system has roles and no project', async () => {
      const { token } = await signIn(keystone().authUrl, 'system-reader', 'system')
      expect(await validate(token)).toMatchObject({ kind: 'valid', token: { projectId: null, roles: ['reader'] } })
    })
    test('a token without scope has neither', async () => {
      const { token } = await signIn(keystone().authUrl, 'nobody', 'none')
      expect(await validate(token)).toMatchObject({ kind: 'valid', token: { projectId: null, roles: [] } })
    })
    test('an invented token is invalid', async () => {
      expect(await validate('gAAAAAinvented')).toEqual({ kind: 'invalid' })
    })
    test('a revoked token is invalid, also where expired ones are allowed', async () => {
      const [admin, held] = [await enter('admin', 'admin'), await enter('alpha-member', 'alpha')]
      expect(await validate(held.token)).toMatchObject({ kind: 'valid' })
      await revoke(keystone().authUrl, admin, held)
      expect(await validate(held.token)).toEqual({ kind: 'invalid' })
      expect(await validate(held.token, true)).toEqual({ kind: 'invalid' })
    })
    test('the token of a limited application credential names its access rules', async () => {
      const { authUrl } = keystone()
      const limited = await limitedCredential(authUrl, await enter('alpha-member', 'alpha'), [RULE])
      const { token } = await signInWith(authUrl, limited)
      const verdict = await validate(token)
      expect(verdict).toMatchObject({ kind: 'valid', token: { accessRules: [RULE] } })
    })
    test('the service signs in by an application credential of its account, with all roles of it', async () => {
      const { authUrl } = keystone()
      const { id, secret } = await credentialOf(authUrl, await enter('cyborg', 'service'))
      const signedIn = (held: string) =>
        createSession({
          options: { ...sessionOptions(authUrl), credentials: { kind: 'application_credential', id, secret: held } },
          send: sender.send,
          clock: systemClock,
          log: silent,
        })
      const own = signedIn(secret)
      const { token } = await own.entry('identity')
      const verdict = await validate(token)
      expect(verdict.kind === 'valid' && verdict.token.roles.toSorted()).toEqual([
        'admin',
        'manager',
        'member',
        'reader',
        'service',
      ])
      const caller = await enter('alpha-member', 'alpha')
      const tokens = createTokens({ session: own, cache: { cacheMs: 0, entries: 0 }, clock: systemClock, log: silent })
      expect(await tokens.validate(caller.token, { allowExpired: false })).toMatchObject({
        kind: 'valid',
        token: { userId: caller.userId },
      })
      await expect(signedIn(`${secret}-not`).entry('identity')).rejects.toThrow('it refuses the credentials')
    })
    test('an expired token is invalid, but where that is allowed; the session outlives its own', async () => {
      const held = await enter('alpha-member', 'alpha')
      const patience = { timeout: keystone().lifeMs + 10_000, interval: 200 }
      await expect.poll(async () => (await validate(held.token)).kind, patience).toBe('invalid')
      expect(await validate(held.token, true)).toMatchObject({
        kind: 'valid',
        token: { projectId: expect.any(String) },
      })
      const service = await enter('plain-service', 'service')
      const tokens = createTokens({ session, cache: { cacheMs: 0, entries: 0 }, clock: systemClock, log: silent })
      const options = { authUrl: keystone().authUrl, serviceType: 'accelerator', serviceTokenRoles: ['service'] }
      const who = (headers: Readonly<Record<string, string>>) =>
        tokenIdentity(tokens, options)((name) => headers[name], { method: 'GET', path: '/v2/devices' })
      expect(await who({ 'x-auth-token': held.token })).toMatchObject({ fault: { kind: 'unauthenticated' } })
      expect(await who({ 'x-auth-token': held.token, 'x-service-token': service.token })).toMatchObject({
        userId: held.userId,
        serviceRoles: ['service'],
      })
    }, 60_000)
    test('wrong credentials of the service: nobody can tell, and the reason says so', async () => {
      const options = { ...sessionOptions(keystone().authUrl), credentials: { ...SERVICE, password: 'wrong' } }
      const stranger = createSession({ options, send: sender.send, clock: systemClock, log: silent })
      await expect(stranger.ask('/auth/tokens?nocatalog')).rejects.toThrow('it refuses the credentials')
    })
    test('a service that the catalogue lacks is named with what was looked for', async () => {
      await expect(session.call({ service: 'teapot', method: 'GET', path: '/' })).rejects.toThrow(
        'the catalogue has no endpoint of teapot with the interface internal or public in the region RegionOne',
      )
    })
    test('a service is found in the catalogue', async () => {
      const { status } = await session.call({ service: 'identity', method: 'GET', path: '/auth/tokens' })
      // without the header X-Subject-Token there is nothing to validate
      expect([400, 404]).toContain(status)
    })
  })
}
