/** What a program says at its start, when it cannot start, and on the admin listener of a host. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Config } from '../../src/cli/config/config.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { type HostAdmin, openHostAdmin } from '../../src/cli/programs/hostAdmin.ts'
import { calledBy } from '../../src/cli/programs/calledBy.ts'
import { hints } from '../../src/cli/programs/run.ts'
import { storeConfig } from '../../src/cli/programs/start.ts'
import { inWords } from '../../src/cli/programs/untilEnded.ts'

const configOf = (more: object) => ({ auth: 'noauth', noauthAnywhere: false, data: '/d', ...more }) as Config
test('hints after the start', () => {
  expect(hints({ base: 'http://h:1/v2', console: 'http://h:2/ui/' }, configOf({}), 'accelerando')).toEqual([
    '',
    '  the console:  http://h:2/ui/   (pages for people)',
    '  the API:      http://h:1/v2   (nobody is authenticated: loopback only)',
    '  the data:     /d',
    '',
    '  Try:',
    '    accelerando status --api http://h:1/v2',
    '    accelerando device list --api http://h:1/v2',
    '    openstack --os-auth-type none --os-endpoint http://h:1/v2 accelerator device list',
    '',
  ])
  expect(hints({ base: 'b', console: 'c' }, configOf({ noauthAnywhere: true }), 'x')[2]).toBe(
    '  the API:      b   (nobody is authenticated: loopback only, and --noauth-anywhere lifts that)',
  )
  expect(hints({ base: 'b', console: 'c' }, configOf({ auth: 'keystone' }), 'x')[2]).toBe(
    '  the API:      b   (callers show tokens of Keystone)',
  )
  const ofCloud = hints({ base: 'b', console: 'c' }, configOf({ auth: 'keystone' }), 'node bin/x.js').join('\n')
  expect(ofCloud).not.toContain('--os-auth-type none')
  expect(ofCloud).toContain('    OS_CLOUD=NAME node bin/x.js status --api b')
})

test('the commands to try are those that the shell of the caller knows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'accelerando-'))
  writeFileSync(join(folder, 'accelerando'), '', { mode: 0o755 })
  const called = (env: Readonly<Record<string, string>>) =>
    calledBy({ env, script: '/work/tree/bin/accelerando.js', cwd: '/work/tree' })
  expect(await called({ PATH: `/nowhere:${folder}` })).toBe('accelerando')
  expect(await called({ PATH: '/nowhere' })).toBe('node bin/accelerando.js')
  expect(await called({ PATH: folder, npm_command: 'start' })).toBe('node bin/accelerando.js')
  expect(await called({ PATH: folder, npm_command: 'exec' })).toBe('npx accelerando')
  rmSync(folder, { recursive: true })
})

test('the store of a program alone: PostgreSQL where it is named, else the data folder', () => {
  expect(storeConfig({ database: null, data: '/d' })).toEqual({ kind: 'pglite', dir: '/d/store' })
  expect(storeConfig({ database: { url: 'u' }, data: '/d' })).toEqual({
    kind: 'postgres',
    url: 'u',
    sole: true,
  })
})

test('an address that is in use is told with the flag that chooses another; other errors stay as they are', () => {
  const listens = { '--listen': { host: 'h', port: 1 }, '--admin-listen': { host: 'h', port: 2 } }
  const taken = (port: number) =>
    Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE', address: '10.0.0.1', port })
  const error = taken(1)
  const worded = inWords(error, listens)
  expect(worded.message).toBe('10.0.0.1:1 is in use by another program: choose another address with --listen')
  expect(worded.cause).toBe(error)
  expect(inWords(taken(2), listens).message).toBe(
    '10.0.0.1:2 is in use by another program: choose another address with --admin-listen',
  )
  const foreign = taken(3)
  expect(inWords(foreign, listens)).toBe(foreign)
  const refused = (code: string) =>
    inWords(Object.assign(new Error('listen'), { code, address: 'a', port: 2 }), listens)
  expect(refused('EACCES').message).toContain('a:2 may be listened on by more privileged users only: choose')
  expect(refused('EADDRNOTAVAIL').message).toContain('a:2 is no address of this machine: choose')
  const same = { '--listen': { host: 'h', port: 1 }, '--ui-listen': { host: 'h', port: 1 } }
  expect(inWords(taken(1), same).message).toBe(
    '10.0.0.1:1 is in use: choose another address with --listen or --ui-listen',
  )
  const other = Object.assign(new Error('no'), { code: 'EACCES' })
  expect(inWords(other, listens)).toBe(other)
  expect(inWords('plain', listens)).toEqual(new Error('plain'))
})

let admin: HostAdmin | undefined
afterEach(() => admin?.close())
test('the admin listener of a host', async () => {
  let reason: string | null = 'not joined yet'
  const open = (host: string) =>
    openHostAdmin({
      address: { host, port: 0 },
      notReady: () => reason,
      detail: () => ({ a: 1 }),
      meter: openMeter(),
    })
  admin = await open('127.0.0.1')
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`${admin!.url}${path}`, { method })
    return [response.status, response.headers.get('content-type'), await response.text()]
  }
  const JSON_TYPE = 'application/json'
  expect(await get('/healthz')).toEqual([200, JSON_TYPE, '{"status":"ok"}'])
  expect(await get('/readyz')).toEqual([
    503,
    JSON_TYPE,
    '{"status":"not ready","reason":"not joined yet","detail":{"a":1}}',
  ])
  expect((await get('/metrics'))[2]).toMatch(/^accelerando_host_ready 0$/m)
  reason = null
  expect(await get('/readyz')).toEqual([200, JSON_TYPE, '{"status":"ready","detail":{"a":1}}'])
  const [status, type, page] = await get('/metrics')
  expect([status, type]).toEqual([200, expect.stringMatching(/^text\/plain/)])
  expect(page).toMatch(/^accelerando_host_ready 1$/m)
  const nothing = [404, JSON_TYPE, '{"error":"there is nothing here"}']
  expect(await get('/')).toEqual(nothing)
  expect(await get('/healthz', 'POST')).toEqual(nothing)
  await expect(
    openHostAdmin({
      address: { host: '127.0.0.1', port: Number(new URL(admin.url).port) },
      notReady: () => null,
      detail: () => ({}),
      meter: openMeter(),
    }),
  ).rejects.toThrow('EADDRINUSE')
  await admin.close()
  admin = await open('::1')
  expect(admin.url).toMatch(/^http:\/\/\[::1\]:\d+$/)
})
