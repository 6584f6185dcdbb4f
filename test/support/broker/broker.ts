/**
 * A broker for tests that speaks the Kafka protocol over TCP and fails as a test specifies. Without rules it works
 * correctly: acknowledged messages are kept, groups divide partitions, offsets are kept. It has one node, no replicas
 * and no disk.
 *
 *   const broker = await scriptedBroker()
 *   broker.topics.make('orders', 4)
 *   broker.on('Produce', (request, answer) => ...)      // answer() is the correct answer
 *
 * A rule of the script answers, or says 'silence' (never an answer on that connection again) or 'close' (the connection
 * ends).
 */
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { Coordinator } from './coordinator.ts'
import type { Api, RequestOf, ResponseOf } from './protocol.ts'
import { APIS, ERRORS } from './protocol.ts'
import { Topics } from './topics.ts'
import type { Codec } from './wire.ts'
import { int16, int32, maybeText } from './wire.ts'

type Client = { readonly clientId: string; user: string | null }
type Answer<Of extends Api> = ResponseOf<Of> | 'silence' | 'close'
type Honest<Of extends Api> = () => Promise<ResponseOf<Of>>
export type Rule<Of extends Api> = (request: RequestOf<Of>, answer: Honest<Of>) => Answer<Of> | Promise<Answer<Of>>
type Handlers = {
  readonly [Of in Api]: (request: RequestOf<Of>, client: Client) => ResponseOf<Of> | Promise<ResponseOf<Of>>
}
export type BrokerOptions = {
  /** Password by user; when empty, clients need not authenticate. */
  readonly users?: Readonly<Record<string, string>>
  /** Upper limit for the wait of a fetch that finds no message. */
  readonly fetchWaitMs?: number
}

const HOST = '127.0.0.1'
const NODE = 1
const FETCH_WAIT_MS = 20
const OPEN: readonly Api[] = ['ApiVersions', 'SaslHandshake', 'SaslAuthenticate']

const nameOf = (key: number): Api => {
  const found = Object.entries(APIS).find(([, api]) => api.key === key)
  if (found === undefined) throw new Error(`no request has the key ${key}`)
  return found[0] as Api
}

export class ScriptedBroker {
  readonly topics = new Topics()
  readonly groups = new Coordinator()
  readonly #options: BrokerOptions
  readonly #handlers: Handlers
  readonly #rules = new Map<Api, Rule<Api>>()
  readonly #seen: { readonly api: Api; readonly request: unknown }[] = []
  readonly #sockets = new Set<Socket>()
  readonly #mute = new Set<Socket>()
  #server: Server | null = null
  #port = 0

  constructor(options: BrokerOptions = {}) {
    this.#options = options
    this.#handlers = this.#honest()
  }
  get address(): string {
    return `${HOST}:${this.#port}`
  }
  get connections(): number {
    return this.#sockets.size
  }
  /** Replaces the earlier rule of this request. */
  on<Of extends Api>(api: Of, rule: Rule<Of>): void {
    this.#rules.set(api, rule)
  }
  /** Removes the rules of these requests, and closes the connections on which it was silent. */
  off(...apis: readonly Api[]): void {
    for (const socket of this.#mute) socket.destroy()
    for (const api of apis.length > 0 ? apis : this.#rules.keys()) this.#rules.delete(api)
  }
  /** The requests of this kind so far, oldest first. */
  seen<Of extends Api>(api: Of): readonly RequestOf<Of>[] {
    return this.#seen.filter((each) => each.api === api).map(({ request }) => request as RequestOf<Of>)
  }

  async start(): Promise<this> {
    const server = createServer((socket) => this.#accept(socket))
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject)
    server.listen(this.#port, HOST, resolve)
    await promise
    this.#server = server
    this.#port = (server.address() as { readonly port: number }).port
    return this
  }
  /** Stops at once and closes all connections; its data is kept for the next start. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    this.groups.close()
    this.cut()
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #accept(socket: Socket): void {
    const client: Client = { clientId: '', user: null }
    let kept: Buffer = Buffer.alloc(0)
    let turn: Promise<unknown> = Promise.resolve()
    this.#sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.on('close', () => [this.#sockets, this.#mute].forEach((each) => each.delete(socket)))
    socket.on('data', (data) => {
      kept = Buffer.concat([kept, data])
      while (kept.length >= 4 && kept.length >= 4 + kept.readInt32BE()) {
        const request = kept.subarray(4, 4 + kept.readInt32BE())
        kept = kept.subarray(4 + request.length)
        // one at a time on a connection, as Kafka does
        turn = turn.then(() => this.#serve(socket, request, client)).catch(() => socket.destroy())
      }
    })
  }
  async #serve(socket: Socket, buffer: Buffer, client: Client): Promise<void> {
    const from = { buffer, at: 0 }
    const name = nameOf(int16.read(from))
    const version = int16.read(from)
    const correlation = int32.read(from)
    const clientId = maybeText.read(from) ?? ''
    const api = APIS[name] as unknown as { readonly version: number; request: Codec<never>; response: Codec<unknown> }
    if (version !== api.version) throw new Error(`${name} came in version ${version}`)
    if (this.#options.users !== undefined && client.user === null && !OPEN.includes(name)) throw new Error('no login')
    const answer = await this.#answer(name, api.request.read(from), Object.assign(client, { clientId }))
    if (answer === 'silence') this.#mute.add(socket)
    if (answer === 'silence') return new Promise(() => {})
    if (answer === 'close') return void socket.destroy()
    const body = Buffer.concat([int32.write(correlation), api.response.write(answer)])
    socket.write(Buffer.concat([int32.write(body.length), body]))
  }
  async #answer(name: Api, request: never, client: Client): Promise<Answer<Api>> {
    this.#seen.push({ api: name, request })
    const honest = async (): Promise<never> => (await this.#handlers[name](request, client)) as never
    const rule = this.#rules.get(name)
    return rule === undefined ? honest() : rule(request, honest)
  }

  #honest(): Handlers {
    const { topics, groups } = this
    const { fetchWaitMs = FETCH_WAIT_MS } = this.#options
    const place = () => ({ node: NODE, host: HOST, port: this.#port })
    return {
      ApiVersions: () => ({
        errorCode: 0,
        apis: Object.values(APIS).map(({ key, version }) => ({ key, least: version, most: version })),
        throttleMs: 0,
      }),
      Metadata: (request) => topics.metadata(request, place()),
      Produce: (request) => topics.produce(request),
      Fetch: (request) => topics.fetch(request, fetchWaitMs),
      ListOffsets: (request) => topics.offsets(request),
      CreateTopics: (request) => topics.create(request),
      DescribeConfigs: (request) => topics.describe(request),
      AlterConfigs: (request) => topics.alter(request),
      FindCoordinator: () => ({ throttleMs: 0, errorCode: 0, reason: null, ...place() }),
      JoinGroup: (request, { clientId }) => groups.join(request, clientId),
      SyncGroup: (request) => groups.sync(request),
      Heartbeat: (request) => groups.heartbeat(request),
      LeaveGroup: (request) => groups.leave(request),
      OffsetCommit: (request) => groups.commits(request),
      OffsetFetch: (request) => groups.offsets(request),
      DescribeGroups: (request) => groups.describe(request),
      ListGroups: () => groups.list(),
      DeleteGroups: (request) => groups.delete(request),
      SaslHandshake: ({ mechanism }) => ({
        errorCode: mechanism === 'PLAIN' ? ERRORS.NONE : ERRORS.UNSUPPORTED_SASL_MECHANISM,
        mechanisms: ['PLAIN'],
      }),
      SaslAuthenticate: ({ bytes }, client) => this.#login(bytes, client),
    }
  }
  #login(bytes: Buffer, client: Client): ResponseOf<'SaslAuthenticate'> {
    const [, user = '', password = ''] = bytes.toString().split('\0')
    const good = this.#options.users?.[user] === password
    if (good) client.user = user
    return {
      errorCode: good ? ERRORS.NONE : ERRORS.SASL_AUTHENTICATION_FAILED,
      reason: good ? null : 'Authentication failed: Invalid username or password',
      bytes: Buffer.alloc(0),
    }
  }
}

export const scriptedBroker = (options: BrokerOptions = {}): Promise<ScriptedBroker> =>
  new ScriptedBroker(options).start()
