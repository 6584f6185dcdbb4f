/** The address of upstream's database, as upstream writes it. */
import { expect, test } from 'vitest'
import { readAddress } from '../../../src/neighbours/upstream/address.ts'

const at = {
  host: 'db',
  port: 3306,
  user: 'cyborg',
  password: 'p@ss/%',
  database: 'cyborg',
  socket: null,
  ca: null,
}
test.each([
  ['mysql+pymysql://cyborg:p%40ss%2F%25@db/cyborg?charset=utf8', at],
  ['mysql://cyborg:p%40ss%2F%25@db:3307/cyborg', { ...at, port: 3307 }],
  ['mariadb+mariadbconnector://cyborg:p%40ss%2F%25@[::1]/cyborg', { ...at, host: '::1' }],
  [
    'mysql://cyborg:p%40ss%2F%25@db/cyborg?unix_socket=/run/m.sock&ssl_ca=/etc/ca.pem',
    { ...at, socket: '/run/m.sock', ca: '/etc/ca.pem' },
  ],
])('%s', (url, address) => expect(readAddress(url)).toEqual({ ok: true, address: { kind: 'mysql', at: address } }))

test.each(['postgresql+psycopg2://u:p@db/cyborg?sslmode=require', 'postgres://u:p@db/cyborg?sslmode=require'])(
  '%s',
  (url) =>
    expect(readAddress(url)).toEqual({
      ok: true,
      address: { kind: 'postgres', url: 'postgresql://u:p@db/cyborg?sslmode=require' },
    }),
)

test.each([
  ['', 'it is not a URL'],
  ['db.example.org', 'it is not a URL'],
  ['mysql://db', 'it names no database'],
  ['mysql://db/', 'it names no database'],
  [
    'sqlite:///var/lib/cyborg.sqlite',
    'it must begin with mysql://, mariadb:// or postgresql://, with or without a +driver',
  ],
  ['mysql://u:%zz@db/cyborg', 'it holds a % that is not an escape'],
  ['mysql://u:secret@db/cyborg?ssl_verify_cert=true', 'parameter ssl_verify_cert is not known; ssl_ca is'],
])('%s is refused', (url, problem) => expect(readAddress(url)).toEqual({ ok: false, problem }))
