/** `accelerando support-bundle`: all its parts, those that cannot be had, and no secret in any of them. */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('support-bundle')
/** Each in another place, and each with what JSON or an address would write otherwise. */
const SECRETS = {
  database: 'planted-database-password',
  keystone: 'planted"keystone\\password',
  header: 'planted-header-of-nova',
  token: 'planted-token-of-the-caller',
  bearer: 'planted-password-of-an-address',
}
const EVENTS = 1234
/** A service that repeats what it was told, as errors and metrics of neighbours may. */
const server = createServer((request, response) => {
  const url = new URL(request.url!, 'http://here')
  const echo = Object.values(SECRETS).join(' ')
  const answer = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body))
  if (url.pathname === '/metrics') return response.end(`metric{told="${echo}"} 1\n`)
  if (url.pathname.endsWith('/metrics')) return answer(404, {})
  if (url.pathname === '/v2/drift') return answer(500, { errors: [{ detail: echo }] })
  if (url.pathname !== '/v2/events') return answer(200, { said: echo, headers: request.headers })
  const first = Number(url.searchParams.get('after') ?? 0)
  const limit = Number(url.searchParams.get('limit'))
  const events = Array.from({ length: Math.min(limit, EVENTS - first) }, (_, at) => ({
    id: first + at + 1,
    event: echo,
  }))
  answer(200, { events, next: String(first + events.length), more: first + events.length < EVENTS })
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
  folder.remove()
})

const bundled = async () => {
  const output = join(folder.path, `bundle-${performance.now()}.tar.gz`)
  const env = {
    ACCELERANDO_URL: `${base}/v2`,
    ACCELERANDO_DATABASE: `postgresql://someone:${SECRETS.database}@127.0.0.1:1/none`,
    ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: 'http://127.0.0.1:1/v3',
    ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: 'cyborg',
    ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: SECRETS.keystone,
    ACCELERANDO_NOVA_HEADERS: JSON.stringify({ 'x-proxy': SECRETS.header }),
    OS_TOKEN: SECRETS.token,
    SOME_OTHER_PASSWORD: SECRETS.bearer,
  }
  const ended = await commandHere(['support-bundle', '--admin', `${base}//`, '--output', output, '--json'], env)
  return { ended, output }
}

test('it has every part but those that cannot be had, which it names, and no secret is in it', async () => {
  const { ended, output } = await bundled()
  expect([ended.code, ended.err]).toEqual([0, ''])
  const { files, missing } = JSON.parse(ended.out)
  expect(files).toEqual([
    'manifest.json',
    'versions.json',
    'configuration.json',
    'doctor.json',
    'system.json',
    'overview.json',
    'hosts.json',
    'deliveries.json',
    'deliveries_undelivered.json',
    'events.jsonl',
    'metrics.txt',
  ])
  expect(missing).toEqual([{ name: 'drift.json', problem: expect.stringContaining('500') }])
  expect(statSync(output).mode & 0o077).toBe(0)
  const read = (name: string) => execFileSync('tar', ['xzOf', output, name], { encoding: 'utf8' })
  const events = read('events.jsonl').trimEnd().split('\n')
  expect(events).toHaveLength(1000)
  expect(JSON.parse(events.at(-1)!)).toMatchObject({ id: EVENTS })
  const { options } = JSON.parse(read('configuration.json')) as { options: { key: string; value: unknown }[] }
  const valueOf = (key: string) => options.find((each) => each.key === key)?.value
  expect(valueOf('database')).toBe('(hidden)')
  expect(valueOf('keystone_authtoken.username')).toBe('cyborg')
  expect(read('doctor.json')).toContain('"check": "database"')
  const whole = gunzipSync(execFileSync('cat', [output])).toString('utf8')
  expect(whole.match(/.{0,30}planted.{0,30}/g) ?? []).toEqual([])
  expect(ended.out).not.toContain('planted')
  expect(read('metrics.txt')).toContain('(hidden)')
})

test('for people it says what is in it, what is not, and that it should be looked through', async () => {
  const output = join(folder.path, 'for-people.tar.gz')
  const env = { OS_TOKEN: SECRETS.token }
  // no metrics are at that address
  const args = ['support-bundle', '--api', `${base}/v2`, '--admin', `${base}/v2/drift`, '--output', output]
  const { code, out, err } = await commandHere(args, env)
  expect([code, err]).toEqual([0, ''])
  const [names, ...rest] = out.trimEnd().split('\n')
  expect(names).toBe(
    `${output}: manifest.json, versions.json, configuration.json, doctor.json, system.json, overview.json, hosts.json, deliveries.json, deliveries_undelivered.json, events.jsonl`,
  )
  expect(rest).toEqual([
    expect.stringMatching(/^without drift\.json: GET \/drift: 500 /),
    `without metrics.txt: ${base}/v2/drift answers 404`,
    'secrets of the configuration are hidden; look through it before you send it to anybody',
  ])
})

test('a file that is there is not written over', async () => {
  const { output } = await bundled()
  const again = await commandHere(['support-bundle', '--api', `${base}/v2`, '--admin', base, '--output', output])
  expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('EEXIST') })
})
