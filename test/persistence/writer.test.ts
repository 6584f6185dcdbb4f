/** The writer without a database: what goes into a statement, and what each failure means to the appends in it. */
import { describe, expect, test } from 'vitest'
import type { Verdict } from '../../src/actors/runtime/ports.ts'
import { pickBatch } from '../../src/persistence/batch.ts'
import { NotSent } from '../../src/persistence/sql.ts'
import type { Database, Rows, Statement } from '../../src/persistence/sql.ts'
import { writerOf } from '../../src/persistence/writer.ts'
import { until } from '../support/lab.ts'
import * as sample from './samples.ts'

const databaseThat = (write: (statement: Statement) => Promise<Rows>): Database => ({
  kind: 'postgres',
  exclusive: false,
  read: write,
  write,
  share: write,
  readsAreFinal: async () => undefined,
  transaction: () => Promise.reject(new Error('not here')),
  close: async () => undefined,
})
const sqlError = (code: string, more = {}): Error => Object.assign(new Error(code), { code, ...more })
const keysIn = (statement: Statement): readonly string[] =>
  (JSON.parse(statement.params[0] as string) as { key: string }[]).map(({ key }) => key)

describe('a batch', () => {
  const waiting = (...keys: readonly string[]) => ({ append: sample.unit(keys.map((key) => [key, 1])) })

  test('takes at most 512 appends', () => {
    const many = Array.from({ length: 600 }, (_, index) => waiting(`arq/${index}`))
    const { batch, left } = pickBatch(many)
    expect([batch.length, left.length]).toEqual([512, 88])
  })

  test('never holds a key twice, and nothing overtakes on a key', () => {
    const [a, ab, b, c] = [waiting('a'), waiting('a', 'b'), waiting('b'), waiting('c')]
    expect(pickBatch([a, ab, b, c])).toEqual({ batch: [a, c], left: [ab, b] })
  })

  test('stays small when its appends are large, and takes one of any size', () => {
    const large = () => waiting(...Array.from({ length: 3_000 }, sample.newKey))
    expect(pickBatch([large(), large()]).batch).toHaveLength(1)
  })
})

describe('the writer', () => {
  test('says busy when too many wait, and when no session stands', async () => {
    const { promise, resolve } = Promise.withResolvers<Rows>()
    const full = writerOf(
      databaseThat(() => promise),
      2,
    )
    const verdicts = [1, 2, 3].map(() => full.append(sample.one(sample.newKey(), 1)))
    expect(await verdicts[2]).toBe('busy')
    resolve([])
    expect(await Promise.all(verdicts)).toEqual(['appended', 'appended', 'busy'])
    const alone = writerOf(databaseThat(() => Promise.reject(new NotSent('no session'))))
    expect(await alone.append(sample.one(sample.newKey(), 1))).toBe('busy')
  })

  test.each([
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['a server that goes down', sqlError('57P01')],
    ['a session that the server ended', sqlError('25P03', { severity: 'FATAL' })],
    ['an error of the system', sqlError('EBADF')],
  ])('does not know after %s', async (_, error) => {
    const writer = writerOf(databaseThat(() => Promise.reject(error)))
    expect(await writer.append(sample.one(sample.newKey(), 1))).toBe('unknown')
  })

  test('sends again what a deadlock rolled back', async () => {
    let calls = 0
    const writer = writerOf(databaseThat(async () => (++calls < 3 ? Promise.reject(sqlError('40P01')) : [])))
    expect([await writer.append(sample.one(sample.newKey(), 1)), calls]).toEqual(['appended', 3])
  })

  test('finds the append at fault without sending each by itself', async () => {
    const keys = Array.from({ length: 64 }, sample.newKey)
    let statements = 0
    const writer = writerOf(
      databaseThat(async (statement) => {
        statements++
        if (keysIn(statement).includes(keys[37]!)) throw sqlError('22001')
        return []
      }),
    )
    const verdicts = await Promise.all(keys.map((key) => writer.append(sample.one(key, 1))))
    const rule = 'is not a value that the database takes (SQLSTATE 22001)'
    expect(verdicts[37]).toEqual({ refused: { kind: 'invalid', field: 'a value', rule } })
    expect(verdicts.filter((verdict: Verdict) => verdict === 'appended')).toHaveLength(63)
    expect(statements).toBeLessThan(15)
  })

  test('an append that fails for a reason that passes is found too, and may come again', async () => {
    const keys = Array.from({ length: 64 }, sample.newKey)
    const writer = writerOf(
      databaseThat(async (statement) => {
        if (keysIn(statement).includes(keys[37]!)) throw sqlError('53200')
        return []
      }),
    )
    const verdicts = await Promise.all(keys.map((key) => writer.append(sample.one(key, 1))))
    expect(verdicts.map((verdict, at) => [verdict, at]).filter(([verdict]) => verdict !== 'appended')).toEqual([
      ['busy', 37],
    ])
  })

  test.each(['53100', '57014', '55P03', '25006'])(
    'what fails for all, for a reason that passes, is given up soon: %s',
    async (code) => {
      let statements = 0
      const writer = writerOf(
        databaseThat(async () => {
          statements++
          throw sqlError(code)
        }),
      )
      const verdicts = await Promise.all(
        Array.from({ length: 500 }, () => writer.append(sample.one(sample.newKey(), 1))),
      )
      expect(new Set(verdicts)).toEqual(new Set(['busy']))
      expect(statements).toBeLessThan(60)
    },
  )

  test('a database that lacks a table is no fault of the request', async () => {
    const writer = writerOf(databaseThat(() => Promise.reject(sqlError('42P01'))))
    expect(await writer.append(sample.one(sample.newKey(), 1))).toEqual({
      refused: { kind: 'broken', reason: 'the journal cannot be written: 42P01' },
    })
  })

  test('an append that cannot even be written down harms no other', async () => {
    const writer = writerOf(databaseThat(async () => []))
    const endless: { type: string; self?: object } = { type: 'Noted' }
    endless.self = endless
    const bad = sample.one(sample.newKey(), 1)
    const rows = bad.rows.map((row) => ({ ...row, events: [endless] }))
    const verdicts = await Promise.all([
      writer.append(sample.one(sample.newKey(), 1)),
      writer.append({ ...bad, rows }),
      writer.append(sample.one(sample.newKey(), 1)),
    ])
    expect(verdicts).toEqual(['appended', { refused: expect.objectContaining({ kind: 'broken' }) }, 'appended'])
  })

  test('WRITER-4 what nobody waits for any more when its turn comes is not sent', async () => {
    const sent: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const writer = writerOf(
      databaseThat(async (statement) => {
        sent.push(...keysIn(statement))
        await promise
        return []
      }),
    )
    const [first, late, patient] = [sample.newKey(), sample.newKey(), sample.newKey()]
    const running = writer.append(sample.one(first, 1))
    await until(() => sent.length === 1)
    const waiting = [
      writer.append({ ...sample.one(late, 1), notAfter: performance.now() + 5 }),
      writer.append({ ...sample.one(patient, 1), notAfter: performance.now() + 60_000 }),
    ]
    const began = performance.now()
    await until(() => performance.now() - began > 10)
    resolve()
    expect(await Promise.all([running, ...waiting])).toEqual(['appended', 'busy', 'appended'])
    expect(sent).toEqual([first, patient])
  })

  test('a read of the fence that fails leaves no doubt, since the statement before it was rolled back', async () => {
    const fenced = sqlError('23505', { constraint: 'journal_pkey' })
    const writer = writerOf(
      databaseThat(({ name }) => Promise.reject(name === 'sift' ? new Error('Connection terminated') : fenced)),
    )
    expect(await writer.append(sample.one(sample.newKey(), 1))).toBe('busy')
  })

  test('gives up on a fence that nobody finds', async () => {
    const fenced = sqlError('23505', { constraint: 'journal_pkey' })
    const writer = writerOf(databaseThat(async ({ name }) => (name === 'sift' ? [] : Promise.reject(fenced))))
    expect(await writer.append(sample.one(sample.newKey(), 1))).toBe('busy')
  })
})
