/** Clients of the API, which record each request and its answer. */
import type { ClientRequest } from '../../src/audit/evidence.ts'
import type { Process } from './control.ts'
import type { SimKeystone } from './keystone.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'

export type Who = { readonly project: string; readonly role: 'admin' | 'member'; readonly service: boolean }
export type Reply = {
  /** Null: no answer came. */
  readonly status: number | null
  // Answers are looked into freely; a wrong guess fails the seed that made it.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
}
type About = Partial<Pick<ClientRequest, 'arqs' | 'instance' | 'device'>>
export type Client = {
  readonly life: Life
  readonly asked: readonly ClientRequest[]
  readonly requests: () => number
  readonly ask: (who: Who, act: ClientRequest['act'], line: string, body?: unknown, about?: About) => Promise<Reply>
  readonly sleep: (ms: number) => Promise<void>
}
type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly processes: readonly Process[]
  /** Null: clients say who they are, and are believed. */
  readonly keystone: SimKeystone | null
  readonly committed: () => number
  readonly onLoss: (listener: (place: number) => void) => void
  readonly say: (line: string) => void
  readonly complain: (line: string, rule?: string) => void
}

/** Longer than any request may take: beyond it the client gives up and never learns of the answer. */
const PATIENCE_MS = 60_000

type ShownArq = { uuid: string; state: string; project_id: string | null; attach_handle_uuid: string | null }
const shownIn = (act: ClientRequest['act'], json: unknown): ClientRequest['shown'] => {
  if (act !== 'get' && act !== 'list') return undefined
  const found = act === 'get' ? [json as ShownArq] : ((json as { arqs?: ShownArq[] }).arqs ?? [])
  return found.map((arq) => ({
    uuid: arq.uuid,
    state: arq.state,
    projectId: arq.project_id,
    handle: arq.attach_handle_uuid,
  }))
}
const headersOf = ({ project, role, service }: Who): Record<string, string> => ({
  'X-User-Id': `user-of-${project}`,
  'X-Project-Id': project,
  'X-Roles': role,
  ...(service ? { 'X-Service-Roles': 'service' } : {}),
})
const VERSION = { 'OpenStack-API-Version': 'accelerator 2.2' }
/** A client whose token is refused signs in anew, so often. */
const SIGN_INS = 3

export const openClient = ({
  schedule,
  random,
  processes,
  keystone,
  committed,
  onLoss,
  say,
  complain,
}: Ports): Client => {
  const life = schedule.life('clients')
  const asked: ClientRequest[] = []
  /** Requests without an answer so far. */
  const unanswered = new Set<{ from: number }>()
  // the rows after that place are others from now on
  onLoss((place) => {
    for (const one of unanswered) one.from = Math.min(one.from, place)
    for (const [at, { from, to, ...rest }] of asked.entries())
      if (to > place) asked[at] = { ...rest, from: Math.min(from, place), to: place }
  })
  let sent = 0

  const sendWith = async (headers: Readonly<Record<string, string>>, line: string, body: unknown): Promise<Reply> => {
    const open = processes.filter((process) => process.up())
    if (open.length === 0) return { status: null, json: null }
    const { promise, resolve } = Promise.withResolvers<Reply>()
    const lost = (): void => resolve({ status: null, json: null })
    const cancel = schedule.after(life, PATIENCE_MS, lost)
    random
      .pick(open)
      .request(life, line, { ...VERSION, ...headers }, body)
      .then(resolve, lost)
    const reply = await promise
    cancel()
    return reply
  }
  const send = async (who: Who, line: string, body: unknown): Promise<Reply> => {
    if (keystone === null) return sendWith(headersOf(who), line, body)
    let reply: Reply = { status: null, json: null }
    for (let left = SIGN_INS; left > 0; left--) {
      const [shown, sentMs] = [keystone.headersOf(who), schedule.elapsed()]
      reply = await sendWith(shown, line, body)
      const { status } = reply
      if (status === null) return reply
      const stoodMs = Math.max(...processes.map((process) => process.stoodMs()))
      const wrong = keystone.judge(shown, { sentMs, status, stoodMs })
      if (wrong !== null) complain(`${line}: ${wrong}`, 'TOKENS-1')
      if (status !== 401) return reply
    }
    return reply
  }
  const ask: Client['ask'] = async (who, act, line, body, about = {}) => {
    const [id, place, fromMs] = [++sent, { from: committed() }, schedule.elapsed()]
    unanswered.add(place)
    say(`client ${id}: ${line}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`)
    const reply = await send(who, line, body)
    unanswered.delete(place)
    say(
      `client ${id}: ${reply.status ?? 'no answer'}${reply.status !== null && reply.status >= 400 ? ` ${JSON.stringify(reply.json?.errors?.[0]?.detail ?? reply.json)}` : ''}`,
    )
    if (reply.status === 500 && reply.json?.errors?.[0]?.code === 'accelerator.broken')
      complain(`request ${id}, ${line}, broke`)
    const good = reply.status !== null && reply.status < 300
    const made = good && act === 'create' ? { arqs: (reply.json.arqs as ShownArq[]).map(({ uuid }) => uuid) } : {}
    const shown = good ? shownIn(act, reply.json) : undefined
    const caller = { projectId: who.project, isAdmin: who.role === 'admin', isService: who.service }
    asked.push({
      act,
      from: place.from,
      to: committed(),
      fromMs,
      toMs: schedule.elapsed(),
      caller,
      status: reply.status,
      ...about,
      ...made,
      ...(shown ? { shown } : {}),
    })
    return reply
  }
  return {
    life,
    asked,
    requests: () => sent,
    ask,
    sleep: (ms) => new Promise((resolve) => void schedule.after(life, ms, resolve)),
  }
}
