/** A Nova that answers as it is told and keeps what it was asked. */
import { type IncomingHttpHeaders, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NovaEvent } from '../../src/actors/neighbours.ts'

type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly events: readonly NovaEvent[] }
}
type Script = (response: ServerResponse, asked: Asked) => void

export type ScriptedNova = {
  readonly url: string
  readonly asked: readonly Asked[]
  answers: Script
  readonly close: () => Promise<void>
}

export const json =
  (status: number, body: unknown): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** As Nova echoes events: each with a code, here one by its place. */
export const withCodes =
  (status: number, codeOf: (event: NovaEvent, at: number) => number): Script =>
  (response, asked) =>
    json(status, { events: asked.body.events.map((event, at) => ({ ...event, code: codeOf(event, at) })) })(
      response,
      asked,
    )

export const scriptedNova = async (): Promise<ScriptedNova> => {
  const asked: Asked[] = []
  const nova = { answers: json(500, {}) }
  const server: Server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => (text += part))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      const one = { method, path, headers, body: JSON.parse(text) as Asked['body'] }
      asked.push(one)
      nova.answers(response, one)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2.1`
  const close = async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  }
  return Object.assign(nova, { url, asked, close })
}
