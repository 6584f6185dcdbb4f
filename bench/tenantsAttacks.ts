/** The clients of one project that ask for costly things as fast as they are answered, in a thread of their own. */
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

/** How often each status was the answer. */
export type Called = Readonly<Record<string, number>>
type Place = {
  readonly ms: number
  readonly port: number
  readonly uiPort: number
  readonly uuid: string
  readonly project: string
  readonly profile: string
}
type Request = {
  readonly method?: string
  readonly path: string
  readonly body?: string | FormData
  readonly roles?: string
  readonly project?: string
  /** A page of the console. */
  readonly page?: true
}
export type Attack = {
  readonly name: string
  readonly clients: number
  readonly request: (place: Place) => Request
  /** The clients read nothing of the answers. */
  readonly reads?: false
}

const MIB = 1024 * 1024
const filled = (begin: string, part: string, end: string, bytes: number): string =>
  begin + part.repeat(Math.floor((bytes - begin.length - end.length) / part.length)) + end
const LISTS = filled('{"a":[', '[],', '1]}', MIB)
const DEEP = filled('{"a":[', `${'['.repeat(13)}${']'.repeat(13)},`, '1]}', MIB)
const KEYS = `{${Array.from({ length: 90_000 }, (_, at) => `"${at.toString(16)}":1`).join(',')}}`
const uuidAt = (at: number): string => `${at.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`
const patches = (count: number, operation: object): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [uuidAt(at), [operation]])))
const BINDS = patches(8500, { op: 'add', path: '/hostname', value: 'x' })
const UNBINDS = patches(11_000, { op: 'remove', path: '/hostname' })
const FEWER_UNBINDS = patches(1024, { op: 'remove', path: '/hostname' })
const STEPS = Array.from({ length: 5000 }, (_, at) => ({
  at: new Date(at * 1000).toISOString(),
  step: 'bound',
  took_ms: 1000,
  cause: 'x'.repeat(200),
  request_id: null,
  detail: { text: 'y'.repeat(400) },
}))
const TIMELINE = JSON.stringify({ arq: uuidAt(1), project_id: 'p', deleted: false, total_ms: 1, steps: STEPS })
const fileOf = (text: string): FormData => {
  const form = new FormData()
  form.append('file', new File([text], 'timeline.json'))
  return form
}
const opens = (text: string): Request => ({ method: 'POST', path: '/ui/timeline', body: fileOf(text), page: true })
const ARQS = '/v2/accelerator_requests'
const posts = (body: string): Request => ({ method: 'POST', path: ARQS, body })
const day = () => new Date(Date.now() - 50).toISOString()

export const ATTACKS: readonly Attack[] = [
  { name: 'whole list of its requests', clients: 8, request: () => ({ path: ARQS }) },
  { name: 'whole list that nobody reads', clients: 64, reads: false, request: () => ({ path: ARQS }) },
  {
    name: 'events from the first, of a project without any',
    clients: 8,
    request: () => ({ path: '/v2/events?after=0&limit=1000', project: 'none' }),
  },
  { name: 'events from the first', clients: 8, request: () => ({ path: '/v2/events?after=0&limit=1000' }) },
  { name: 'list of the past', clients: 4, request: () => ({ path: `${ARQS}?as_of=${day()}` }) },
  {
    name: 'list of the past, of a project without any',
    clients: 4,
    request: () => ({ path: `${ARQS}?as_of=${day()}`, project: 'none' }),
  },
  { name: 'usage by day', clients: 8, request: () => ({ path: '/v2/usage?period=day' }) },
  { name: 'timeline', clients: 8, request: ({ uuid }) => ({ path: `${ARQS}/${uuid}/timeline?events=true` }) },
  { name: 'capacity', clients: 8, request: () => ({ path: '/v2/capacity', roles: 'manager,member,reader' }) },
  {
    name: 'check of a profile',
    clients: 8,
    request: ({ profile }) => ({
      method: 'POST',
      path: `/v2/device_profiles/${profile}/check`,
      roles: 'manager,member,reader',
    }),
  },
  { name: 'POST of 1 MiB of empty lists', clients: 8, request: () => posts(LISTS) },
  { name: 'POST of 90,000 keys', clients: 1, request: () => posts(KEYS) },
  { name: 'POST of 90,000 keys', clients: 4, request: () => posts(KEYS) },
  { name: 'POST of 1 MiB, 16 deep', clients: 1, request: () => posts(DEEP) },
  { name: 'PATCH of 8,500 binds', clients: 8, request: () => ({ method: 'PATCH', path: ARQS, body: BINDS }) },
  { name: 'PATCH of 11,000 unbinds', clients: 1, request: () => ({ method: 'PATCH', path: ARQS, body: UNBINDS }) },
  { name: 'PATCH of 1,024 unbinds', clients: 1, request: () => ({ method: 'PATCH', path: ARQS, body: FEWER_UNBINDS }) },
  { name: 'home page of the console', clients: 4, request: () => ({ path: '/ui/arqs', page: true }) },
  { name: 'events in the console', clients: 4, request: () => ({ path: '/ui/events', page: true }) },
  { name: 'explanations in the console', clients: 4, request: () => ({ path: '/ui/explain', page: true }) },
  { name: 'opened file of 4 MiB of brackets', clients: 2, request: () => opens('['.repeat(4 * MIB)) },
  { name: 'opened timeline of 5,000 steps', clients: 8, request: () => opens(TIMELINE) },
  {
    name: 'creation of requests',
    clients: 8,
    request: ({ profile }) => posts(JSON.stringify({ device_profile_name: profile })),
  },
]

const headersOf = ({ project, roles = 'member,reader' }: Request, place: Place): Record<string, string> => ({
  'x-user-id': 'attacker',
  'x-project-id': project ?? place.project,
  'x-roles': roles,
  'x-service-roles': 'service',
  'openstack-api-version': 'accelerator latest',
})

/** Zero: there was no whole answer within the time. */
const statusOf = async (url: string, init: RequestInit, ms: number): Promise<number> => {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(ms) })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

const hammering = async (place: Place, request: Request): Promise<Called> => {
  const called: Record<string, number> = {}
  const { method = 'GET', path, body, page } = request
  const url = `http://127.0.0.1:${page ? place.uiPort : place.port}${path}`
  const json = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
  const headers = { ...headersOf(request, place), ...json, ...(page && { origin: new URL(url).origin }) }
  const until = performance.now() + place.ms
  while (performance.now() < until) {
    const status = await statusOf(url, { method, headers, ...(body !== undefined && { body }) }, place.ms * 2)
    const name = status === 0 ? 'cut off' : String(status)
    called[name] = (called[name] ?? 0) + 1
  }
  return called
}

/** Asks, and reads no more than what comes first. */
const staring = async (place: Place, request: Request): Promise<Called> => {
  const lines = Object.entries({ host: `127.0.0.1:${place.port}`, ...headersOf(request, place) })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const socket: Socket = connect(place.port, '127.0.0.1', () =>
    socket.write(`GET ${request.path} HTTP/1.1\r\n${head}\r\n`),
  )
  const status = await new Promise<string>((resolve) => {
    socket.once('error', () => resolve('cut off'))
    socket.once('data', (part) => {
      socket.pause()
      resolve(part.toString('latin1', 9, 12))
    })
  })
  await sleep(place.ms)
  socket.destroy()
  return { [status]: 1 }
}

if (!isMainThread) {
  const { name, clients, ...place } = workerData as Place & Pick<Attack, 'name' | 'clients'>
  const { request, reads } = ATTACKS.find((attack) => attack.name === name)!
  const work = reads === false ? staring : hammering
  const all = await Promise.all(Array.from({ length: clients }, () => work(place, request(place))))
  const sum: Record<string, number> = {}
  for (const called of all)
    for (const [status, count] of Object.entries(called)) sum[status] = (sum[status] ?? 0) + count
  parentPort!.postMessage(sum)
}
