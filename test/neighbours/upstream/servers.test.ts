/** Upstream's database on each kind of server: how a session is opened, what it asks, and how failures are told. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { type Connection, createServer } from 'mysql2'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { readUpstream } from '../../../src/neighbours/upstream/read.ts'
import { scriptedPostgres, sqlError } from '../../support/scriptedPostgres.ts'
import { freePort } from '../../support/port.ts'
import { until } from '../../support/lab.ts'

const folder = mkdtempSync(join(tmpdir(), 'accelerando-upstream-'))
afterAll(() => rmSync(folder, { recursive: true }))
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

type Answer = { readonly columns: readonly string[]; readonly rows: readonly object[] } | { readonly refused: string }
/** What a client says of itself: its token shows that it knows the password and does not tell it. */
type Login = {
  readonly user: string
  readonly database: string
  readonly authPluginData1: Buffer
  readonly authPluginData2: Buffer
  readonly authToken: Buffer
}
const sha1 = (...parts: readonly Uint8Array[]): Buffer => createHash('sha1').update(Buffer.concat(parts)).digest()
/** By the method mysql_native_password. */
const knows = (password: string, { authPluginData1, authPluginData2, authToken }: Login): boolean => {
  const once = sha1(Buffer.from(password))
  const mask = sha1(authPluginData1, authPluginData2, sha1(once))
  return authToken.equals(once.map((byte, at) => byte ^ mask[at]!))
}
const PASSWORD = 'secret'
const ACCESS_DENIED = { code: 1045, message: 'access denied' }
const SYNTAX_ERROR = 1064
/** All that MySQL 5.7 can do but TLS. */
const CLIENT_SSL = 0x800
const capabilityFlags = 0xffffff & ~CLIENT_SSL
const STATUS_AUTOCOMMIT = 2
const [UTF8MB4, BINARY] = [45, 63]
const TYPE_LONG = 3
const column = (name: string) => ({
  ...{ catalog: 'def', schema: 's', table: 't', orgTable: 't', name, orgName: name },
  // a number, so that a client which decodes would not give a text
  ...{ characterSet: BINARY, columnLength: 11, columnType: TYPE_LONG, flags: 0, decimals: 0 },
})

/** A server that speaks the protocol of MariaDB and MySQL. Statements without an answer are done. */
const mysqlServer = async (answerTo: (text: string) => Answer | null, socket?: string) => {
  const [asked, entered, open]: [string[], object[], Set<Connection>] = [[], [], new Set()]
  const server = createServer((connection) => {
    open.add(connection)
    // messages are counted anew with each statement
    const numbered = connection as unknown as { sequenceId: number }
    connection.serverHandshake({
      ...{ protocolVersion: 10, serverVersion: '5.7', connectionId: 1, statusFlags: STATUS_AUTOCOMMIT },
      ...{ characterSet: UTF8MB4, capabilityFlags },
      authCallback: (login: Login, done: (error: null, refusal?: typeof ACCESS_DENIED) => void) => {
        if (!knows(PASSWORD, login)) return done(null, ACCESS_DENIED)
        entered.push({ user: login.user, database: login.database })
        done(null)
        numbered.sequenceId = 0
      },
    })
    const take = (text: string): void => {
      asked.push(text)
      const answer = answerTo(text)
      if (answer === null) connection.writeOk()
      else if ('refused' in answer) connection.writeError({ code: SYNTAX_ERROR, message: answer.refused })
      else connection.writeTextResult([...answer.rows], answer.columns.map(column))
      numbered.sequenceId = 0
    }
    connection.on('query', take)
    // the server of mysql2 gives plain statements that begin with SET to this listener
    connection.on('stmt_prepare', (text: string) => {
      if (/^set /i.test(text)) take(text)
      else connection.writeError({ code: SYNTAX_ERROR, message: 'this server prepares no statements' })
    })
    connection.on('error', () => open.delete(connection))
    connection.on('end', () => open.delete(connection))
  })
  // it passes on all that a server of node's own takes, and has one in it
  const { _server: own } = server as unknown as { readonly _server: Server }
  const listening = once(own, 'listening')
  if (socket === undefined) own.listen(0, '127.0.0.1')
  else own.listen(socket)
  await listening
  const cut = () => {
    for (const one of open) (one as unknown as { stream: { destroy: () => void } }).stream.destroy()
  }
  closing.push(cut, () => new Promise<void>((resolve) => server.close(() => resolve())))
  return { asked, entered, cut, open: () => open.size, port: socket === undefined ? portOf(own) : 0 }
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port
type MysqlAddress = Extract<Parameters<typeof readUpstream>[0], { readonly kind: 'mysql' }>['at']
const addressOf = (more: Partial<MysqlAddress>): MysqlAddress => ({
  ...{ host: '127.0.0.1', port: 1, user: 'cyborg', password: PASSWORD, database: 'c', socket: null, tls: null },
  ...more,
})
const tlsWith = (ca: string) => ({ ca, cert: null, key: null, verifyCertificate: true, verifyName: true })
const read = (more: Partial<MysqlAddress>) => readUpstream({ kind: 'mysql', at: addressOf(more) })
const BEGIN = [
  'set session transaction isolation level repeatable read',
  'start transaction with consistent snapshot, read only',
]
const NONE = { devices: [], attach_handles: [] }

describe('on MariaDB or MySQL', () => {
  test('all tables are read from one snapshot, page by page, and the session ends', async () => {
    const { asked, entered, open, port } = await mysqlServer(() => null)
    expect(await read({ port })).toMatchObject(NONE)
    expect(asked.slice(0, 3)).toEqual([...BEGIN, 'select * from `devices` where id > -1 order by id limit 1000'])
    expect(asked).toHaveLength(BEGIN.length + 7)
    expect(entered).toEqual([{ user: 'cyborg', database: 'c' }])
    await until(() => open() === 0)
  })
  test.each([
    ['no password', ''],
    ['another password', 'Secret'],
  ])('a server that gets %s refuses the session', async (_, password) => {
    const { port, asked, entered } = await mysqlServer(() => null)
    await expect(read({ port, password })).rejects.toThrow('access denied')
    expect([asked, entered]).toEqual([[], []])
  })
  test('a server may be reached by its socket', async () => {
    const socket = join(folder, 'mysql.sock')
    await mysqlServer(() => null, socket)
    expect(await read({ socket })).toMatchObject(NONE)
  })
  test('a server that refuses the snapshot is not read, and is left; one that breaks fails the next page', async () => {
    const refusing = await mysqlServer((text) => (text === BEGIN[1] ? { refused: 'no snapshot' } : null))
    await expect(read({ port: refusing.port })).rejects.toThrow('no snapshot')
    await until(() => refusing.open() === 0)
    const breaking = await mysqlServer((text) => {
      if (text.includes('`deployables`')) breaking.cut()
      return null
    })
    await expect(read({ port: breaking.port })).rejects.toThrow(
      /table \w+ cannot be read: .*(?:closed|ECONNRESET|lost)/i,
    )
  })
  test('TLS is asked for where a CA is named, and there is no session without it', async () => {
    const { port, entered } = await mysqlServer(() => null)
    await expect(read({ port, tls: tlsWith('/no/such.pem') })).rejects.toThrow('ENOENT')
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, rootCertificates[0]!)
    await expect(read({ port, tls: tlsWith(ca) })).rejects.toThrow('does not support secure connection')
    expect(entered).toEqual([])
  })
})

describe('on PostgreSQL', () => {
  const SNAPSHOT = 'begin transaction isolation level repeatable read, read only'
  const server = async (...script: Parameters<typeof scriptedPostgres>) => {
    const one = await scriptedPostgres(...script)
    closing.push(one.close)
    return one
  }
  test('all tables are read, and the session ends, also when one cannot be read', async () => {
    const one = await server()
    const none = await readUpstream({ kind: 'postgres', url: one.url })
    expect(Object.values(none)).toEqual(Object.keys(none).map(() => []))
    expect(Object.keys(none)).toHaveLength(7)
    expect(one.asked.slice(0, 2)).toEqual([
      { session: 1, text: SNAPSHOT, params: [] },
      { session: 1, text: 'select * from "devices" where id > $1 order by id limit $2', params: ['-1', '1000'] },
    ])
    expect(one.startups[0]).toMatchObject({ user: 'me', database: 'c', application_name: 'accelerando import' })
    const refusing = await server(({ text }) => (text === SNAPSHOT ? sqlError('0A000', 'no snapshot') : null))
    await expect(readUpstream({ kind: 'postgres', url: refusing.url })).rejects.toThrow('no snapshot')
    await until(() => one.open().length === 0)
    const bad = await server(({ text }) => (text.includes('"deployables"') ? sqlError('42P01', 'no such table') : null))
    await expect(readUpstream({ kind: 'postgres', url: bad.url })).rejects.toThrow(
      'table deployables cannot be read: no such table',
    )
    await until(() => bad.open().length === 0)
  })
})

test('a server that does not answer is named with its address, whatever its kind', async () => {
  const port = await freePort()
  const refused = `upstream's database cannot be opened: connect ECONNREFUSED 127.0.0.1:${port}`
  await expect(readUpstream({ kind: 'mysql', at: addressOf({ port }) })).rejects.toThrow(refused)
  await expect(readUpstream({ kind: 'postgres', url: `postgresql://u@127.0.0.1:${port}/c` })).rejects.toThrow(refused)
  const { port: at } = await mysqlServer(() => null)
  expect((await readUpstream({ kind: 'mysql', at: addressOf({ port: at }) })).devices).toEqual([])
})
