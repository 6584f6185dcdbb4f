/**
 * A Keystone in memory, over HTTP: what the service asks of the real one, answered as the real one does.
 * `test/contracts/keystone.contract.ts` runs on both.
 */
import { randomBytes } from 'node:crypto'
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type KeystoneModel, type ModelAnswer, type ModelUser, failure, keystoneModel } from './keystone/model.ts'

/** `down`: connections are closed; `broken`: 503; `silent`: no answer. */
export type Mood = 'well' | 'down' | 'broken' | 'silent'

const PASSWORD = 'rig-secret'
const ALL = ['admin', 'manager', 'member', 'reader']
const named = (name: string) => ({ id: `id-of-${name}`, name })
/** The users of `infra/rig/openstack`, with the roles they have in their project. */
const USERS: Readonly<Record<string, Omit<ModelUser, 'id'>>> = {
  admin: { project: named('admin'), roles: ALL },
  cyborg: { project: named('service'), roles: ['service', ...ALL] },
  'plain-service': { project: named('service'), roles: ['service'] },
  'alpha-member': { project: named('alpha'), roles: ['member', 'reader'] },
  'alpha-reader': { project: named('alpha'), roles: ['reader'] },
  'alpha-manager': { project: named('alpha'), roles: ['manager', 'member', 'reader'] },
  'alpha-bare': { project: named('alpha'), roles: ['bare'] },
  'beta-member': { project: named('beta'), roles: ['member', 'reader'] },
  'system-reader': { roles: ['reader'] },
  nobody: { roles: [] },
}
const userOf = (name: string): ModelUser | undefined => USERS[name] && { id: `id-of-${name}`, ...USERS[name] }

export type KeystoneDouble = {
  readonly authUrl: string
  mood: Mood
  lifeMs: number
  /** Tokens about which no question is answered: the connection is closed, as by a server with a small buffer. */
  breaksFor: (token: string) => boolean
  /** Added to the clock of this Keystone. */
  skewMs: number
  /** Further services of the catalogue: type and URL. */
  services: Readonly<Record<string, string>>
  /** Paths asked so far, with the method. */
  readonly asked: string[]
  readonly isLive: (token: string) => boolean
  readonly holderOf: KeystoneModel['holderOf']
  readonly revokeAll: () => void
  readonly close: () => Promise<void>
}

export const keystoneDouble = async (): Promise<KeystoneDouble> => {
  const now = () => Date.now() + state.skewMs
  const random = () => randomBytes(24).toString('base64url')
  const model = keystoneModel({ userOf, password: PASSWORD, now, random })
  const write = (response: ServerResponse, { status, body, token }: ModelAnswer): void => {
    const headers = { 'content-type': 'application/json', date: new Date(now()).toUTCString() }
    response.writeHead(status, { ...headers, ...(token !== undefined && { 'x-subject-token': token }) })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      const { method = 'GET', url = '/' } = request
      state.asked.push(`${method} ${url}`)
      const subject = request.headers['x-subject-token']
      if (state.mood === 'silent') return
      if (typeof subject === 'string' && state.breaksFor(subject)) return void request.socket.destroy()
      if (state.mood === 'down') return void request.socket.destroy()
      if (state.mood === 'broken') return write(response, failure(503, 'Service Unavailable'))
      model.lifeMs = state.lifeMs
      model.services = { identity: state.authUrl, ...state.services }
      const headers = request.headers as Readonly<Record<string, string | undefined>>
      write(response, model.handle({ method, path: url, headers, body: text === '' ? null : JSON.parse(text) }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: KeystoneDouble = {
    authUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v3`,
    mood: 'well',
    lifeMs: 3_600_000,
    skewMs: 0,
    breaksFor: () => false,
    services: {},
    asked: [],
    isLive: model.isLive,
    holderOf: model.holderOf,
    revokeAll: model.revokeAll,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
  return state
}
