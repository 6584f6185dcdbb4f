/**
 * Secrets that an operator or a caller gives the service stand in nothing that it writes: not in its log, its answers,
 * its journal or on its bus, also when the neighbours fail. Each secret here is one that the service has used.
 */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openCloud } from '../../src/cli/programs/cloud.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { createApp } from '../../src/http/app.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { newPrivateKey } from '../../src/wire/signature.ts'
import { SERVICE } from '../contracts/keystone.contract.ts'
import { keystoneDouble, type KeystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { placementDouble, type PlacementDouble } from '../neighbours/openstack/placementDouble.ts'
import { closing } from '../support/closing.ts'
import { commandHere } from '../support/commandHere.ts'
import { memoryLog } from '../support/lab.ts'
import { noCatalogue } from '../support/images.ts'
import { tempFolder } from '../support/program.ts'
import { credentialOf, signIn } from '../support/signIn.ts'

const HEADER = 'hidden-header-of-nova'
const FORGED = 'hidden-token-that-nobody-issued'

let keystone: KeystoneDouble
let placement: PlacementDouble
let nova: Server
/** How Nova answers: null, not at all. */
let novaStatus: number | null = 500
let novaHeard: readonly string[] = []
let written: string[] = []
let secrets: Readonly<Record<string, string>>
let stop: () => Promise<void>

/** How the service signs in. `secrets`: what of it is told to nobody. */
type Account = {
  readonly env: Readonly<Record<string, string>>
  /** Files that the configuration names. */
  readonly files: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
}
const AUTHTOKEN = 'ACCELERANDO_KEYSTONE_AUTHTOKEN'
/** The ways to sign in, as the configuration knows them. */
const ACCOUNTS: Readonly<Record<string, () => Promise<Account>>> = {
  'a password': async () => ({
    env: {
      [`${AUTHTOKEN}_AUTH_URL`]: keystone.authUrl,
      [`${AUTHTOKEN}_USERNAME`]: SERVICE.username,
      [`${AUTHTOKEN}_PASSWORD`]: SERVICE.password,
      [`${AUTHTOKEN}_PROJECT_NAME`]: SERVICE.project,
    },
    files: {},
    secrets: { password: SERVICE.password },
  }),
  'an application credential': async () => {
    const held = await signIn(keystone.authUrl, SERVICE.username, { project: SERVICE.project })
    const { id, secret } = await credentialOf(keystone.authUrl, held)
    return {
      env: {
        [`${AUTHTOKEN}_AUTH_URL`]: keystone.authUrl,
        [`${AUTHTOKEN}_APPLICATION_CREDENTIAL_ID`]: id,
        [`${AUTHTOKEN}_APPLICATION_CREDENTIAL_SECRET`]: secret,
      },
      files: {},
      secrets: { 'secret of the application credential': secret },
    }
  },
  'a clouds.yaml': async () => {
    const auth = `auth_url: ${keystone.authUrl}, username: ${SERVICE.username}, password: ${SERVICE.password}`
    return {
      env: { [`${AUTHTOKEN}_CLOUD`]: 'here', [`${AUTHTOKEN}_CLOUDS_FILE`]: '/clouds.yaml' },
      files: { '/clouds.yaml': `clouds: {here: {auth: {${auth}, project_name: ${SERVICE.project}}}}` },
      secrets: { 'password in the file': SERVICE.password },
    }
  },
}

/** What it published, answered, logged and recorded, as text. */
const open = async ({ env, files }: Account) => {
  const loaded = loadConfig({
    flags: {},
    env: {
      ACCELERANDO_AUTH: 'keystone',
      ...env,
      ACCELERANDO_NOVA_HEADERS: JSON.stringify({ 'x-proxy-secret': HEADER }),
      ACCELERANDO_NOVA_TIMEOUT_SECONDS: '0.5',
    },
    readFile: (path) => files[path] ?? '',
    osHostname: 'h',
  })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const { config } = loaded
  const log = memoryLog()
  const end = closing()
  const store = memoryStore()
  const { privateKey } = await store.cloud(newPrivateKey)
  const cloud = openCloud({ config, clock: systemClock, log, open: end })
  const bus = inProcessBus({ clock: systemClock, log })
  const published: BusRecord[] = []
  const { control } = config
  const system = await openSystem({
    store,
    images: noCatalogue(),
    nova: cloud.nova,
    novaServers: cloud.novaServers,
    placement: cloud.placement,
    log,
    bus: {
      ...bus,
      publish: async (records) => {
        published.push(...records)
        return bus.publish(records)
      },
    },
    control: { ...control, sweepEveryMs: 20 },
  })
  const app = createApp({ control: system.plane.control, identify: cloud.identify, options: config.http, log })
  stop = async () => {
    await system.stop()
    await end.close()
  }
  const ask = async (line: string, headers: Readonly<Record<string, string>>, body?: unknown) => {
    const [method, path] = line.split(' ') as [string, string]
    const init = { method, headers: { 'content-type': 'application/json', ...headers } }
    const answer = await app.request(path, { ...init, ...(body !== undefined && { body: JSON.stringify(body) }) })
    const text = await answer.text()
    written.push(`${line} ${answer.status} ${inspect([...answer.headers])} ${text}`)
    return { status: answer.status, json: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown> }
  }
  const gather = async () => {
    written.push(...log.said.map((line) => inspect(line, { depth: 12 })))
    written.push(...published.map((record) => inspect(record, { depth: 12 })))
    written.push(...(await store.journal.feed('', 100_000)).map((row) => inspect(row, { depth: 12 })))
    return { logged: log.said.length, published: published.length }
  }
  return { ask, gather, privateKey, session: cloud.session! }
}

beforeEach(async () => {
  ;[novaStatus, novaHeard, written] = [500, [], []]
  keystone = await keystoneDouble()
  placement = await placementDouble({ authUrl: keystone.authUrl })
  nova = createServer((request, response) => {
    novaHeard = [...novaHeard, inspect(request.headers)]
    if (novaStatus !== null) response.writeHead(novaStatus).end('{"computeFault": {"message": "no"}}')
  })
  await new Promise<void>((resolve) => nova.listen(0, '127.0.0.1', resolve))
  const compute = `http://127.0.0.1:${(nova.address() as AddressInfo).port}/v2.1`
  keystone.services = { placement: placement.url, compute }
}, 60_000)
afterEach(async () => {
  await stop?.()
  nova.closeAllConnections()
  nova.close()
  await Promise.all([keystone, placement].map((one) => one.close()))
})

describe('no secret is written', () => {
  test.each(Object.keys(ACCOUNTS))(
    'by a service whose neighbours answer, fail, refuse, and fall silent: it signs in by %s',
    async (way) => {
      const account = await ACCOUNTS[way]!()
      const world = await open(account)
      const own = await world.session.entry('placement')
      const [admin, service] = [
        await signIn(keystone.authUrl, 'admin', { project: 'admin' }),
        await signIn(keystone.authUrl, 'cyborg', { project: 'service' }),
      ]
      const user = { 'x-auth-token': admin.token }
      const asNova = { ...user, 'x-service-token': service.token }
      secrets = {
        ...account.secrets,
        'own token': own.token,
        'token of a caller': admin.token,
        'service token': service.token,
        'token that is refused': FORGED,
        'header for Nova': HEADER,
        'private key': world.privateKey.split('\n')[1]!,
      }
      const groups = [{ 'resources:FPGA': '1' }]
      expect((await world.ask('POST /v2/device_profiles', user, [{ name: 'p', groups }])).status).toBe(201)
      const made = await world.ask('POST /v2/accelerator_requests', user, { device_profile_name: 'p' })
      expect(made.status).toBe(201)
      const [arq] = made.json['arqs'] as readonly { readonly uuid: string }[]
      const bind = Object.entries({ hostname: 'n', device_rp_uuid: randomUUID(), instance_uuid: randomUUID() }).map(
        ([name, value]) => ({ op: 'add', path: `/${name}`, value }),
      )
      expect((await world.ask('PATCH /v2/accelerator_requests', asNova, { [arq!.uuid]: bind })).status).toBe(404)
      // Nova: an error, a refusal, silence
      for (const status of [500, 401, 403, null]) {
        novaStatus = status
        expect((await world.ask('GET /v2/orphans', user)).status).toBe(409)
      }
      expect((await world.ask('GET /v2/drift', user)).status).toBe(200)
      expect((await world.ask('GET /v2/devices', { 'x-auth-token': FORGED })).status).toBe(401)
      await placement.close()
      await world.ask('GET /v2/drift', user)
      for (const mood of ['broken', 'down'] as const) {
        keystone.mood = mood
        const unseen = { 'x-auth-token': `${FORGED}-${mood}` }
        expect((await world.ask('GET /v2/devices', unseen)).status).toBe(503)
      }
      keystone.mood = 'well'
      const { logged, published } = await world.gather()
      expect([logged > 0, published > 0]).toEqual([true, true])
      // what was looked through holds what was done
      expect(written.filter((text) => text.includes(arq!.uuid)).length).toBeGreaterThan(2)
      // the secrets were used where they belong: with its own token it asked the services
      expect(novaHeard.some((headers) => headers.includes(own.token))).toBe(true)
      expect(novaHeard.some((headers) => headers.includes(HEADER))).toBe(true)
      for (const [name, secret] of Object.entries(secrets))
        expect(
          written.filter((text) => text.includes(secret)),
          name,
        ).toEqual([])
    },
  )

  test('by a service whose file with the token for Nova holds more than the token', async () => {
    const folder = tempFolder('nova-token')
    const [file, token] = [join(folder.path, 'nova.token'), 'hidden-token-in-a-file']
    writeFileSync(file, `2026-01-01T00:00:00+0000\n${token}\n`)
    const account = await ACCOUNTS['a password']!()
    const env = {
      ...account.env,
      ACCELERANDO_NOVA_URL: keystone.services['compute']!,
      ACCELERANDO_NOVA_TOKEN_FILE: file,
    }
    const world = await open({ ...account, env })
    const admin = await signIn(keystone.authUrl, 'admin', { project: 'admin' })
    const refused = await world.ask('GET /v2/orphans', { 'x-auth-token': admin.token })
    expect(refused.status).toBe(409)
    expect(JSON.stringify(refused.json)).toContain('nova.token_file has to hold a token and nothing else')
    await world.gather()
    expect(written.filter((text) => text.includes(token))).toEqual([])
    expect(novaHeard).toEqual([])
    folder.remove()
  })

  test.each([
    ['a database that does not answer', ['--database', 'postgresql://acc:hidden-in-url@127.0.0.1:1/x']],
    ['an address that is none', ['--database', 'postgresql://acc:hidden-in-url@127.0.0.1:port/x']],
    ['a scheme that is unknown', ['--database', 'mysql://acc:hidden-in-url@127.0.0.1/x']],
  ])('by doctor and migrate about %s', async (_, args) => {
    for (const command of ['doctor', 'migrate']) {
      const { code, out, err } = await commandHere([command, ...args])
      expect(code).toBeGreaterThan(0)
      expect(out + err).not.toContain('hidden-in-url')
    }
  })

  test('by doctor about a service that signs in by an application credential', async () => {
    const { env, secrets: own } = await ACCOUNTS['an application credential']!()
    const { out, err } = await commandHere(['doctor', '--json'], env)
    expect(out).toContain('gives this service a token')
    for (const secret of Object.values(own)) expect(out + err).not.toContain(secret)
  })

  test('by doctor about an account that Keystone refuses', async () => {
    const { out, err } = await commandHere(['doctor', '--json'], {
      ACCELERANDO_KEYSTONE_AUTHTOKEN_AUTH_URL: keystone.authUrl,
      ACCELERANDO_KEYSTONE_AUTHTOKEN_USERNAME: SERVICE.username,
      ACCELERANDO_KEYSTONE_AUTHTOKEN_PASSWORD: 'hidden-wrong-password',
      ACCELERANDO_KEYSTONE_AUTHTOKEN_PROJECT_NAME: SERVICE.project,
    })
    expect(out).toContain('refuses the credentials')
    expect(out + err).not.toContain('hidden-wrong-password')
  })
})
