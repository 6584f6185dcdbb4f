/** How a statement is run on a client, and which reads are tried again. */
import type { Client } from 'pg'
import { expect, test, vi } from 'vitest'
import { again, hangUp, runOn } from '../../src/persistence/postgres/run.ts'
import type { Statement } from '../../src/persistence/sql.ts'

const STATEMENT: Statement = { text: 'select $1', params: [7], name: 'seven' }
const sqlError = (code: string, more = {}): Error => Object.assign(new Error('as the server says'), { code, ...more })
/** Fails with these errors, one after the other, and then answers. */
const failing = (...errors: readonly Error[]) => {
  const left = [...errors]
  let tries = 0
  const run = again(async (statement) => {
    tries++
    const error = left.shift()
    if (error) throw error
    return [{ statement }]
  })
  return { run, tries: () => tries }
}

test('a statement is one query, prepared under its name if it has one', async () => {
  const asked: unknown[] = []
  const rows = [{ a: 1 }]
  const client = { query: async (query: unknown) => (asked.push(query), { rows, rowCount: 1 }) } as unknown as Client
  expect(await runOn(client)(STATEMENT)).toBe(rows)
  const { name, ...nameless } = STATEMENT
  expect(await runOn(client)(nameless)).toBe(rows)
  expect(asked).toEqual([
    { text: 'select $1', values: [7], name },
    { text: 'select $1', values: [7] },
  ])
  // the values are a copy: a client may change them
  expect((asked[0] as { readonly values: unknown }).values).not.toBe(STATEMENT.params)
})

test.each([
  ['a deadlock', sqlError('40P01')],
  ['a conflict with another transaction', sqlError('40001')],
  ['a server that goes down', sqlError('57P01')],
  ['a connection that ended', new Error('Connection terminated')],
  ['a session that was refused', sqlError('53300', { severity: 'FATAL' })],
])('a read is tried again after %s', async (_, error) => {
  const { run, tries } = failing(error, error)
  expect(await run(STATEMENT)).toEqual([{ statement: STATEMENT }])
  expect(tries()).toBe(3)
})

test.each([sqlError('42P01'), sqlError('57014'), sqlError('53300')])(
  'a read that the server refuses is not: %s',
  async (error) => {
    const { run, tries } = failing(error)
    await expect(run(STATEMENT)).rejects.toBe(error)
    expect(tries()).toBe(1)
  },
)

/** When a read is tried whose first try takes so long, and each of which fails; in ms. */
const triedAt = async (firstTakesMs: number): Promise<readonly number[]> => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const [began, error, at]: [number, Error, number[]] = [performance.now(), sqlError('57P01'), []]
    const run = again(async () => {
      if (at.push(performance.now() - began) === 1) vi.advanceTimersByTime(firstTakesMs)
      throw error
    })
    const ended = expect(run(STATEMENT)).rejects.toBe(error)
    await vi.advanceTimersByTimeAsync(10_000)
    await ended
    return at
  } finally {
    vi.useRealTimers()
  }
}
test('a read is tried again after growing pauses, as long as the next try begins within three seconds', async () => {
  expect(await triedAt(0)).toEqual([0, 50, 150, 350, 750, 1550, 2350])
  expect(await triedAt(2_950)).toEqual([0, 3_000])
  expect(await triedAt(2_951)).toEqual([0])
})

test('a connection is closed without a word, if there is one', () => {
  let destroyed = 0
  const destroy = () => destroyed++
  for (const client of [{ connection: { stream: { destroy } } }, { connection: {} }, {}])
    hangUp(client as unknown as Client)
  expect(destroyed).toBe(1)
})
