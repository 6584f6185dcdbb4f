/** The page about the system: each of its states, what it never shows, and the download of the support bundle. */
import { gunzipSync } from 'node:zlib'
import type { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { SECRET, systemHere } from '../support/systemHere.ts'
import { ROLES, type UiWorld, consoleOf, createConsole, openUiWorld, signIn, withTokens } from './world.ts'

let world: UiWorld
beforeAll(async () => void (world = await openUiWorld()))
afterAll(() => world.close())

const cookie = (token: string) => ({ cookie: `accelerando-token=${token}` })
type Given = Omit<Parameters<typeof systemHere>[0], 'app'>
const over = (given: Given = {}, rules?: Readonly<Record<string, string>>) => {
  const app: Hono = createApp({
    control: world.control,
    identify: rules === undefined ? noauth : withTokens,
    options: { anyHost: true, ...(rules && { policy: { enforceNewDefaults: true, rules } }) },
    log: silent,
    system: systemHere({ store: world.store, ...given, app: () => app }),
  })
  return consoleOf((request) => app.fetch(request), rules === undefined ? null : signIn)
}
const textOf = async (ui: ReturnType<typeof over>, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await ui.request('/ui/system', { headers })
  const html = await answer.text()
  return { status: answer.status, html, text: html.slice(html.indexOf('<main')).replaceAll(/<[^>]+>/g, ' ') }
}

describe('the page', () => {
  test('says which process answers, what each option is and who set it, and shows no secret', async () => {
    const { html, text } = await textOf(over())
    for (const said of ['machine-1', '4711', '9.9.9', '127.0.0.1:7000', '--listen', 'ACCELERANDO_LOG_LEVEL'])
      expect(text).toContain(said)
    expect(text).toMatch(/nova\.headers\s+\(hidden\)\s+environment/)
    expect(text).toMatch(/arq\.unbound_ttl\s+90\s+file\s+\/etc\/accelerando\.toml/)
    expect(html).not.toContain(SECRET)
  })
  test('says of a store in memory, and of an embedded one, what a power loss takes away', async () => {
    expect((await textOf(over())).text).toMatch(/power loss.*takes everything away/i)
    const embedded = { ...world.store, kind: 'pglite' as const, schema: '0015_hosts', newer: ['0099_later'] }
    const { text } = await textOf(over({ store: embedded }))
    expect(text).toContain('A power loss may take away the last requests that were answered')
    expect(text).toContain('0015_hosts')
    expect(text).toContain('A newer program has migrated the database: 0099_later')
  })
  test('tells a neighbour that fails, with the reason, from one that is not configured', async () => {
    const { text } = await textOf(over({ neighbours: { nova: 'connect ECONNREFUSED', placement: 'absent' } }))
    expect(text).toMatch(/Nova\s+failing\s+· connect ECONNREFUSED/)
    expect(text).toMatch(/Placement\s+not configured/)
  })
  test('shows no figure where the lag is not known, and why', async () => {
    const bus = {
      ...inProcessBus({ clock: systemClock }),
      lagsByPartition: () => Promise.reject(new Error('no broker answers')),
    }
    const { status, text } = await textOf(over({ bus }))
    expect([status, text]).toEqual([200, expect.stringContaining('It is not known: no broker answers')])
    expect(text).not.toContain('read to the end')
  })
  test('says that no audit is recorded and how to make one', async () => {
    expect((await textOf(over())).text).toContain('No audit of this store is recorded')
  })
  test('names the rule to a member, who sees nothing of the system', async () => {
    const { status, html } = await textOf(createConsole(world, { tokens: true }), cookie('token-of-member'))
    expect(status).toBe(403)
    expect(html).toContain('cyborg:system:get')
    for (const hidden of ['machine-1', '127.0.0.1:7000', 'system/support-bundle']) expect(html).not.toContain(hidden)
  })
  test('names the rule in place of the button to whoever may see the system and make no bundle', async () => {
    const rules = { 'cyborg:system:support_bundle': 'role:auditor' }
    const { status, html } = await textOf(over({}, rules), cookie('token-of-admin'))
    expect([status, html.includes('href="system/support-bundle"')]).toEqual([200, false])
    expect(html).toContain('You may not make one. The policy rule is <code>cyborg:system:support_bundle</code>')
  })
})

describe('the support bundle', () => {
  test('is downloaded under its name, with the rights of the one who looks', async () => {
    const asked: Request[] = []
    const ui = createConsole(world, { tokens: true, fetch: (request) => void asked.push(request) })
    const answer = await ui.request('/ui/system/support-bundle', { headers: cookie('token-of-admin') })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="accelerando-support-.*\.tar\.gz"$/,
    )
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const text = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString('utf8')
    expect(text).toContain('"compute-1"')
    for (const secret of [SECRET, ...Object.keys(ROLES)]) expect(text).not.toContain(secret)
    expect(asked.at(-1)!.headers.get('x-auth-token')).toBe('token-of-admin')
  })
  test('is a page with the rule to whoever may not have it, and a way to sign in to nobody', async () => {
    const ui = createConsole(world, { tokens: true })
    const refused = await ui.request('/ui/system/support-bundle', { headers: cookie('token-of-member') })
    expect([refused.status, refused.headers.get('content-disposition')]).toEqual([403, null])
    expect(await refused.text()).toContain('cyborg:system:support_bundle')
    const away = await ui.request('/ui/system/support-bundle')
    expect([away.status, away.headers.get('location')]).toEqual([303, '../sign-in?back=system%2Fsupport-bundle'])
  })
})
