/** PostgreSQL behind a pooler that keeps no sessions is refused before anything is written. */
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { inspectDatabase } from '../../src/persistence/inspect.ts'
import { openStore } from '../../src/persistence/open.ts'
import { until } from '../support/lab.ts'
import { type Asked, scriptedPostgres, sqlError } from '../support/scriptedPostgres.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
type Mode = 'transaction' | 'statement'
/** Gives a transaction or a statement one of its own sessions, which is another number than it tells. */
const pooler = async (mode: Mode) => {
  const taken = new Map<number, number>()
  const processOf = ({ session, text }: Asked): number => {
    const free = [901, 902, 903, 904].find((one) => ![...taken.values()].includes(one))!
    const own = taken.get(session) ?? free
    if (text === 'begin') taken.set(session, own)
    return own
  }
  const server = await scriptedPostgres((asked) => {
    const pid = processOf(asked)
    if (mode === 'statement' && asked.text === 'begin')
      return sqlError('08P01', 'transaction blocks not allowed in statement pooling mode')
    return asked.text.includes('pg_backend_pid()') ? [{ pid, own: pid, since: `then ${pid}` }] : null
  })
  closing.push(server.close)
  return server
}

test.each(['transaction', 'statement'] as const)('a pooler in %s mode is refused, with what to do', async (mode) => {
  const server = await pooler(mode)
  const said =
    /a pooler in front of the database keeps no sessions: connect to PostgreSQL itself, or set pool_mode = session/
  await expect(openStore({ kind: 'postgres', url: server.url })).rejects.toThrow(said)
  await expect(inspectDatabase(server.url, systemClock, { relay: 'relay', bindDeadlineMs: 1 })).rejects.toThrow(said)
  expect(
    server.asked.filter(({ text }) => /lock|insert|create/i.test(text) && !text.includes("'on' as locked")),
  ).toEqual([])
  await until(() => server.open().length === 0)
})
test('a server without TLS is refused with the mode that fits', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.end('N')))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const url = `postgresql://u@127.0.0.1:${(server.address() as AddressInfo).port}/d?sslmode=prefer`
  const said = /does not support SSL connections: set sslmode=disable/
  await expect(openStore({ kind: 'postgres', url })).rejects.toThrow(said)
  await expect(inspectDatabase(url, systemClock, { relay: 'relay', bindDeadlineMs: 1 })).rejects.toThrow(said)
})
