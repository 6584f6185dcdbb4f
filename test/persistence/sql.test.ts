/** What an error of the database means to whoever read: come again, or never. */
import { expect, test } from 'vitest'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import {
  causeOf,
  codeOf,
  type Failure,
  failureOf,
  GAP_RULE,
  isPermanent,
  NotSent,
  reading,
  readOnly,
  ruleOf,
  sessionLost,
  Unsendable,
} from '../../src/persistence/sql.ts'

const failing = (error: unknown) => {
  const read = async () => {
    throw error
  }
  return reading({ read }, 'the view hosts')({ text: '', params: [] })
}
const sqlError = (code: string, more = {}) => Object.assign(new Error('as the server says'), { code, ...more })

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

test.each<readonly [Failure, readonly unknown[]]>([
  ['fenced', [sqlError('23505'), sqlError('22012')]],
  ['late', [sqlError('2201F')]],
  ['stopped', [sqlError('P0S01'), sqlError('P0S02')]],
  ['again', [sqlError('40001'), sqlError('40P01')]],
  ['not sent', [new NotSent('no session'), Object.assign(new NotSent('no session'), { code: '23505' })]],
  [
    'refused',
    [
      new Unsendable('too long'),
      ...['0A000', '21000', '22001', '23514', '3F000', '42P01'].map((code) => sqlError(code)),
    ],
  ],
  ['refused', ['44000', '54000', 'XX001', 'XX002'].map((code) => sqlError(code))],
  // the server has answered, so it has rolled back
  [
    'rolled back',
    ['53100', '55P03', '57014', '25006', '40002', 'P0001', 'F0000', 'HV000', 'XX000'].map((code) => sqlError(code)),
  ],
  // no answer of a server, or the last one of a session
  ['unknown', [new Error('Connection terminated'), undefined, null, 'text', { code: 23505 }]],
  [
    'unknown',
    ['08006', '57P01', '57P05', 'ECONNRESET', 'EPIPE', 'EBADF', 'E2BIG', '2300', '230001', ' 23001', '23o01'].map(
      (code) => sqlError(code),
    ),
  ],
  ['unknown', [sqlError('25P03', { severity: 'FATAL' }), sqlError('53300', { severity: 'PANIC' })]],
  ['rolled back', [sqlError('25P03', { severity: 'ERROR' })]],
])('an append whose statement failed is %s: %#', (failure, errors) => {
  expect(errors.map((error) => [codeOf(error), failureOf(error)])).toEqual(
    errors.map((error) => [codeOf(error), failure]),
  )
})

test('a broken rule is named by the constraint, or else by the code', () => {
  expect(ruleOf(sqlError('23505', { constraint: 'profiles_name_unique' }))).toBe('profiles_name_unique')
  expect([ruleOf(sqlError('22012')), ruleOf(sqlError('23514', { constraint: 7 }))]).toEqual([GAP_RULE, 'sql_23514'])
})

test('a server that became read-only is told from other trouble, as is a session that is over', () => {
  expect(['25006', '25001', '42501'].map((code) => readOnly(sqlError(code)))).toEqual([true, false, false])
  expect(['25006', '57014', '57P01', '08001'].map((code) => sessionLost(sqlError(code)))).toEqual([
    false,
    false,
    true,
    true,
  ])
  expect(['22001', '220', '22', '22001x', 'XX001', 'XX000'].map((code) => isPermanent(sqlError(code)))).toEqual([
    true,
    false,
    false,
    false,
    true,
    false,
  ])
})

test('the cause of an error is its message with its code, each once', () => {
  expect(causeOf(sqlError('22001'))).toBe('as the server says (22001)')
  expect(causeOf(Object.assign(new Error('connect ECONNREFUSED 127.0.0.1'), { code: 'ECONNREFUSED' }))).toBe(
    'connect ECONNREFUSED 127.0.0.1',
  )
  expect(causeOf(new Error('no code'))).toBe('no code')
  expect([causeOf({ code: '22001' }), causeOf('text'), causeOf(null)]).toEqual(['22001', 'text', 'null'])
})
