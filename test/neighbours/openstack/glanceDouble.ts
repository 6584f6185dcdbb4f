/**
 * A Glance in memory, over HTTP: what the service asks of the real one, answered as the real one does.
 * `test/contracts/glance.contract.ts` runs on both.
 */
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelUser } from './keystone/model.ts'

type Held = {
  readonly owner: string | null
  readonly description: Readonly<Record<string, unknown>>
  readonly bytes: Buffer | null
}
type Holder = Pick<ModelUser, 'project' | 'roles'>
export type GlanceDouble = {
  readonly url: string
  /** It sends images only as a whole, as some stores do. */
  whole: boolean
  readonly close: () => Promise<void>
}
const JSON_TYPE = { 'content-type': 'application/json' }
const shown = (id: string, { owner, description, bytes }: Held) => ({
  name: null,
  tags: [],
  visibility: 'shared',
  owner,
  ...description,
  id,
  status: bytes === null ? 'queued' : 'active',
  size: bytes?.byteLength ?? null,
  checksum: bytes && createHash('md5').update(bytes).digest('hex'),
  os_hash_algo: bytes && 'sha512',
  os_hash_value: bytes && createHash('sha512').update(bytes).digest('hex'),
  os_hidden: false,
  self: `/v2/images/${id}`,
})

const isAdmin = ({ roles }: Holder): boolean => roles.includes('admin')
/** Whether the holder may read the image. Those that others share with a project are not in this double. */
const mayRead = (holder: Holder, { owner, visibility }: ReturnType<typeof shown>): boolean =>
  isAdmin(holder) || owner === holder.project?.id || visibility === 'public' || visibility === 'community'

/** `holderOf`: who got the token from Keystone. */
export const glanceDouble = async (holderOf: (token: string) => Holder | null): Promise<GlanceDouble> => {
  const images = new Map<string, Held>()
  const fits = (query: URLSearchParams) => (one: Readonly<Record<string, unknown>>) =>
    [...query].every(([key, value]) => {
      if (key === 'limit' || key === 'marker') return true
      return key === 'tag' ? (one['tags'] as readonly string[]).includes(value) : one[key] === value
    })
  const list = (holder: Holder, query: URLSearchParams, response: ServerResponse): void => {
    const all = [...images]
      .map(([id, held]) => shown(id, held))
      .filter((one) => mayRead(holder, one))
      .filter(fits(query))
    const from = all.findIndex(({ id }) => id === query.get('marker')) + 1
    const page = all.slice(from, from + Number(query.get('limit') ?? 25))
    const full = page.length === Number(query.get('limit'))
    query.set('marker', page.at(-1)?.id ?? '')
    const next = full ? { next: `/v2/images?${query.toString()}` } : {}
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ images: page, first: '/v2/images', ...next }))
  }
  const send = (bytes: Buffer | null, range: string | undefined, response: ServerResponse): void => {
    if (bytes === null) return void response.writeHead(204).end()
    const from = state.whole ? 0 : Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    if (from >= bytes.byteLength && from > 0) return void response.writeHead(416).end('<html>')
    const part = bytes.subarray(from)
    const size = bytes.byteLength
    const headers = { 'content-type': 'application/octet-stream', 'content-length': part.byteLength }
    const partial = { 'content-range': `bytes ${from}-${size - 1}/${size}` }
    response.writeHead(from > 0 ? 206 : 200, from > 0 ? { ...headers, ...partial } : headers).end(part)
  }
  const answer = (request: IncomingMessage, body: Buffer, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url!, 'http://glance')
    const [, , , id = '', file] = pathname.split('/')
    const holder = holderOf(String(request.headers['x-auth-token']))
    if (holder === null) return void response.writeHead(401).end('<html>')
    if (request.method === 'POST') {
      const made = randomUUID()
      const description = JSON.parse(body.toString()) as Held['description']
      if (description['visibility'] === 'public' && !isAdmin(holder)) return void response.writeHead(403).end('<html>')
      images.set(made, { owner: holder.project?.id ?? null, description, bytes: null })
      return void response.writeHead(201, JSON_TYPE).end(JSON.stringify(shown(made, images.get(made)!)))
    }
    if (id === '') return list(holder, searchParams, response)
    const held = images.get(id)
    if (held === undefined || !mayRead(holder, shown(id, held))) return void response.writeHead(404).end('<html>')
    if (request.method === 'PUT') {
      images.set(id, { ...held, bytes: body })
      return void response.writeHead(204).end()
    }
    if (file === 'file') return send(held.bytes, request.headers.range, response)
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(shown(id, held)))
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => answer(request, Buffer.concat(parts), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const state: GlanceDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    whole: false,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
  return state
}
