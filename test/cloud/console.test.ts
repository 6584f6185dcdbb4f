/** People sign in to the console with a real Keystone. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { type Service, startService, tempFolder } from '../support/program.ts'
import { signIn } from '../support/signIn.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

/** Short, so that a test can wait for its end. */
const TOKEN_SECONDS = 25

describeWith(CLOUD, 'the console beside a real Keystone', (rig) => {
  const folder = tempFolder('console-keystone')
  let [cloud, service, site]: [RiggedCloud, Service, string] = [] as never
  beforeAll(async () => {
    cloud = await startCloud(rig, TOKEN_SECONDS)
    await embeddedStoreIn(join(folder.path, 'data/store'))
    const config = join(folder.path, 'config.toml')
    const account = `auth_url = "${cloud.authUrl}"\nusername = "cyborg"\nproject_name = "service"\n`
    writeFileSync(config, `[keystone_authtoken]\n${account}`)
    const ui = `127.0.0.1:${await freePort()}`
    site = `http://${ui}/ui/`
    const listen = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--ui-listen', ui]
    const hosts = ['--demo-hosts', '1', '--demo-devices', '1']
    const data = ['--data', join(folder.path, 'data')]
    service = await startService(
      {
        args: ['start', '--auth', 'keystone', '--config', config, ...hosts, ...data, ...listen],
        env: { ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'rig-secret' },
      },
      120_000,
    )
  }, START_MS)
  afterAll(async () => {
    await service?.end('SIGTERM')
    await cloud?.stop()
    folder.remove()
  })

  const look = (page: string, cookie = '') =>
    fetch(`${site}${page}`, { redirect: 'manual', headers: { cookie }, signal: AbortSignal.timeout(30_000) })
  const send = (form: Readonly<Record<string, string>>, origin = new URL(site).origin) =>
    fetch(`${site}sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin },
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(30_000),
    })
  const cookieOf = (response: Response): string => {
    const [set] = response.headers.getSetCookie()
    expect(set).toMatch(/^accelerando-token=.*HttpOnly.*SameSite=Strict/)
    return set!.slice(0, set!.indexOf(';'))
  }
  const ACCOUNT = { user: 'alpha-admin', password: 'rig-secret', project: 'alpha', domain: 'Default' }

  test('nobody looks without signing in, and is led back to the page afterwards', async () => {
    const away = await look('devices')
    expect([away.status, away.headers.get('location')]).toEqual([303, expect.stringContaining('sign-in?back=devices')])
    const signed = await send({ ...ACCOUNT, back: 'devices' })
    expect([signed.status, signed.headers.get('location')]).toEqual([303, 'devices'])
    const page = await look('devices', cookieOf(signed))
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('alpha-admin')
  })

  // who is refused waits before the next attempt, so each is another user, and none is one that signs in elsewhere
  test.each([
    ['a wrong password', { ...ACCOUNT, user: 'alpha-member', password: 'wrong' }],
    ['a project in which the user has no role', { ...ACCOUNT, user: 'cyborg', project: 'alpha' }],
    ['a token that is none', { token: 'gAAAAAbroken' }],
  ])('%s is refused, with the reason and without a cookie', async (_, form) => {
    const refused = await send(form)
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([401, []])
    const text = await refused.text()
    expect(text).toContain('Sign in')
    expect(text).not.toContain('wrong')
  })
  test('signing out makes the token that was got for the password invalid in Keystone', async () => {
    const cookie = (await send(ACCOUNT)).headers
      .getSetCookie()
      .map((set) => set.slice(0, set.indexOf(';')))
      .join('; ')
    const token = /accelerando-token=([^;]+)/.exec(cookie)![1]!
    const valid = async () => {
      const { token: own } = await signIn(cloud.authUrl, 'alpha-admin', { project: 'alpha' })
      const headers = { 'x-auth-token': own, 'x-subject-token': token }
      return (await fetch(`${cloud.authUrl}/auth/tokens`, { headers, signal: AbortSignal.timeout(30_000) })).status
    }
    expect(await valid()).toBe(200)
    const out = await fetch(`${site}sign-out`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(site).origin, cookie },
      signal: AbortSignal.timeout(30_000),
    })
    expect([out.status, out.headers.get('location')]).toEqual([303, 'sign-in?out=revoked'])
    expect(await valid()).toBe(404)
  })
  test('a form of another site is refused', async () => {
    const refused = await send(ACCOUNT, 'http://elsewhere.example')
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []])
  })

  test('a token that was pasted is taken as the user whose it is, until it ends', async () => {
    const { token } = await signIn(cloud.authUrl, 'alpha-member', { project: 'alpha' })
    const cookie = cookieOf(await send({ token }))
    // members may not see what the whole service does, nor the hosts
    const home = await look('', cookie)
    expect([home.status, home.headers.get('location')]).toEqual([302, 'arqs'])
    const page = await look('arqs', cookie)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('alpha-member')
    expect((await look('hosts', cookie)).status).toBe(403)
    for (let waited = 0; (await look('arqs', cookie)).status === 200 && waited < 2 * TOKEN_SECONDS; waited++)
      await sleep(1000)
    const ended = await look('arqs', cookie)
    expect([ended.status, ended.headers.get('location')]).toEqual([303, expect.stringContaining('sign-in')])
  })
})
