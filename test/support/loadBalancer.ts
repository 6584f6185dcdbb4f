/**
 * Stands at the address of the accelerator API in the catalogue and passes each request to the next control that
 * accepts it, as a load balancer does. A test may look at the requests that Nova makes, do something in the moment
 * before one is passed on, and add headers to it.
 */
import { type IncomingMessage, type Server, type ServerResponse, createServer, request } from 'node:http'

export type Asked = { readonly method: string; readonly path: string }
type Answer = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer }
export type Passed = Asked & {
  /** Origin of the control that took it. */
  readonly by: string
  /** Null: the control broke off. */
  readonly status: number | null
  /** When it came, by the clock of this machine, and how long its answer took. */
  readonly at: number
  readonly tookMs: number
}
type Headers = Readonly<Record<string, string>>
/** The headers to add; none, when it answers nothing. */
type Look = (asked: Asked) => Promise<Headers | void> | Headers | void
export type LoadBalancer = {
  readonly passed: () => readonly Passed[]
  /** Called before each request is passed on, until it is replaced. */
  readonly before: (look: Look) => void
  readonly close: () => Promise<void>
}

const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
const bodyOf = async (stream: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
const ahead = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name)))

const answerOf = (origin: string, asked: IncomingMessage, body: Buffer, more: Headers): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = { ...ahead(asked.headers), ...more, 'content-length': body.length }
    const sent = request(`${origin}${asked.url}`, { method: asked.method, headers, agent: false }, (response) => {
      bodyOf(response).then(
        (text) => resolve({ status: response.statusCode!, headers: ahead(response.headers), body: text }),
        reject,
      )
    })
    sent.once('error', reject).end(body)
  })

const isRefusal = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'

export const openLoadBalancer = async (port: number, origins: () => readonly string[]): Promise<LoadBalancer> => {
  const passed: Passed[] = []
  let before: Look = () => undefined
  let turn = 0
  const serve = async (asked: IncomingMessage, answered: ServerResponse): Promise<void> => {
    const what = { method: asked.method!, path: asked.url! }
    const body = await bodyOf(asked)
    const more = await before(what)
    const [all, first] = [origins(), turn++]
    const [at, began] = [Date.now(), performance.now()]
    const took = () => ({ at, tookMs: performance.now() - began })
    for (let tried = 0; tried < all.length; tried++) {
      const by = all[(first + tried) % all.length]!
      try {
        const { status, headers, body: text } = await answerOf(by, asked, body, more ?? {})
        passed.push({ ...what, by, status, ...took() })
        return void answered.writeHead(status, headers).end(text)
      } catch (error) {
        if (isRefusal(error)) continue
        passed.push({ ...what, by, status: null, ...took() })
        break
      }
    }
    answered.writeHead(503).end()
  }
  const server: Server = createServer((asked, answered) => void serve(asked, answered).catch(() => answered.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return {
    passed: () => passed,
    before: (look) => {
      before = look
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
