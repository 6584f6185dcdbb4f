/** What an error of the database means to whoever read: come again, or never. */
import { expect, test } from 'vitest'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { NotSent, reading } from '../../src/persistence/sql.ts'

const failing = (error: unknown) => {
  const read = async () => {
    throw error
  }
  return reading({ read }, 'the view hosts')({ text: '', params: [] })
}
const sqlError = (code: string) => Object.assign(new Error('as the server says'), { code })

test.each([
  ['42703', 'undefined column'],
  ['42P01', 'undefined table'],
  ['42601', 'syntax error'],
  ['42501', 'no permission'],
  ['22P02', 'invalid text representation'],
  ['22003', 'number out of range'],
  ['22021', 'character not in repertoire'],
  ['23502', 'not null violation'],
  ['0A000', 'feature not supported'],
  ['54001', 'statement too complex'],
  ['XX001', 'data corrupted'],
])('%s, %s: the same read fails again', async (code) => {
  await expect(failing(sqlError(code))).rejects.toEqual(
    new Unreadable(`the view hosts cannot be read: as the server says (${code})`, { permanent: true }),
  )
  await expect(failing(sqlError(code))).rejects.toMatchObject({ permanent: true })
})

test.each([
  ['08006', 'connection failure'],
  ['25006', 'read only transaction'],
  ['40001', 'serialization failure'],
  ['40P01', 'deadlock'],
  ['53100', 'disk full'],
  ['53300', 'too many connections'],
  ['55P03', 'lock not available'],
  ['57014', 'statement timeout'],
  ['57P01', 'admin shutdown'],
  ['57P03', 'cannot connect now'],
  ['58030', 'input or output error'],
  ['28P01', 'wrong password'],
  ['ECONNREFUSED', 'nobody listens'],
  ['EPIPE', 'the other end is gone'],
])('%s, %s: it may succeed another time', async (code) => {
  await expect(failing(sqlError(code))).rejects.toMatchObject({ name: 'Unreadable', permanent: false })
})

test('an error that says little is named by what it has', async () => {
  const nobody = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  await expect(failing(nobody)).rejects.toThrow('the view hosts cannot be read: ECONNREFUSED')
  await expect(failing(new NotSent('no session with the database'))).rejects.toThrow(/: no session with the database$/)
  await expect(failing(undefined)).rejects.toThrow(/: undefined$/)
})
