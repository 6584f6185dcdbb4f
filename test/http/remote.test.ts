/** By which address callers share what is limited before they are identified. */
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { remoteOf } from '../../src/http/remote.ts'

const seen = async (remoteAddress: string | undefined, headers: Record<string, string> = {}, proxyHeaders = true) => {
  const app = new Hono().get('/', (c) => c.text(remoteOf(c, { proxyHeaders })))
  const env = remoteAddress === undefined ? undefined : { incoming: { socket: { remoteAddress } } }
  return (await app.request('/', { headers }, env)).text()
}

test('it is that of the connection where proxies are not trusted, whatever headers say', async () => {
  expect(await seen('192.0.2.7', { 'x-forwarded-for': '203.0.113.1' }, false)).toBe('192.0.2.7')
})
test('behind trusted proxies it is the one that the nearest proxy has seen, and not one that a client invents', async () => {
  expect(await seen('10.0.0.1', { 'x-forwarded-for': '203.0.113.9, 192.0.2.7' })).toBe('192.0.2.7')
  expect(await seen('10.0.0.1', { forwarded: 'for=203.0.113.9, for="192.0.2.7:1234";proto=https' })).toBe('192.0.2.7')
  expect(await seen('10.0.0.1', { forwarded: 'for="[2001:db8:1:2:3::4]:443"' })).toBe('2001:db8:1:2::/64')
  expect(await seen('10.0.0.1')).toBe('10.0.0.1')
})
test('the addresses of one IPv6 network are one', async () => {
  expect(await seen('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
  expect(await seen('2001:db8:1:2::9')).toBe('2001:db8:1:2::/64')
  expect(await seen('2001:db8::9')).toBe('2001:db8:0:0::/64')
  expect(await seen('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
  expect(await seen('::1')).toBe('0:0:0:0::/64')
  expect(await seen('::ffff:192.0.2.7')).toBe('192.0.2.7')
})
test('a long invented text is cut, and a request inside the process has none', async () => {
  expect(await seen('10.0.0.1', { 'x-forwarded-for': 'x'.repeat(500) })).toHaveLength(64)
  expect(await seen(undefined)).toBe('inside')
})
