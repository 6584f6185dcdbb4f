/** The writing session over a scripted server: what it asks, when it is opened again, and when it is given up. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clientConfig } from '../../src/persistence/postgres/postgres.ts'
import { type CheckSession, type Presence, writerSession } from '../../src/persistence/postgres/session.ts'
import { NotSent } from '../../src/persistence/sql.ts'
import { NotWritable } from '../../src/persistence/notWritable.ts'
import { quiet, until } from '../support/lab.ts'
import { type Script, scriptedPostgres, sqlError } from '../support/scriptedPostgres.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const opened = async (presence: Presence | null = null, script: Script = () => null, check?: CheckSession) => {
  const server = await scriptedPostgres(script)
  const writer = writerSession(clientConfig(server.url, 5_000), presence, check)
  closing.push(server.close, writer.close)
  return { server, writer }
}
const plain = (text: string) => ({ text, params: [] })
const STANDING = `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as locked`
const SELF = 'select pid, backend_start::text as since from pg_stat_activity where pid = pg_backend_pid()'
const END =
  'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1::int and backend_start = $2::timestamptz'
const ALONE = `select pg_try_advisory_lock(hashtextextended('accelerando', 0)) as held`
const TOGETHER = `select pg_try_advisory_lock_shared(hashtextextended('accelerando', 0)) as held`

describe('a session for writing', () => {
  test.each<[Presence | null, readonly string[], boolean]>([
    [null, [], false],
    ['together', [TOGETHER], false],
    ['alone', [ALONE], true],
  ])('that is there %s asks where it is, takes its lock, and runs statements', async (presence, lock, isSole) => {
    const { server, writer } = await opened(presence, ({ text }) => (text === 'select 7' ? [{ seven: 7 }] : null))
    await writer.ready()
    expect(await writer.run(plain('select 7'))).toEqual([{ seven: 7 }])
    expect(server.texts(1)).toEqual([STANDING, SELF, ...lock, 'select 7'])
    expect([writer.undisturbed(), writer.sessions()]).toEqual([isSole, 1])
    const keepalive = {
      tcp_keepalives_idle: 15,
      tcp_keepalives_interval: 5,
      tcp_keepalives_count: 3,
      tcp_user_timeout: 30_000,
    }
    const { settings } = clientConfig(server.url, 5_000)
    expect(server.settings[1]).toEqual({ ...settings, ...(isSole && keepalive) })
    // a pooler would refuse or drop them there
    expect(Object.keys(server.startups[0]!).toSorted()).toEqual([
      ...['application_name', 'client_encoding', 'database', 'user'],
    ])
  })
  test('that is alone looks at its session every two seconds until it is closed, and no other does', async () => {
    const looks: (readonly [() => void, number | undefined])[] = []
    const timer = { unref: () => timer } as unknown as NodeJS.Timeout
    const every = vi.spyOn(globalThis, 'setInterval').mockImplementation((run: () => void, ms?: number) => {
      looks.push([run, ms])
      return timer
    })
    const cleared = vi.spyOn(globalThis, 'clearInterval')
    closing.push(
      () => every.mockRestore(),
      () => cleared.mockRestore(),
    )
    const { server, writer } = await opened('alone', ({ text }) => (text === 'select 1' ? sqlError('57014') : null))
    const other = await opened('together')
    await Promise.all([writer.ready(), other.writer.ready()])
    expect(looks.map(([, ms]) => ms)).toEqual([2_000])
    looks[0]![0]()
    await until(() => server.texts(1).at(-1) === 'select 1')
    await writer.close()
    expect(cleared.mock.calls).toContainEqual([timer])
  })
  test('on a server that cannot be written is not used, and is not left open', async () => {
    for (const [standing, reason] of [
      [{ standby: true, locked: true }, 'the database server is a standby: it cannot be written'],
      [{ standby: false, locked: true }, 'the database server is read-only'],
    ] as const) {
      const { server, writer } = await opened(null, ({ text }) => (text === STANDING ? [standing] : null))
      await expect(writer.ready()).rejects.toEqual(new NotWritable(reason))
      await until(() => server.open().length === 0)
    }
  })
})

describe('a session that is lost', () => {
  test('is followed by another, which first ends the old one on the server, takes the lock and is checked', async () => {
    const checked: unknown[] = []
    let ends = 0
    const { server, writer } = await opened(
      'alone',
      ({ text, session }) => (text === END && ++ends < 3 ? [{ ended: true }] : text === 'who' ? [{ session }] : null),
      async (run) => void checked.push(await run(plain('who'))),
    )
    await writer.ready()
    expect([writer.undisturbed(), checked]).toEqual([true, []])
    server.cut(1)
    await until(() => !writer.undisturbed())
    await writer.reopened()
    expect(server.texts(2)).toEqual([STANDING, SELF, END, END, END, ALONE, 'who'])
    expect(server.asked.find(({ text }) => text === END)!.params).toEqual(['101', 'then 1'])
    expect([writer.sessions(), writer.undisturbed(), checked]).toEqual([2, false, [[{ session: 2 }]]])
    expect(await writer.run(plain('who'))).toEqual([{ session: 2 }])
    await writer.reopened()
    expect(writer.sessions()).toBe(2)
  })
  test('is that of a statement that was cut off, or found the server read-only; others are kept', async () => {
    const { server, writer } = await opened(null, ({ text }) =>
      text.startsWith('fail ') ? sqlError(text.slice(5)) : text === 'never' ? new Promise(() => {}) : null,
    )
    const code = (text: string) =>
      writer.run(plain(text)).then(String, (error: { readonly code?: string }) => error.code)
    await writer.ready()
    expect([await code('fail 22012'), writer.sessions()]).toEqual(['22012', 1])
    expect(await code('fail 25006')).toBe('25006')
    await writer.reopened()
    expect([writer.sessions(), server.open()]).toEqual([2, [2]])
    const answer = writer.run(plain('never')).catch((error: unknown) => String(error))
    await until(() => server.texts(2).includes('never'))
    server.cut(2)
    expect(await answer).toContain('Connection terminated')
    await writer.reopened()
    expect([writer.sessions(), server.open()]).toEqual([3, [3]])
  })
  test('is not followed by one that fails its check: that one is closed, and a third is tried', async () => {
    const sessions: number[] = []
    const { server, writer } = await opened(
      null,
      ({ text, session }) => (text === 'who' ? [{ session }] : null),
      async (run) => {
        sessions.push(Number((await run(plain('who')))[0]!['session']))
        if (sessions.length === 1) throw new Error('another cloud')
      },
    )
    await writer.ready()
    server.cut(1)
    await until(() => writer.sessions() === 2)
    expect([sessions, server.open()]).toEqual([[2, 3], [3]])
  })
  test('keeps statements waiting for two seconds, which then say why there is none; a later session serves again', async () => {
    const { server, writer } = await opened(null, ({ text }) => (text === 'select 7' ? [{ seven: 7 }] : null))
    await writer.ready()
    await server.stop()
    await until(() => server.open().length === 0)
    await quiet()
    const began = performance.now()
    const [run, reopened] = await Promise.allSettled([writer.run(plain('select 7')), writer.reopened()])
    expect(performance.now() - began).toBeGreaterThanOrEqual(2_000)
    const { port } = new URL(server.url)
    expect(run).toEqual({
      status: 'rejected',
      reason: new NotSent(`no session with the database: connect ECONNREFUSED 127.0.0.1:${port}`),
    })
    expect(reopened).toEqual({ status: 'rejected', reason: new NotSent('no session with the database: no answer') })
    await server.start()
    await until(() => writer.sessions() === 2)
    expect(await writer.run(plain('select 7'))).toEqual([{ seven: 7 }])
  })
  test('that was closed stays closed', async () => {
    const { server, writer } = await opened()
    await writer.ready()
    await writer.close()
    await until(() => server.open().length === 0)
    await quiet()
    await expect(writer.run(plain('select 7'))).rejects.toThrow('Client was closed')
    expect([server.startups.length, writer.sessions()]).toEqual([1, 1])
  })
})

describe('a lock that another process holds', () => {
  /** Time passes by five seconds when the lock was asked for the second time. */
  const held = (holders: readonly { pid: number }[], from = 1): Script => {
    const real = performance.now.bind(performance)
    let [asks, passed] = [0, 0]
    const now = vi.spyOn(performance, 'now').mockImplementation(() => real() + passed)
    closing.push(() => now.mockRestore())
    return ({ text, session }) => {
      if (text.startsWith('select pid from pg_locks')) return holders
      if (session < from || !text.startsWith('select pg_try_advisory_lock')) return null
      if (++asks === 2) passed += 5_000
      return [{ held: false }]
    }
  }
  test.each([
    [[{ pid: 42 }], '42'],
    [[], 'unknown'],
  ])('is waited for, and then its holder is named: %j', async (holders, pid) => {
    const { server, writer } = await opened('alone', held(holders))
    await expect(writer.ready()).rejects.toThrow(
      `another accelerando uses this database: server process ${pid} holds its lock`,
    )
    expect(server.texts(1).slice(2)).toEqual([ALONE, ALONE, expect.stringContaining('from pg_locks')])
    await until(() => server.open().length === 0)
  })
  test('after a loss is told to whoever has to end', async () => {
    const { server, writer } = await opened('alone', held([{ pid: 42 }], 2))
    await writer.ready()
    server.cut(1)
    expect((await writer.displaced).message).toBe(
      'another accelerando uses this database: server process 42 holds its lock',
    )
    expect(writer.sessions()).toBe(1)
  })
})
