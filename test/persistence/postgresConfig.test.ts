/** How sessions with a server are set up, what the role of a program may do, and who migrates: without a server. */
import { types } from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { migrate, migrationNames, newer, pending } from '../../src/persistence/migrate.ts'
import { clientConfig } from '../../src/persistence/postgres/postgres.ts'
import { RIGHTS, roleGrants } from '../../src/persistence/roles.ts'
import type { Database, Rows, Run, Statement } from '../../src/persistence/sql.ts'

describe('a session', () => {
  const settings = (timeoutMs: number) => {
    const { settings: each, types: _, ...rest } = clientConfig('postgres://db/c', timeoutMs)
    return { rest, settings: each }
  }
  test('has limits for everything that could hold others up', () => {
    expect(settings(5_000)).toEqual({
      rest: {
        host: 'db',
        database: 'c',
        application_name: 'accelerando',
        keepAlive: true,
        keepAliveInitialDelayMillis: 5_000,
        connectionTimeoutMillis: 5_000,
        query_timeout: 7_000,
      },
      settings: {
        enable_seqscan: 'off',
        enable_hashjoin: 'off',
        enable_mergejoin: 'off',
        jit: 'off',
        datestyle: 'ISO',
        timezone: 'UTC',
        statement_timeout: 5_000,
        lock_timeout: 3_000,
        idle_in_transaction_session_timeout: 10_000,
        tcp_user_timeout: 10_000,
        tcp_keepalives_idle: 4,
        tcp_keepalives_interval: 2,
        tcp_keepalives_count: 3,
      },
    })
  })
  test('waits for a lock no longer than for a statement', () => {
    expect([2_999, 3_001].map((ms) => settings(ms).settings['lock_timeout'])).toEqual([2_999, 3_000])
  })
  test('has the name and the options that the address says', () => {
    expect(clientConfig('postgres://db/c?application_name=mine&options=-c%20a.b%3D1', 1)).toMatchObject({
      application_name: 'mine',
      options: '-c a.b=1',
    })
  })
  test('reads large numbers as numbers, and everything else as the client does', () => {
    const { getTypeParser } = clientConfig('postgres://db', 1).types as typeof types
    expect(getTypeParser(20)('9007199254740991')).toBe(9_007_199_254_740_991)
    for (const oid of [16, 23, 114, 1184]) expect(getTypeParser(oid)).toBe(types.getTypeParser(oid))
    expect(getTypeParser(16, 'binary')).toBe(types.getTypeParser(16, 'binary'))
  })
})

test('the role of a program may do what it needs: rows of the journal are moved, and never changed', () => {
  const { journal, journal_archive, checkpoints, leases, incarnation, lost_rows, claims, cluster, ...rest } = RIGHTS
  expect({ journal, journal_archive, checkpoints, leases, incarnation, lost_rows, claims, cluster }).toEqual({
    journal: 'select, insert, delete',
    journal_archive: 'select, insert',
    checkpoints: 'select, insert, update',
    leases: 'select, insert, update',
    incarnation: 'select, update',
    lost_rows: 'select, insert, update',
    claims: 'select, insert, update, delete',
    cluster: 'select, update',
  })
  const { mikro_orm_migrations: migrations, ...all } = rest
  expect([migrations, new Set(Object.values(all))]).toEqual(['select', new Set(['select, insert, update, delete'])])
  expect(Object.keys(all)).toEqual(expect.arrayContaining(['host_seen', 'host_measured', 'arqs', 'snapshots', 'due']))
  const grants = roleGrants('a "role"')
  expect(grants.slice(0, 2)).toEqual([
    'grant usage on schema public to "a ""role"""',
    'grant select, insert, delete on "journal" to "a ""role"""',
  ])
  expect(grants).toHaveLength(1 + Object.keys(RIGHTS).length)
})

describe('migrations', () => {
  const names = migrationNames()
  /** A database with these migrations; null: with no tables. After `up` it has all. */
  const opened = (known: readonly string[] | null, more: Partial<Database> = {}) => {
    let has = known
    const asked: string[] = []
    const run: Run = async ({ text }: Statement): Promise<Rows> => {
      asked.push(text.replace(/\s.*/s, ''))
      if (text.includes('to_regclass')) return [{ there: has !== null }]
      return text.startsWith('select name') ? has!.map((name) => ({ name })) : []
    }
    const ups: string[] = []
    const up = async (): Promise<void> => {
      ups.push('up')
      has = names
    }
    const transaction: Database['transaction'] = async (work) => {
      ups.push('begin')
      const result = await work(run)
      ups.push('commit')
      return result
    }
    const others = (all: readonly string[]) => (has = all)
    const database = { read: run, exclusive: false, transaction, ...more } as Database
    return { database, ups, up, run, others }
  }
  test('are files of the program, in order', () => {
    expect([names[0], names.toSorted()]).toEqual(['0001_journal_and_views', names])
    expect(names.every((name) => /^\d{4}_\w+$/.test(name))).toBe(true)
  })
  test('that are missing, and those of a newer program, are told', async () => {
    const both = async (known: readonly string[] | null) => {
      const { run } = opened(known)
      return [await pending(run), await newer(run)]
    }
    expect(await both(null)).toEqual([names, []])
    expect(await both([])).toEqual([names, []])
    expect(await both(names)).toEqual([[], []])
    expect(await both([...names.slice(1), '9999_b', '9998_a'])).toEqual([[names[0]], ['9998_a', '9999_b']])
  })
  test('are run by the first of several processes, and by nobody when there are none', async () => {
    const whole = opened(names)
    await migrate(whole.database, whole.up)
    expect(whole.ups).toEqual([])
    const first = opened(null)
    await migrate(first.database, first.up)
    expect(first.ups).toEqual(['begin', 'up', 'commit'])
    const second = opened([])
    const late: Database = {
      ...second.database,
      // the other process is done when this one gets the lock
      transaction: (work) => (second.others(names), second.database.transaction(work)),
    }
    await migrate(late, second.up)
    expect(second.ups).toEqual(['begin', 'commit'])
    const sole = opened([], { exclusive: true })
    await migrate(sole.database, sole.up)
    expect(sole.ups).toEqual(['up'])
  })
  const coded = (code: string, cause?: unknown) => Object.assign(new Error('as it is', { cause }), { code })
  test('that the role may not run are left to the owner, and other failures are told as they are', async () => {
    const { database } = opened(names.slice(0, -2))
    const failing = (cause: unknown) => migrate(database, () => Promise.reject(cause))
    const denied = `the database lacks ${names.slice(-2).join(', ')}, and this role may not change it: let its owner run \`accelerando migrate\``
    await expect(failing(coded('42501'))).rejects.toThrow(denied)
    await expect(failing(new Error('of the ORM', { cause: coded('other', coded('42501')) }))).rejects.toThrow(denied)
    for (const error of [coded('42P07'), new Error('plain'), new Error('outer', { cause: 'no error' })])
      await expect(failing(error)).rejects.toBe(error)
  })
  test('that had to wait too long for a lock are run again', async () => {
    const { database, up, ups } = opened([], { exclusive: true })
    const errors = [new Error('of the ORM', { cause: coded('55P03') })]
    await migrate(database, async () => {
      const error = errors.shift()
      ups.push('try')
      if (error) throw error
      await up()
    })
    expect(ups).toEqual(['try', 'try', 'up'])
  })
  test('that wait too long for a lock twenty times, each half a second after the other, are given up', async () => {
    const { database } = opened([], { exclusive: true })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const [began, error, at]: [number, Error, number[]] = [performance.now(), coded('55P03'), []]
      const migrated = migrate(database, async () => {
        at.push(performance.now() - began)
        throw error
      })
      const ended = expect(migrated).rejects.toBe(error)
      await vi.advanceTimersByTimeAsync(30_000)
      await ended
      expect(at).toEqual(Array.from({ length: 20 }, (_, n) => 500 * n))
    } finally {
      vi.useRealTimers()
    }
  })
})
