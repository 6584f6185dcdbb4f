/** Hints, pools and transactions over a scripted server: which session sends what, and what follows a loss. */
import { afterEach, describe, expect, test } from 'vitest'
import { postgresHints } from '../../src/persistence/postgres/hints.ts'
import { createPool } from '../../src/persistence/postgres/pool.ts'
import { clientConfig, postgresDatabase } from '../../src/persistence/postgres/postgres.ts'
import { memoryLog, until } from '../support/lab.ts'
import { pidOf, type Script, scriptedPostgres, sqlError } from '../support/scriptedPostgres.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const serverWith = async (script: Script = () => null) => {
  const server = await scriptedPostgres(script)
  closing.push(server.close)
  return server
}
const plain = (text: string) => ({ text, params: [] })
const LISTEN = 'listen accelerando_hints'
/** No statement ends by itself. */
const PATIENT_MS = 600_000
const NOTIFY = `select pg_notify('accelerando_hints', json_array_elements_text($1::json))`

describe('hints between processes', () => {
  const opened = async (script?: Script) => {
    const [server, log] = [await serverWith(script), memoryLog()]
    const hints = postgresHints(clientConfig(server.url, PATIENT_MS), log)
    closing.push(hints.close)
    return { server, log, hints }
  }
  test('have a session of their own, which is opened at the first use and waits for no disk', async () => {
    const { server, hints } = await opened()
    expect([hints.arrive(), server.startups]).toEqual([false, []])
    const heard: string[] = []
    const stop = hints.onHint('one', () => heard.push('one'))
    hints.onHint('two', () => heard.push('two'))
    await until(hints.arrive)
    expect(server.texts(1)).toEqual(['select pg_backend_pid() as own', LISTEN])
    const { settings } = clientConfig(server.url, PATIENT_MS)
    expect(server.settings[1]).toEqual({ ...settings, synchronous_commit: 'off' })
    // what this process has sent itself is no news
    server.notify(1, pidOf(1), 'accelerando_hints', 'one')
    server.notify(1, 7, 'accelerando_hints', 'one')
    server.notify(1, 7, 'accelerando_hints', 'two')
    await until(() => heard.length === 2)
    stop()
    server.notify(1, 7, 'accelerando_hints', 'one')
    server.notify(1, 7, 'accelerando_hints', 'two')
    await until(() => heard.length === 3)
    expect(heard).toEqual(['one', 'two', 'two'])
  })
  test('that come while others are sent go together into the next statement, each once', async () => {
    const gate = Promise.withResolvers<[]>()
    const { server, hints } = await opened(({ text }) => (text === NOTIFY ? gate.promise : null))
    hints.onHint('x', () => undefined)
    await until(hints.arrive)
    const sent = () => server.asked.flatMap(({ text, params }) => (text === NOTIFY ? params : []))
    for (const name of ['a', 'b', 'c', 'b']) hints.send(name)
    await until(() => sent().length === 1)
    gate.resolve([])
    await until(() => sent().length === 2)
    expect(sent()).toEqual(['["a"]', '["b","c"]'])
    hints.send('d')
    await until(() => sent().length === 3)
    expect(sent()[2]).toBe('["d"]')
  })
  test('that cannot be sent are lost, and harm no later one', async () => {
    let fails = true
    const { server, hints } = await opened(({ text }) => (text === NOTIFY && fails ? sqlError('57014') : null))
    hints.send('before there is a session')
    await until(hints.arrive)
    hints.send('a')
    await until(() => server.texts(1).includes(NOTIFY))
    fails = false
    await until(() => {
      hints.send('b')
      return server.asked.some(({ params }) => params[0] === '["b"]')
    })
    expect(server.asked.filter(({ text }) => text === NOTIFY).map(({ params }) => params[0])[0]).toBe('["a"]')
  })
  test('are lost while the session is, which is opened again', async () => {
    const { server, log, hints } = await opened()
    const heard: string[] = []
    hints.onHint('one', () => heard.push('one'))
    await until(hints.arrive)
    server.cut(1)
    await until(() => !hints.arrive())
    hints.send('a')
    await until(hints.arrive)
    hints.send('b')
    const sent = () => server.asked.flatMap(({ text, params }) => (text === NOTIFY ? params : []))
    await until(() => sent().length > 0)
    expect(sent()).toEqual(['["b"]'])
    server.notify(2, pidOf(1), 'accelerando_hints', 'one')
    await until(() => heard.length === 1)
    expect([server.texts(2).length, log.said]).toEqual([3, []])
  })
  test('that are not available are told of with the reason, each time, until they are', async () => {
    let refusals = 2
    const { server, log, hints } = await opened(({ text }) =>
      text === LISTEN && refusals-- > 0 ? sqlError('57P03', 'not now') : null,
    )
    hints.send('a')
    await until(hints.arrive)
    const told = { level: 'warn', message: 'hints.unavailable', detail: { reason: 'not now (57P03)' } }
    expect([log.said, server.open()]).toEqual([[told, told], [3]])
  })
  test('end when they are closed, also while their session is being opened', async () => {
    const { server, hints, log } = await opened()
    hints.send('a')
    await until(hints.arrive)
    await hints.close()
    expect(hints.arrive()).toBe(false)
    await until(() => server.open().length === 0)
    const other = await opened(({ text }) => (text === LISTEN ? new Promise(() => {}) : null))
    other.hints.send('a')
    await until(() => other.server.texts(1).includes(LISTEN))
    await other.hints.close()
    await until(() => other.server.open().length === 0)
    expect([hints.arrive(), other.hints.arrive(), log.said, other.log.said]).toEqual([false, false, [], []])
  })
})

describe('a pool', () => {
  test('keeps a statement waiting for a session only so long, and uses new ones when they are replaced', async () => {
    const gate = Promise.withResolvers<[]>()
    const server = await serverWith(({ text, session }) =>
      text === 'slow' ? gate.promise : text === 'who' ? [{ session }] : null,
    )
    const pool = createPool({ ...clientConfig(server.url, 5_000), max: 1 }, 50)
    closing.push(() => gate.resolve([]))
    const slow = pool.run(plain('slow'))
    await until(() => server.texts(1).includes('slow'))
    await expect(pool.run(plain('who'))).rejects.toThrow('no connection to the database was free within 50 ms')
    pool.replace()
    gate.resolve([])
    expect(await slow).toEqual([])
    expect(await pool.run(plain('who'))).toEqual([{ session: 2 }])
    await until(() => server.open().join() === '2')
    server.cut(2)
    expect(await pool.run(plain('who')).catch(() => pool.run(plain('who')))).toEqual([{ session: 3 }])
    await pool.end()
    await until(() => server.open().length === 0)
  })
})

describe('a database on a server', () => {
  const opened = async (more: Partial<Parameters<typeof postgresDatabase>[0]> = {}, script: Script = () => null) => {
    const server = await serverWith(script)
    const database = await postgresDatabase({ url: server.url, ...more })
    closing.push(database.close)
    return { server, database }
  }
  test('runs a transaction without limits in a session of its own, and undoes it when it fails', async () => {
    const { server, database } = await opened()
    expect(await database.transaction(async (run) => (await run(plain('work'))).length)).toBe(0)
    const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
    const begun = ['begin', ...limits.map((limit) => `set local ${limit} = 0`)]
    expect(server.texts(2)).toEqual([...begun, 'work', 'commit'])
    const failing = database.transaction(() => Promise.reject(new Error('as told')))
    await expect(failing).rejects.toThrow('as told')
    expect(server.texts(3)).toEqual([...begun, 'rollback'])
    await until(() => server.open().join() === '1')
  })
  test('is opened with its time for statements, and by an operator who adopts with a setting of its own', async () => {
    const { server, database } = await opened({ statementTimeoutMs: 700, adopting: true, presence: 'together' })
    const { settings } = clientConfig(server.url, 700)
    expect(server.settings.slice(1)).toEqual([{ ...settings, 'accelerando.adopting': 'on' }])
    expect([database.kind, database.exclusive, database.incarnation!()]).toEqual(['postgres', false, 1])
    const other = await opened({ presence: 'alone' })
    expect(other.server.settings[1]).toMatchObject({ statement_timeout: 5_000, timezone: 'UTC' })
    expect(other.database.exclusive).toBe(true)
  })
  test('that loses its writing session reads and shares in new sessions afterwards', async () => {
    const checked: unknown[] = []
    const { server, database } = await opened(
      { readers: 1, checkSession: async () => void checked.push(1) },
      ({ text, session }) => (text === 'who' ? [{ session }] : null),
    )
    const who = async () => [...(await database.read(plain('who'))), ...(await database.share(plain('who')))]
    expect(await who()).toEqual([{ session: 2 }, { session: 3 }])
    expect(await who()).toEqual([{ session: 2 }, { session: 3 }])
    server.cut(1)
    await until(() => database.incarnation!() === 2)
    await database.readsAreFinal()
    expect(await who()).toEqual([{ session: 5 }, { session: 6 }])
    await until(() => server.open().join() === '4,5,6')
    expect(checked).toEqual([1])
    closing.pop()
    await database.close()
    await until(() => server.open().length === 0)
  })
  test('that cannot be written is not opened, and leaves no session', async () => {
    const server = await serverWith(({ text }) =>
      text.startsWith('select pg_is_in_recovery()') ? [{ standby: true, locked: true }] : null,
    )
    await expect(postgresDatabase({ url: server.url })).rejects.toThrow('the database server is a standby')
    await until(() => server.open().length === 0)
  })
})
