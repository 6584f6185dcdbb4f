/**
 * An API that answers as it is told, and a transcript of what commands asked of it and printed. Where a command waits,
 * an event comes after each answer that is not the last one.
 */
import { type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { EXITS } from '../../src/cli/exits.ts'
import { commandHere } from '../support/commandHere.ts'

export type Answer = readonly [status: number, document: unknown, headers?: Readonly<Record<string, string>>]
/** By method and path; the last answer of each is given again and again. What is not named is answered with 404. */
export type Answers = Readonly<Record<string, readonly Answer[]>>
export type Case = {
  /** What is behind `accelerando`; a list where an argument holds a blank. */
  readonly line: string | readonly string[]
  readonly answers?: Answers
  /** Other formats in which the same is printed. */
  readonly also?: readonly string[]
}

const NOBODY: Answer = [404, { errors: [{ detail: 'it is not there' }] }]
const EVENT = {
  specversion: '1.0',
  id: 'an-event.0',
  source: '/here',
  type: 'accelerando.arq.Bound',
  time: '2026-01-01T00:00:00Z',
  datacontenttype: 'application/json',
  data: { entity: 'arq/a1', version: 3, event: { type: 'Bound' }, cause: { by: 'kim', requestId: 'req-1' } },
}
const FRAME = `id: 1-1-abcdef\nevent: ${EVENT.type}\ndata: ${JSON.stringify(EVENT)}\n\n`
const SOON_MS = 5
/** Whether an event comes before the end of a short wait is left to chance. */
const isChance = (line: string, code: number): boolean => line.endsWith('1-1-abcdef') && code === EXITS.waited.code

/** The event, for those who listen, or for the next who does. */
const createStreams = () => {
  const streams = new Set<ServerResponse>()
  const waiting = new Set<NodeJS.Timeout>()
  let missed = false
  const wake = (): void => {
    missed = streams.size === 0
    const timer = setTimeout(() => {
      waiting.delete(timer)
      for (const stream of streams) stream.write(FRAME)
    }, SOON_MS)
    waiting.add(timer)
  }
  const follow = (response: ServerResponse): void => {
    streams.add(response.on('close', () => streams.delete(response)))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n')
    if (missed) wake()
  }
  /** What one case has caused is not told to the next. */
  const forget = (): void => {
    missed = false
    for (const timer of waiting) clearTimeout(timer)
    waiting.clear()
  }
  return { wake, follow, forget }
}

const open = async () => {
  let [answers, asked, given]: [Answers, string[], Map<string, number>] = [{}, [], new Map()]
  const { wake, follow, forget } = createStreams()
  const server = createServer((request, response) => {
    const what = `${request.method} ${request.url!.replace('/v2', '')}`
    void text(request).then((body) => {
      if (request.headers.accept === 'text/event-stream' && !(what in answers)) return follow(response)
      const service = request.headers['x-service-roles'] === undefined ? '' : ' (as a service)'
      asked.push(`${what}${body === '' ? '' : ` ${body}`}${service}`)
      const rows = answers[what] ?? [NOBODY]
      const at = given.get(what) ?? 0
      given.set(what, at + 1)
      const [status, document, headers] = rows[Math.min(at, rows.length - 1)]!
      response.writeHead(status, headers).end(JSON.stringify(document))
      if (at < rows.length - 1) wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  return {
    run: async (args: readonly string[], script: Answers) => {
      ;[answers, asked, given] = [script, [], new Map()]
      forget()
      const { code, out, err } = await commandHere(args, { ACCELERANDO_URL: url })
      // an event may come more than once before it is noticed
      const told = [...new Set(err.replaceAll(url, 'API').split('\n'))].filter(
        (line) => line !== '' && !isChance(line, code),
      )
      return { code, out: out.replaceAll(url, 'API'), told, asked }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Requests that are made at one time come in any order, and a wait may look more or less often. */
const inOrder = (asked: readonly string[]): readonly string[] => {
  const groups: string[][] = []
  for (const one of asked) {
    const last = groups.at(-1)
    if (last && one.startsWith('GET ') && last[0]!.startsWith('GET ')) last.push(one)
    else groups.push([one])
  }
  return groups.flatMap((group) => [...new Set(group)].toSorted())
}

type Ran = { readonly code: number; readonly out: string; readonly told: readonly string[] }
const printed = ({ code, out, told }: Ran): string =>
  `${out}${told.map((one) => `! ${one}\n`).join('')}(ends with ${code})\n`

/** The cases one after the other: what was asked (`>`), what was printed, what was told on standard error (`!`). */
export const transcriptOf = async (
  cases: Readonly<Record<string, Case>>,
  hidden: readonly (readonly [string, string])[] = [],
): Promise<string> => {
  const api = await open()
  const parts: string[] = []
  try {
    for (const [name, { line, answers = {}, also = [] }] of Object.entries(cases)) {
      const args = typeof line === 'string' ? line.split(' ') : line
      const ran = await api.run(args, answers)
      parts.push(`== ${name}\n$ ${args.join(' ')}\n`)
      parts.push(...inOrder(ran.asked).map((one) => `> ${one}\n`), printed(ran))
      for (const more of also)
        parts.push(`$ ... ${more}\n`, printed(await api.run([...args, ...more.split(' ')], answers)))
      parts.push('\n')
    }
  } finally {
    api.close()
  }
  return hidden.reduce((all, [found, instead]) => all.replaceAll(found, instead), parts.join(''))
}
