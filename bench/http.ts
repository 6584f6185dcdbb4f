/**
 * One kept-alive connection that asks one thing at a time, as cheaply as can be: the callers share the machine with
 * what they measure.
 */
import { type Socket, connect } from 'node:net'

export type Answer = { readonly status: number; readonly body: string }
export type Connection = {
  /** `trace`: the `traceparent` that the request belongs to. */
  readonly ask: (method: string, path: string, body?: unknown, trace?: string) => Promise<Answer>
  readonly close: () => void
}
type Waiting = { readonly resolve: (answer: Answer) => void; readonly reject: (cause: Error) => void }

const HEAD_END = '\r\n\r\n'

/** `to`: where the answer ends. */
type Body = { readonly parts: readonly Buffer[]; readonly to: number }
/** A number: so many bytes at least, where not all of it is there yet. */
type Parsed<Value> = Value | number

/**
 * Long lists are streamed in chunks, each after a line with its length in hexadecimal digits; an empty one ends them.
 */
const chunked = (text: Buffer, from: number): Parsed<Body> => {
  const parts: Buffer[] = []
  for (let at = from; ;) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) return text.length + 1
    const length = Number.parseInt(text.toString('latin1', at, line), 16)
    const begin = line + 2
    if (text.length < begin + length + 2) return begin + length + 2
    if (length === 0) return { parts, to: begin + 2 }
    parts.push(text.subarray(begin, begin + length))
    at = begin + length + 2
  }
}
const bodyOf = (text: Buffer, head: string, from: number, status: number): Parsed<Body> => {
  if (status === 204) return { parts: [], to: from }
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return chunked(text, from)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length === null) throw new Error(`an answer without its length:\n${head}`)
  const to = from + Number(length[1])
  return text.length < to ? to : { parts: [text.subarray(from, to)], to }
}
const parse = (text: Buffer): Parsed<{ readonly answer: Answer; readonly rest: Buffer }> => {
  const end = text.indexOf(HEAD_END)
  if (end < 0) return text.length + 1
  const head = text.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const body = bodyOf(text, head, end + HEAD_END.length, status)
  if (typeof body === 'number') return body
  return { answer: { status, body: Buffer.concat(body.parts).toString() }, rest: text.subarray(body.to) }
}

const opened = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true }, () => resolve(socket))
    socket.once('error', reject)
  })

export const connection = async (port: number): Promise<Connection> => {
  const socket = await opened(port)
  let waiting: Waiting | null = null
  let held: Buffer[] = []
  let [size, wanted] = [0, 0]
  const fail = (cause: Error): void => {
    waiting?.reject(cause)
    waiting = null
  }
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the connection was closed')))
  socket.on('data', (part: Buffer) => {
    held.push(part)
    size += part.length
    // a large answer is put together once
    if (size < wanted) return
    const text = Buffer.concat(held)
    const parsed = parse(text)
    if (typeof parsed === 'number') {
      ;[held, wanted] = [[text], parsed]
      return
    }
    ;[held, size, wanted] = [[Buffer.from(parsed.rest)], parsed.rest.length, 0]
    const { resolve } = waiting!
    waiting = null
    resolve(parsed.answer)
  })
  return {
    ask: (method, path, body, trace) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the connection was closed'))
        waiting = { resolve, reject }
        const text = body === undefined ? '' : JSON.stringify(body)
        const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-service-roles: service\r\n`
        const parent = trace === undefined ? '' : `traceparent: ${trace}\r\n`
        const about = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`
        socket.write(`${head}${parent}${body === undefined ? '' : about}\r\n${text}`)
      }),
    close: () => void socket.destroy(),
  }
}
