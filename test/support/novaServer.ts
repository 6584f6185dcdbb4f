/**
 * A small Nova over HTTP: `POST /os-server-external-events` answered as Nova 34 does (rest-api 8.5), from a table of
 * servers.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** State of a server, as far as it affects Nova's answer; a server that is not in the table is unknown. */
export type Whereabouts = 'on a host' | 'on no host'
export type HeardEvent = {
  readonly name: string
  readonly server_uuid: string
  readonly tag?: string
  readonly status?: string
}
/** Faults for the next requests: an error status, no answer at all, or a closed connection. */
export type Trouble = number | 'silence' | 'cut'

const NAMES = ['accelerator-request-bound', 'network-vif-plugged', 'network-vif-unplugged', 'network-changed']
const FIELDS = ['name', 'server_uuid', 'tag', 'status']
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Why the whole request is refused with 400; null when its elements are judged one by one. */
const malformed = (version: string | undefined, body: unknown): string | null => {
  const [, minor] = /^compute 2\.(\d+)$/.exec(version ?? '') ?? []
  if (minor === undefined || Number(minor) < 82) return 'the name needs microversion 2.82'
  const { events } = (body ?? {}) as { readonly events?: unknown }
  if (!Array.isArray(events) || events.length === 0) return 'events must be a list of at least one'
  const bad = (events as HeardEvent[]).find(
    (event) =>
      !NAMES.includes(event.name) ||
      !UUID.test(event.server_uuid) ||
      Object.keys(event).some((key) => !FIELDS.includes(key)),
  )
  return bad ? `Invalid input for an event: ${JSON.stringify(bad)}` : null
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  try {
    return JSON.parse(Buffer.concat(parts).toString())
  } catch {
    return null
  }
}

/** Called with the events of each request before they are checked; the fault it returns replaces the answer. */
export type Before = (events: readonly HeardEvent[]) => Promise<Trouble | null>

export const openNovaServer = async (before: Before = async () => null) => {
  const servers = new Map<string, Whereabouts>()
  const heard: HeardEvent[] = []
  const requests: { readonly events: readonly HeardEvent[]; readonly headers: IncomingMessage['headers'] }[] = []
  let trouble: Trouble | null = null
  let everyone: Whereabouts | null = null

  const codeOf = ({ server_uuid, tag }: HeardEvent): number => {
    const where = servers.get(server_uuid.toLowerCase()) ?? everyone
    if (!where) return 404
    if (where === 'on no host') return 422
    return tag === undefined || tag === '' ? 400 : 200
  }
  const judge = (events: readonly HeardEvent[]) => {
    const judged = events.map((event) => ({ ...event, code: codeOf(event) }))
    heard.push(...events.filter((event) => codeOf(event) === 200))
    return { status: judged.every(({ code }) => code === 200) ? 200 : 207, body: { events: judged } }
  }
  const answer = (response: ServerResponse, status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json', 'openstack-api-version': 'compute 2.82' })
    response.end(JSON.stringify(body))
  }
  const refuse = (response: ServerResponse, status: number, message: string) =>
    answer(response, status, { [status === 400 ? 'badRequest' : 'computeFault']: { code: status, message } })
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await bodyOf(request)
    const events = ((body as { events?: HeardEvent[] } | null)?.events ?? []) as readonly HeardEvent[]
    requests.push({ events, headers: request.headers })
    const met = (await before(events)) ?? trouble
    if (met === 'silence') return
    if (met === 'cut') return void request.socket.destroy()
    if (met !== null) return refuse(response, met, 'as told')
    if (request.method !== 'POST' || !request.url?.endsWith('/os-server-external-events'))
      return refuse(response, 404, 'no such path')
    const why = malformed(request.headers['openstack-api-version'] as string | undefined, body)
    if (why) return refuse(response, 400, why)
    const { status, body: judged } = judge(events)
    answer(response, status, judged)
  }

  // a killed sender may leave an incomplete request
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2.1`,
    /** Events that were delivered, in the order they came. */
    heard: heard as readonly HeardEvent[],
    /** Every request that came, also those that were refused. */
    requests: requests as readonly (typeof requests)[number][],
    /** Sets the state of a server, null: unknown; `everyone`: of all servers that are not in the table. */
    place: (uuid: string, where: Whereabouts | null) => {
      if (uuid === 'everyone') everyone = where
      else if (where) servers.set(uuid.toLowerCase(), where)
      else servers.delete(uuid.toLowerCase())
    },
    /** Sets the fault of all further requests, until it is changed; null: none. */
    meet: (next: Trouble | null) => {
      trouble = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
export type NovaServer = Awaited<ReturnType<typeof openNovaServer>>
