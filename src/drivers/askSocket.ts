/** A question over a UNIX socket. */
import { createConnection } from 'node:net'
import { jsonIn } from '../vocabulary/jsonText.ts'
import { gathered } from './runToEnd.ts'

/**
 * The first JSON document that comes back from the socket. A document ends where it can be decoded; only what ends with
 * a brace is tried.
 */
export const askSocket = async (path: string, text: string, timeoutMs: number, maxBytes: number): Promise<unknown> => {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const socket = createConnection(path, () => socket.write(text))
  const failed = (reason: string): void => reject(new Error(reason))
  const timer = setTimeout(() => failed(`no complete answer within ${timeoutMs} ms`), timeoutMs)
  const whole = gathered(socket, maxBytes, () => failed(`more than ${maxBytes} bytes of answer`))
  socket.on('data', (chunk: Buffer) => {
    const document = /\}\s*$/.test(chunk.toString('latin1')) ? jsonIn(whole()) : undefined
    if (document !== undefined) resolve(document)
  })
  socket.on('error', reject)
  socket.on('close', () => failed('the answer is not a JSON document'))
  return promise.finally(() => {
    clearTimeout(timer)
    socket.destroy()
  })
}
