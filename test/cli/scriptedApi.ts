/** An API that answers as it is told, and what a command asks of it and prints. */
import { type IncomingHttpHeaders, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

/** Its status, its document, which is written as JSON unless it is text, and its headers. */
export type Answer = readonly [status: number, document: unknown, headers?: Readonly<Record<string, string>>]
/** By method and path; of a list each answer is given once, and the last one again and again. */
export type Answers = Readonly<Record<string, Answer | readonly Answer[] | object | string>>

const NOBODY: Answer = [404, { errors: [{ detail: 'it is not there' }] }]
const isAnswer = (given: unknown): given is Answer => Array.isArray(given) && typeof given[0] === 'number'
const answersOf = (given: unknown): readonly Answer[] => {
  if (given === undefined) return [NOBODY]
  if (isAnswer(given)) return [given]
  return Array.isArray(given) && given.every(isAnswer) ? given : [[200, given]]
}
/** The words of a line; what stands between single quotes is one word. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)

export const scriptedApi = (usual: Answers = {}) => {
  let [answers, asked, given]: [Answers, string[], Map<string, number>] = [{}, [], new Map()]
  let headers: IncomingHttpHeaders = {}
  const server = createServer((request, response) => {
    const what = `${request.method} ${request.url!.replace('/v2', '')}`
    void text(request).then((body) => {
      headers = request.headers
      asked.push(`${what}${body === '' ? '' : ` ${body}`}`)
      const rows = answersOf(answers[what] ?? usual[what])
      const at = given.get(what) ?? 0
      given.set(what, at + 1)
      const [status, document, more] = rows[Math.min(at, rows.length - 1)]!
      response.writeHead(status, more).end(typeof document === 'string' ? document : JSON.stringify(document))
    })
  })
  let base = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const run = async (line: string, more: Answers = {}, env: NodeJS.ProcessEnv = {}, terminal = true) => {
    ;[answers, asked, given] = [more, [], new Map()]
    const { code, out, err } = await commandHere(wordsOf(line), { ACCELERANDO_URL: base, ...env }, { terminal })
    return { code, out: out.replaceAll(base, 'API'), err: err.replaceAll(base, 'API'), asked }
  }
  return { run, base: () => base, headers: () => headers }
}
