/** A server that speaks the protocol of PostgreSQL and answers each statement as a test says. It keeps no data. */
import { type Socket, createServer } from 'node:net'
import { freePort } from './port.ts'

type Value = string | number | boolean | null | object
type Row = Readonly<Record<string, Value>>
type Settings = Readonly<Record<string, string | number>>
export type Asked = { readonly session: number; readonly text: string; readonly params: readonly (string | null)[] }
/** Rows, or an error with its SQLSTATE; null: what every session asks first is answered as by a server that is well. */
export type Script = (asked: Asked) => readonly Row[] | Error | null | Promise<readonly Row[] | Error | null>

export const sqlError = (code: string, message = `as ${code}`): Error => Object.assign(new Error(message), { code })
/** The process of a session on the server. */
export const pidOf = (session: number): number => 100 + session

const WELL: readonly (readonly [begins: string, row: (session: number) => Row])[] = [
  ['select pg_is_in_recovery()', () => ({ standby: false, locked: false })],
  ['select pid, backend_start', (session) => ({ pid: pidOf(session), since: `then ${session}` })],
  ['select pg_backend_pid()', (session) => ({ own: pidOf(session), pid: pidOf(session) })],
  ['select pg_try_advisory_lock', () => ({ held: true })],
]
/** Sets what a session needs, before its first statement. */
const SET = 'select set_config(key, value, false) from json_each_text($1::json)'
const well = ({ session, text }: Asked): readonly Row[] =>
  WELL.flatMap(([begins, row]) => (text.startsWith(begins) ? [row(session)] : []))

const int = (value: number, bytes: 2 | 4 = 4): Buffer => {
  const buffer = Buffer.alloc(bytes)
  return (bytes === 2 ? buffer.writeInt16BE(value) : buffer.writeInt32BE(value), buffer)
}
const text = (value: string): Buffer => Buffer.from(`${value}\0`)
const message = (kind: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(kind), int(body.length + 4), body])
}
/** The numbers by which the server names types. */
const TYPE = { bool: 16, int8: 20, int4: 23, text: 25, json: 114, float8: 701 }
const [INT4_MIN, INT4_MAX] = [-(2 ** 31), 2 ** 31 - 1] as const
const typeOf = (value: Value): number => {
  if (typeof value === 'boolean') return TYPE.bool
  if (typeof value === 'object' && value !== null) return TYPE.json
  if (typeof value !== 'number') return TYPE.text
  if (!Number.isInteger(value)) return TYPE.float8
  return value > INT4_MAX || value < INT4_MIN ? TYPE.int8 : TYPE.int4
}
const cell = (value: Value): Buffer => {
  if (value === null) return int(-1)
  const shown = Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value))
  return Buffer.concat([int(shown.length), shown])
}
const table = (rows: readonly Row[]): readonly Buffer[] => {
  const [first = {}] = rows
  const columns = Object.entries(first).map(([name, value]) =>
    Buffer.concat([text(name), int(0), int(0, 2), int(typeOf(value)), int(-1, 2), int(-1), int(0, 2)]),
  )
  return [
    message('T', int(columns.length, 2), ...columns),
    ...rows.map((row) => message('D', int(columns.length, 2), ...Object.values(row).map(cell))),
  ]
}
const firstWord = (said: string): string => /^\w+/.exec(said)?.[0].toUpperCase() ?? ''
const READING = new Set(['SELECT', 'WITH', 'FETCH', 'VALUES', 'SHOW'])
/** A statement that reads has a table, also an empty one; others have one only where the script gives them rows. */
const resultOf = (said: string, rows: readonly Row[], undone: boolean): readonly Buffer[] => {
  const word = firstWord(said)
  if (!READING.has(word) && rows.length === 0) return [message('C', text(undone ? 'ROLLBACK' : word))]
  return [...table(rows), message('C', text(`${word === 'FETCH' ? 'FETCH' : 'SELECT'} ${rows.length}`))]
}
const refusal = (error: Error): Buffer => {
  const { code = 'XX000', severity = 'ERROR' } = error as { readonly code?: string; readonly severity?: string }
  const fields = Object.entries({ S: severity, V: severity, C: code, M: error.message })
  return message(
    'E',
    ...fields.map(([field, value]) => Buffer.concat([Buffer.from(field), text(value)])),
    Buffer.alloc(1),
  )
}
/** Whether a session is outside of a transaction, in one, or in one that has failed. */
type Standing = 'I' | 'T' | 'E'
const ready = (standing: Standing): Buffer => message('Z', Buffer.from(standing))
const ENDS = new Set(['COMMIT', 'END', 'ROLLBACK', 'ABORT'])
const isEnd = (said: string): boolean => ENDS.has(firstWord(said)) && !/^rollback to /i.test(said)
const standingAfter = (said: string, before: Standing): Standing =>
  isEnd(said) ? 'I' : /^(?:begin|start transaction)\b/i.test(said) ? 'T' : before
const ABORTED = sqlError('25P02', 'current transaction is aborted, commands ignored until end of transaction block')

/** The messages of a client; the first has no kind. */
const reader = (take: (kind: string, body: Buffer) => void) => {
  let [left, begun] = [Buffer.alloc(0), false]
  return (chunk: Buffer): void => {
    left = Buffer.concat([left, chunk])
    for (;;) {
      const head = begun ? 1 : 0
      if (left.length < head + 4) return
      const end = head + left.readInt32BE(head)
      if (left.length < end) return
      const [kind, body] = [begun ? left.toString('latin1', 0, 1) : 'startup', left.subarray(head + 4, end)]
      ;[left, begun] = [left.subarray(end), true]
      take(kind, body)
    }
  }
}
const PROTOCOL_3 = 0x3_0000
const startupIn = (body: Buffer): Readonly<Record<string, string>> => {
  const code = body.readInt32BE(0)
  if (code !== PROTOCOL_3) throw new Error(`this server knows no TLS and no cancelling: a session began with ${code}`)
  const words = body.subarray(4).toString().split('\0')
  return Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 && word !== '' ? [[word, words[at + 1]!]] : [])))
}
/** The values in a `bind`: they are sent as texts. */
const valuesIn = (body: Buffer): readonly (string | null)[] => {
  let at = body.indexOf(0, body.indexOf(0) + 1) + 1
  at += 2 + 2 * body.readInt16BE(at)
  return Array.from({ length: body.readInt16BE((at += 2) - 2) }, () => {
    const length = body.readInt32BE(at)
    const value = length < 0 ? null : body.toString('utf8', at + 4, at + 4 + length)
    at += 4 + Math.max(0, length)
    return value
  })
}

export const scriptedPostgres = async (script: Script = () => null) => {
  const sockets = new Map<number, Socket>()
  const startups: Readonly<Record<string, string>>[] = []
  const settings: Settings[] = []
  const asked: Asked[] = []
  const serve = (session: number, socket: Socket) => {
    const parsed = new Map<string, string>()
    let [turn, standing, planned]: [Promise<void>, Standing, readonly Buffer[]] = [Promise.resolve(), 'I', []]
    const resultTo = async (one: Asked, before: readonly Buffer[]): Promise<readonly Buffer[]> => {
      const failed = standing === 'E'
      const rows = failed && !isEnd(one.text) ? ABORTED : ((await script(one)) ?? well(one))
      if (rows instanceof Error) {
        if (standing === 'T') standing = 'E'
        return [refusal(rows)]
      }
      standing = standingAfter(one.text, standing)
      return [...before, ...resultOf(one.text, rows, failed)]
    }
    const answer = (said: string, params: readonly (string | null)[], before: readonly Buffer[]) => {
      const one = { session, text: said, params }
      if (said === SET) settings[session] = JSON.parse(params[0]!) as Settings
      else asked.push(one)
      turn = turn.then(async () => {
        const parts = await resultTo(one, before)
        socket.write(Buffer.concat([...parts, ready(standing)]))
      })
    }
    return reader((kind, body) => {
      if (kind === 'startup') {
        startups.push(startupIn(body))
        socket.write(Buffer.concat([message('R', int(0)), message('K', int(pidOf(session)), int(7)), ready('I')]))
      }
      if (kind === 'Q') answer(body.toString('utf8', 0, body.length - 1), [], [])
      const [first = '', second = ''] = body.toString().split('\0', 2)
      // a statement is planned under its name, and later used by that name alone
      if (kind === 'P') {
        parsed.set(first, second)
        planned = [message('1')]
      }
      if (kind === 'B') {
        answer(parsed.get(second)!, valuesIn(body), [...planned, message('2')])
        planned = []
      }
      if (kind === 'X') socket.end()
    })
  }
  let begun = 0
  const server = createServer((socket) => {
    const session = ++begun
    sockets.set(session, socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(session))
    socket.on('data', serve(session, socket))
  })
  // a port that no outgoing connection takes while the server is stopped
  const port = await freePort()
  const listen = () =>
    new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  await listen()
  const cut = (session?: number) => {
    for (const [one, socket] of sockets) if (session === undefined || session === one) socket.destroy()
  }
  return {
    url: `postgres://me@127.0.0.1:${port}/c`,
    /** What each session said of itself when it began. */
    startups,
    /** What each session has set, by its number. */
    settings,
    /** Every other statement. */
    asked,
    /** The texts that a session has sent. */
    texts: (session: number) => asked.filter((one) => one.session === session).map((one) => one.text),
    /** The sessions that are open. */
    open: () => [...sockets.keys()],
    /** Breaks the connection of this session, or of all. */
    cut,
    /** Tells the session of a hint from another process. */
    notify: (session: number, pid: number, channel: string, payload: string) =>
      sockets.get(session)!.write(message('A', int(pid), text(channel), text(payload))),
    /** Nobody can connect any more, until `start`. */
    stop: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      await closed
    },
    start: listen,
    close: async () => {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
