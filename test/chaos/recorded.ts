/**
 * The client's own record of every request, in the format of `accelerando audit --client`, and the unanswered requests.
 */
import type { Method } from '../kill/account.ts'
import { type Answer, type Api, Lost } from '../kill/api.ts'
import type { Hung } from './struck.ts'

type Act = 'create' | 'bind' | 'unbind' | 'remove' | 'removeByInstance' | 'get' | 'list'
type Shown = {
  readonly uuid: string
  readonly state: string
  readonly project_id?: string | null
  readonly attach_handle_uuid: string | null
}
export type Line = {
  readonly act: Act
  readonly fromMs: number
  readonly toMs: number
  readonly status: number | null
  readonly caller: { readonly projectId: string; readonly isAdmin: boolean; readonly isService: boolean }
  readonly arqs?: readonly string[]
  readonly instance?: string
  readonly shown?: readonly {
    readonly uuid: string
    readonly state: string
    readonly projectId: string | null
    readonly handle: string | null
  }[]
}
type Asking = Pick<Line, 'act' | 'arqs' | 'instance'>

const COLLECTION = '/accelerator_requests'
/** With `--auth noauth` every caller has all rights. */
const CALLER = { projectId: '', isAdmin: true, isService: true }

type Operation = { readonly op: string; readonly path: string; readonly value?: string }
const patched = (body: Readonly<Record<string, readonly Operation[]>>): Asking => {
  const [operations = []] = Object.values(body)
  const instance = operations.find(({ op, path }) => op === 'add' && path === '/instance_uuid')?.value
  const arqs = Object.keys(body)
  return instance === undefined ? { act: 'unbind', arqs } : { act: 'bind', arqs, instance }
}
const removed = (query: URLSearchParams): Asking => {
  const instance = query.get('instance')
  return instance === null
    ? { act: 'remove', arqs: (query.get('arqs') ?? '').split(',') }
    : { act: 'removeByInstance', instance }
}
/** Null: a request that audits do not check. */
export const askingOf = (method: Method, path: string, body: unknown): Asking | null => {
  const { pathname, searchParams } = new URL(path, 'http://client')
  if (pathname !== COLLECTION) {
    const [, uuid] = /^\/accelerator_requests\/([^/]+)$/.exec(pathname) ?? []
    return method === 'GET' && uuid !== undefined ? { act: 'get' } : null
  }
  if (method === 'POST') return { act: 'create' }
  if (method === 'PATCH') return patched(body as Readonly<Record<string, readonly Operation[]>>)
  if (method === 'DELETE') return removed(searchParams)
  const instance = searchParams.get('instance')
  return { act: 'list', ...(instance === null ? {} : { instance }) }
}

const shownIn = ({ uuid, state, project_id: projectId = null, attach_handle_uuid: handle }: Shown) => ({
  uuid,
  state,
  projectId,
  handle,
})
const withAnswer = (asking: Asking, { status, body }: Answer): Omit<Line, 'fromMs' | 'toMs'> => {
  const told = { ...asking, status, caller: CALLER }
  if (status >= 300) return told
  const several = (body['arqs'] ?? []) as readonly Shown[]
  if (asking.act === 'create') return { ...told, arqs: several.map(({ uuid }) => uuid) }
  if (asking.act === 'get') return { ...told, shown: [shownIn(body as unknown as Shown)] }
  return asking.act === 'list' ? { ...told, shown: several.map(shownIn) } : told
}

/** The client timed out, although a control had accepted the connection. */
const hungOf = ({ message }: Lost): Pick<Hung, 'control' | 'what'> | null => {
  const [, what = '', control] = /^(\w+ (http:\/\/[^/]+)\S*): TimeoutError/.exec(message) ?? []
  return control === undefined ? null : { control, what }
}

/** `hung` names a control by its address. */
export const recorded = (api: Api, lines: Line[], hung: Hung[]): Api => ({
  ...api,
  call: async (method, path, body, instance) => {
    const asking = askingOf(method, path, body)
    const fromMs = Date.now()
    const note = (line: Omit<Line, 'fromMs' | 'toMs'>) => void lines.push({ ...line, fromMs, toMs: Date.now() })
    try {
      const answer = await api.call(method, path, body, instance)
      if (asking) note(withAnswer(asking, answer))
      return answer
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      if (asking) note({ ...asking, status: null, caller: CALLER })
      const waited = hungOf(error)
      if (waited) hung.push({ ...waited, from: fromMs, to: Date.now() })
      throw error
    }
  },
})
