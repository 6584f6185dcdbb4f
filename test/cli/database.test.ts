/** A database that is not there when a program starts: what is waited for, how long, and what is said. */
import { expect, test } from 'vitest'
import type { Clock } from '../../src/clock.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { databaseReason, isPassingError, openDatabase } from '../../src/cli/programs/database.ts'
import { NotWritable } from '../../src/persistence/notWritable.ts'
import { commandHere } from '../support/commandHere.ts'
import { memoryLog, until } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { freePort } from '../support/port.ts'
import { databaseOn, postgresServer, sqlOnce } from '../support/postgres.ts'

const LIMIT_MS = 20_000
const optionsOf = (url: string) => ({ url, statementTimeoutMs: 5000, readers: 1 })
/** Notes the pauses, and ends one when the test says what time it is then. */
const pausingClock = () => {
  const pauses: number[] = []
  let [at, goOn] = [0, () => {}]
  const clock: Clock = {
    now: () => at,
    monotonic: () => at,
    after: (ms, run) => {
      pauses.push(ms)
      goOn = run
      return () => undefined
    },
  }
  const go = (now: number): void => {
    at = now
    goOn()
  }
  return { clock, pauses, go }
}
const opening = (url: string) => {
  const [{ clock, pauses, go }, log] = [pausingClock(), memoryLog()]
  const seen: { error: unknown } = { error: null }
  const work = openDatabase(optionsOf(url), clock, log)
  work.catch((error: unknown) => (seen.error = error))
  const paused = (count: number) => until(() => pauses.length === count, `pause ${count}`, LIMIT_MS)
  return { pauses, go, log, seen, work, paused }
}

const coded = (code: string, message = code) => Object.assign(new Error(message), { code })
test.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', '57P03', '57P01', '53300'])(
  'the error %s is waited for, also among those of several addresses',
  (code) => {
    expect(isPassingError(coded(code))).toBe(true)
    expect(isPassingError(new AggregateError([coded('28P01'), coded(code)]))).toBe(true)
  },
)
test('a server that cannot be written yet is waited for, what an operator has to mend is not', () => {
  expect(isPassingError(new NotWritable('a standby'))).toBe(true)
  for (const error of [
    coded('28P01'),
    new Error('ECONNREFUSED'),
    new AggregateError([]),
    new AggregateError([coded('x')]),
  ])
    expect(isPassingError(error)).toBe(false)
})
test('an error without a text of its own is told with those of all addresses', () => {
  const both = [coded('x', 'connect ::1'), coded('x', 'connect 127.0.0.1')]
  expect(databaseReason(new AggregateError(both))).toBe('connect ::1; connect 127.0.0.1')
  expect(databaseReason(new AggregateError(both, 'all are away'))).toBe('all are away')
  expect(databaseReason(new Error(''))).toBe('')
})

test('nobody answers: it is tried every half second for thirty seconds', async () => {
  const port = await freePort()
  const { pauses, go, log, seen, paused } = opening(`postgres://127.0.0.1:${port}/x`)
  await paused(1)
  go(29_999)
  await paused(2)
  go(30_000)
  await until(() => seen.error !== null, 'the end', LIMIT_MS)
  const reason = `connect ECONNREFUSED 127.0.0.1:${port}`
  expect(String(seen.error)).toBe(`Error: database: cannot be used: ${reason}`)
  expect(pauses).toEqual([500, 500])
  expect(log.said).toEqual(pauses.map(() => ({ level: 'warn', detail: { reason }, message: 'database.notThereYet' })))
})

describeWith('postgres', 'a database', (bin) => {
  test('that takes no connections yet is waited for, and one that is not there is not', async () => {
    const server = await postgresServer(bin)
    const { url, drop } = await databaseOn(server)
    const name = new URL(url).pathname.slice(1)
    const absent = opening(`${server}/nowhere`)
    await expect(absent.work).rejects.toThrow('database: cannot be used: database "nowhere" does not exist')
    expect(absent.log.said).toEqual([])
    await sqlOnce(
      `${server}/postgres`,
      `alter role postgres in database ${name} set default_transaction_read_only = on`,
    )
    const { go, log, work, paused } = opening(url)
    await paused(1)
    expect(log.said[0]!.message).toBe('database.notThereYet')
    await sqlOnce(`${server}/postgres`, `alter role postgres in database ${name} reset all`)
    go(500)
    await (await work).close()
    expect(log.said).toHaveLength(1)
    await drop()
  })
})

test('the option takes the address that a client can use, and says what it cannot use without the password', () => {
  const given = (database: string) => loadConfig({ env: {}, flags: { database }, readFile: () => '', osHostname: 'h' })
  expect(given('postgresql://u:a#b/c?@db/x?sslmode=verify-full')).toMatchObject({ ok: true })
  for (const [url, problem] of [
    ['mysql://u:planted@db/x', 'it does not begin with postgresql://'],
    ['postgresql://u:planted@db/x?sslmode=on', 'sslmode is none of disable'],
    ['postgresql://u:planted@db/x?statement_timeout=1', 'parameter statement_timeout is not known here'],
  ] as const) {
    const loaded = given(url)
    expect(loaded).toMatchObject({ ok: false, problems: [expect.stringContaining(problem)] })
    expect(JSON.stringify(loaded)).not.toContain('planted')
  }
})

test.each(['migrate', 'audit', 'rebuild-views', 'archive'])(
  '%s says that it was the database which it could not open, and what looks at it',
  async (command) => {
    const port = await freePort()
    const { code, err } = await commandHere([command, '--database', `postgresql://x@127.0.0.1:${port}/y`], {})
    expect([code, err]).toEqual([
      1,
      `the database cannot be opened: connect ECONNREFUSED 127.0.0.1:${port}\nnext: accelerando doctor --database URL\n`,
    ])
  },
)
describeWith('postgres', 'a database that', (bin) => {
  test('does not exist, or does not know the role, is named as well', async () => {
    const { url: made, drop } = await databaseOn(await postgresServer(bin))
    const said = async (change: (url: URL) => void): Promise<string> => {
      const url = new URL(made)
      change(url)
      return (await commandHere(['migrate', '--check', '--database', url.href], {})).err
    }
    expect(await said((url) => void (url.pathname = '/nowhere'))).toBe(
      'the database cannot be opened: database "nowhere" does not exist\nnext: accelerando doctor --database URL\n',
    )
    expect(await said((url) => void (url.username = 'nobody'))).toMatch(/^the database cannot be opened: .*"nobody"/)
    await drop()
  })
})
