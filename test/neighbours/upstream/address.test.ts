/** The address of upstream's database: read as SQLAlchemy and its drivers read it, with nothing dropped. */
import { expect, test } from 'vitest'
import { readAddress } from '../../../src/neighbours/upstream/address.ts'

const at = {
  host: 'db',
  port: 3306,
  user: 'cyborg',
  password: 'p@ss/%',
  database: 'cyborg',
  socket: null,
  tls: null,
}
const NO_TLS_FILES = { ca: null, cert: null, key: null }
const UNVERIFIED = { ...NO_TLS_FILES, verifyCertificate: false, verifyName: false }
const CA = { ...NO_TLS_FILES, ca: '/ca.pem', verifyCertificate: true, verifyName: true }
const noFile = (path: string): string => {
  throw new Error(`ENOENT: ${path}`)
}
const read = (text: string) => readAddress(text, noFile)

test.each([
  ['mysql+pymysql://cyborg:p%40ss%2F%25@db/cyborg?charset=utf8', at],
  ['mysql://cyborg:p%40ss%2F%25@db:3307/cyborg', { ...at, port: 3307 }],
  ['mariadb+mariadbconnector://cyborg:p%40ss%2F%25@[::1]/cyborg', { ...at, host: '::1' }],
  // what generated passwords hold needs no escape
  ['mysql://cyborg:a#b@db/cyborg', { ...at, password: 'a#b' }],
  ['mysql://cyborg:a/b?c:d@db/cyborg', { ...at, password: 'a/b?c:d' }],
  ['mysql://cyborg:a@b@db/cyborg', { ...at, password: 'a@b' }],
  ['mysql://cyborg:100%@db/cyborg', { ...at, password: '100%' }],
  ['mysql://cyborg:%zz+%41 [x]@db/cyborg', { ...at, password: '%zz+A [x]' }],
  ['mysql://cyborg:%C3%A9@db/cyborg', { ...at, password: 'é' }],
  ['mysql://ann@site:a@db/cyborg', { ...at, user: 'ann@site', password: 'a' }],
  ['mysql://db/cyborg', { ...at, user: '', password: '' }],
  [
    'mysql://c:p@/cyborg?unix_socket=/run/m.sock',
    { ...at, host: 'localhost', user: 'c', password: 'p', socket: '/run/m.sock' },
  ],
])('%s', (url, address) => expect(read(url)).toEqual({ ok: true, value: { kind: 'mysql', at: address } }))

const VERIFIED = { ...UNVERIFIED, verifyCertificate: true }
test.each([
  ['', null],
  ['ssl_ca=', null],
  ['ssl=false', null],
  ['ssl=true', UNVERIFIED],
  ['ssl_mode=REQUIRED', UNVERIFIED],
  ['ssl_mode=VERIFY_CA', VERIFIED],
  ['ssl_verify_cert=true', VERIFIED],
  ['ssl_verify_identity=1', { ...VERIFIED, verifyName: true }],
  ['ssl_mode=VERIFY_IDENTITY', { ...VERIFIED, verifyName: true }],
  ['ssl_ca=/ca.pem', CA],
  ['ssl_ca=/ca.pem&ssl_check_hostname=False', { ...CA, verifyName: false }],
  ['ssl_ca=/ca.pem&ssl_mode=VERIFY_CA', { ...CA, verifyName: false }],
  [
    'ssl_ca=/ca.pem&ssl_verify_cert=false&ssl_verify_identity=false',
    { ...CA, verifyCertificate: false, verifyName: false },
  ],
  ['ssl_ca=/ca.pem&unix_socket=/run/m.sock', { ...CA, verifyName: false }],
  ['ssl_ca=/ca.pem&ssl_cert=/c.pem&ssl_key=/k.pem', { ...CA, cert: '/c.pem', key: '/k.pem' }],
  ['ssl_cert=/c.pem&ssl_key=/k.pem', { ...UNVERIFIED, cert: '/c.pem', key: '/k.pem' }],
  ['ssl_ca=/ca.pem&ssl_disabled=true', null],
])('TLS for ?%s', (query, tls) =>
  expect(read(`mysql://u:p@db/cyborg?${query}`)).toMatchObject({ value: { at: { tls } } }),
)

test('a file of options that the address names counts, after the address itself', () => {
  const files: Readonly<Record<string, string>> = {
    '/etc/my.cnf.d/tripleo.cnf':
      '[client]\nhost=wrong\n[tripleo]\nbind-address=10.0.0.1\nssl=1\nssl-ca=/etc/ipa/ca.crt\n# no\n!includedir /x\nuser = "cy"\nssl_verify_server_cert\n',
    '/etc/my.cnf': '[client]\r\nssl\r\nsocket=/run/m.sock\r\nport=3400\r\ndatabase=other\r\npassword=p=q\r\n',
  }
  const at = (query: string, url = 'mysql+pymysql://u:p@db/cyborg') =>
    readAddress(`${url}?${query}`, (path) => files[path] ?? noFile(path))
  expect(at('read_default_file=/etc/my.cnf.d/tripleo.cnf&read_default_group=tripleo')).toMatchObject({
    value: { at: { host: 'db', user: 'u', tls: { ...CA, ca: '/etc/ipa/ca.crt' } } },
  })
  expect(at('read_default_group=client', 'mysql://u@db')).toMatchObject({
    value: { at: { ...{ port: 3400, database: 'other', password: 'p=q' }, socket: '/run/m.sock', tls: UNVERIFIED } },
  })
  expect(at('read_default_file=/etc/my.cnf&ssl=0')).toMatchObject({ value: { at: { database: 'cyborg', tls: null } } })
  expect(at('read_default_file=/gone.cnf')).toEqual({
    ok: false,
    problem: 'its option file cannot be read, which may ask for TLS: ENOENT: /gone.cnf',
  })
})

test.each([
  'postgresql+psycopg2://u:a#b/%@db/cyborg?sslmode=require&client_encoding=utf8',
  'postgres://u:p@/cyborg?host=/var/run/postgresql',
  'postgresql://db?dbname=cyborg',
])('%s', (url) => expect(read(url)).toEqual({ ok: true, value: { kind: 'postgres', url } }))

const SCHEMES = 'it must begin with mysql://, mariadb:// or postgresql://, with or without a +driver'
test.each([
  ['', 'it is not a URL'],
  ['db.example.org', 'it is not a URL'],
  ['mysql://db', 'it names no database'],
  ['mysql://db/', 'it names no database'],
  ['postgresql://db', 'it names no database'],
  ['mysql://db:x/c', 'its port is not a number up to 65535'],
  ['mysql://db:65536/c', 'its port is not a number up to 65535'],
  ['sqlite:///var/lib/cyborg.sqlite', SCHEMES],
  ...['xmysql', 'mysqlx', 'mysql+', 'xmariadb', 'xpostgres', 'postgresqlx', 'postgres+'].map((scheme) => [
    `${scheme}://u@db/c`,
    SCHEMES,
  ]),
])('%s is refused', (url, problem) => expect(read(url)).toEqual({ ok: false, problem }))

test.each([
  ['mysql://u:secret@db/c?ssl_capath=/etc/ssl', 'parameter ssl_capath is not known here'],
  ['mysql://u:secret@db/c?client_flag=2048', 'parameter client_flag is not known here'],
  ['mysql://u:secret@db/c?ssl=maybe', 'parameter ssl is neither true nor false'],
  ['mysql://u:secret@db/c?ssl_mode=PREFERRED', 'parameter ssl_mode is none of DISABLED'],
  ['mysql://u:secret@db/c?ssl=true&ssl=false', 'parameter ssl is given twice'],
  // a part of a password that looks like a parameter is not repeated
  ['mysql://u:x@y?secret@db/c=1', 'a parameter is not known here'],
  ['postgresql://u:secret@db/c?sslcrl=/x', 'parameter sslcrl is not known here'],
  ['postgresql://u:secret@db/c?sslmode=sometimes', 'sslmode is none of disable, no-verify'],
])('%s is refused by name', (url, problem) => {
  const reading = read(url)
  expect(reading).toMatchObject({ ok: false, problem: expect.stringContaining(problem) })
  expect(JSON.stringify(reading)).not.toContain('secret')
})
