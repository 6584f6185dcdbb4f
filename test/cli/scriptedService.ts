/** A service that answers one request after the other as a test says; it runs as long as the tests of the file. */
import { type IncomingHttpHeaders, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

export type Script = (response: ServerResponse, headers: IncomingHttpHeaders) => void
export type Request = { readonly url: string | undefined; readonly headers: IncomingHttpHeaders }

export const refuses =
  (status: number, detail: string): Script =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ errors: [{ detail }] }))
/** Whatever is asked beyond the script ends the command. */
const BEYOND = refuses(403, 'beyond the script')

export const openScripted = () => {
  let [script, asked]: [Script[], Request[]] = [[], []]
  const server = createServer(({ url, headers }, response) => {
    asked.push({ url, headers })
    const answer = script.shift() ?? BEYOND
    answer(response, headers)
  })
  let api = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    /** The address of its API. */
    api: () => api,
    asked: (): readonly Request[] => asked,
    /** Begins anew with these answers. */
    answers: (scripted: readonly Script[]) => {
      ;[script, asked] = [[...scripted], []]
    },
  }
}
