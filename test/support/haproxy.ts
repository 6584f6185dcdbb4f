/**
 * The HAProxy of infra/compose, run with its own file on addresses of this machine, and a name server that stands in
 * for Docker's.
 */
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const BALANCER_FILE = join(import.meta.dirname, '../../infra/compose/haproxy.cfg')
const KEPT_CHARACTERS = 200_000
const HEADER_BYTES = 12
const [NO_ERROR, NO_SUCH_NAME, TYPE_A] = [0x8180, 0x8183, 1]
/** The name stands at the beginning of the question; type A, class IN, 5 seconds, 4 bytes. */
const ANSWER = [0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 5, 0, 4]

const question = (asked: Buffer): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = asked[at]!; length > 0; length = asked[at]!) {
    labels.push(asked.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: asked.readUInt16BE(at + 1), end: at + 5 }
}

const answered = (asked: Buffer, addresses: ReadonlyMap<string, string>): Buffer => {
  const { name, type, end } = question(asked)
  const address = addresses.get(name)
  const found = address !== undefined && type === TYPE_A ? [...ANSWER, ...address.split('.').map(Number)] : []
  const answer = Buffer.concat([asked.subarray(0, end), Buffer.from(found)])
  answer.writeUInt16BE(address === undefined ? NO_SUCH_NAME : NO_ERROR, 2)
  // one question, and no other records than the answer
  for (const [place, count] of [1, found.length > 0 ? 1 : 0, 0, 0].entries()) answer.writeUInt16BE(count, 4 + 2 * place)
  return answer
}

const openNames = async (addresses: ReadonlyMap<string, string>) => {
  const socket = createSocket('udp4')
  socket.on('message', (asked, { port, address }) => socket.send(answered(asked, addresses), port, address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { port: socket.address().port, close: () => void socket.close() }
}

/** What differs from the shipped file: the ports it opens here, and the name server. Each stands there exactly once. */
const placed = (text: string, places: ReadonlyMap<string, string>): string => {
  for (const from of places.keys())
    if (text.split(`${from}\n`).length !== 2) throw new Error(`${BALANCER_FILE}: "${from}" is not there exactly once`)
  return [...places].reduce((all, [from, to]) => all.replace(`${from}\n`, `${to}\n`), text)
}

export type Balancer = { readonly said: () => string; readonly end: () => Promise<void> }

/** `controls`: addresses by name; one that is not given is a name that nobody knows. */
export const openBalancer = async (
  folder: string,
  { program, api, ui }: { readonly program: string; readonly api: number; readonly ui: number },
  controls: ReadonlyMap<string, string>,
): Promise<Balancer> => {
  const names = await openNames(controls)
  const places = new Map([
    ['bind :6666', `bind 127.0.0.1:${api}`],
    ['bind :6670', `bind 127.0.0.1:${ui}`],
    ['nameserver dns 127.0.0.11:53', `nameserver dns 127.0.0.1:${names.port}`],
  ])
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, placed(readFileSync(BALANCER_FILE, 'utf8'), places))
  const child = spawn(program, ['-db', '-f', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-KEPT_CHARACTERS)))
  const closed = once(child, 'close')
  return {
    said: () => said,
    end: async () => {
      kill()
      await closed
      process.off('exit', kill)
      names.close()
    },
  }
}
