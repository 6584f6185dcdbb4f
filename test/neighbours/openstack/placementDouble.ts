/**
 * A Placement in memory, over HTTP, which asks a Keystone about tokens as the real one does.
 * `test/contracts/placement.contract.ts` runs on both.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PlacementModel, placementModel } from './placement/model.ts'
import type { Reply } from './placement/route.ts'

export type PlacementDouble = {
  readonly url: string
  readonly model: PlacementModel
  /** Method and path of each request so far. */
  readonly asked: string[]
  readonly close: () => Promise<void>
}
type Roles = { readonly token: { readonly roles?: readonly { readonly name: string }[] } }

const MAY = new Set(['admin', 'service'])
const denial = (status: number, title: string): Reply => ({
  status,
  body: { errors: [{ status, title, detail: title }] },
})

/** Null: the request may go on. Only the list of versions needs no token. */
const refusal = async (authUrl: string | null, { url, headers }: IncomingMessage): Promise<Reply | null> => {
  if (authUrl === null || url === '/' || url === '') return null
  const token = String(headers['x-auth-token'] ?? '')
  const held = await fetch(`${authUrl}/auth/tokens`, { headers: { 'x-auth-token': token, 'x-subject-token': token } })
  if (held.status !== 200) return denial(401, 'Unauthorized')
  const { roles = [] } = ((await held.json()) as Roles).token
  return roles.some(({ name }) => MAY.has(name)) ? null : denial(403, 'Policy does not allow this to be performed.')
}
const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const text = Buffer.concat(await request.toArray()).toString()
  return text === '' ? undefined : (JSON.parse(text) as unknown)
}

/**
 * `authUrl`: of the Keystone that knows the tokens; null takes any. `highest`: second part of the highest version on
 * offer.
 */
export const placementDouble = async ({
  authUrl = null,
  ...options
}: { readonly authUrl?: string | null; readonly highest?: number } = {}): Promise<PlacementDouble> => {
  const model = placementModel(options)
  const asked: string[] = []
  const answerTo = async (request: IncomingMessage): Promise<Reply> => {
    const [path, method] = [request.url ?? '/', request.method ?? 'GET']
    asked.push(`${method} ${path}`)
    const version = request.headers['openstack-api-version']
    const body = await readBody(request)
    const refused = await refusal(authUrl, request)
    return refused ?? model.handle({ method, path, version: version?.toString(), body })
  }
  const server = createServer((request, response) => {
    answerTo(request).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(body === undefined ? undefined : JSON.stringify(body))
      },
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    model,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => void server.close(() => resolve()))
    },
  }
}
