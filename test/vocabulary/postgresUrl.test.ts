/** What a client of PostgreSQL takes from an address, and what is said when a server does not take the connection. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { Misaddressed, postgresClient, withAdvice } from '../../src/vocabulary/postgresUrl.ts'

const folder = mkdtempSync(join(tmpdir(), 'postgres-url-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string): string => {
  writeFileSync(join(folder, name), name)
  return join(folder, name)
}

test.each<[string, object]>([
  ['postgresql://', {}],
  ['postgres://db', { host: 'db' }],
  ['postgresql+psycopg2://u@[::1]:5433/d', { host: '::1', port: 5433, user: 'u', database: 'd' }],
  ['postgresql://u:a#b/c?d%e@db/d', { host: 'db', user: 'u', password: 'a#b/c?d%e', database: 'd' }],
  ['postgresql://u:%23@db/d%20e', { host: 'db', user: 'u', password: '#', database: 'd e' }],
  ['postgresql://%2Frun%2Fpg/d', { host: '/run/pg', database: 'd' }],
  [
    'postgresql://u:p@/d?host=/run/pg&port=6432&user=v&password=q&dbname=e',
    { host: '/run/pg', port: 6432, user: 'v', password: 'q', database: 'e' },
  ],
  [
    'postgresql://db/d?options=-c%20search_path%3Dx&application_name=mine&connect_timeout=3',
    { host: 'db', database: 'd', options: '-c search_path=x', application_name: 'mine' },
  ],
])('%s', (url, client) => expect(postgresClient(url)).toEqual(client))

test.each([
  'postgresql://db/d?search_path=x',
  'postgresql://db/d?port=x',
  'postgresql://db/d?gssencmode=require',
  'db',
])('%s is not used', (url) => expect(() => postgresClient(url)).toThrow('the address of the database: '))

describe('TLS', () => {
  const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map(file)
  const ssl = (query: string, host = 'db') => postgresClient(`postgresql://${host}/d?${query}`).ssl
  test('is asked for, with the certificate checked, in each mode but two', () => {
    expect(ssl('')).toBeUndefined()
    expect(ssl('sslmode=disable')).toBe(false)
    for (const mode of ['allow', 'prefer', 'require', 'verify-ca', 'verify-full'])
      expect(ssl(`sslmode=${mode}`)).toEqual({})
    expect(ssl('sslmode=no-verify')).toEqual({ rejectUnauthorized: false })
    expect(ssl(`sslmode=verify-full&sslrootcert=${ca}`)).toEqual({ ca: 'ca.pem' })
    expect(ssl('sslmode=verify-full&sslrootcert=system')).toEqual({})
    expect(ssl(`sslcert=${cert}&sslkey=${key}`)).toEqual({ cert: 'cert.pem', key: 'key.pem' })
  })
  test('is not asked for on a socket of this machine', () => {
    expect(ssl('sslmode=require', '%2Frun%2Fpg')).toBe(false)
  })
  test('has the meanings of libpq for who asks for them', () => {
    const libpq = (query: string) => ssl(`uselibpqcompat=true&${query}`)
    for (const mode of ['allow', 'prefer', 'require'])
      expect(libpq(`sslmode=${mode}`)).toEqual({ rejectUnauthorized: false })
    for (const mode of ['require', 'verify-ca'])
      expect(libpq(`sslmode=${mode}&sslrootcert=${ca}`)).toEqual({
        ca: 'ca.pem',
        checkServerIdentity: expect.any(Function),
      })
    expect(libpq(`sslmode=verify-full&sslrootcert=${ca}`)).toEqual({ ca: 'ca.pem' })
  })
})

test.each([
  [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'sslmode=no-verify'],
  [{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }, 'sslrootcert='],
  [{ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, 'as the certificate does'],
  [{ code: 'CERT_HAS_EXPIRED' }, 'sslmode=no-verify'],
  [{ message: 'The server does not support SSL connections' }, 'sslmode=disable'],
  [
    { code: '28000', message: 'no pg_hba.conf entry for host "::1", user "u", database "d", no encryption' },
    'verify-full',
  ],
])('an error %o says which mode to set', (fields, advice) => {
  const error = Object.assign(new Error('why'), fields)
  const told = withAdvice(error)
  expect(told).toBeInstanceOf(Misaddressed)
  expect(told).toMatchObject({ says: error.message, advice: expect.stringContaining(advice), cause: error })
})
test.each([{ code: '28P01' }, { code: '28000', message: 'role "u" does not exist' }, { code: 'ECONNREFUSED' }])(
  'an error %o is left as it is',
  (fields) => {
    const error = Object.assign(new Error('why'), fields)
    expect(withAdvice(error)).toBe(error)
  },
)
