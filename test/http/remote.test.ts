/** By which address callers share what is limited before they are identified: the log names it with each request. */
import { expect, test } from 'vitest'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'

const seen = async (remoteAddress: string | undefined, headers: Record<string, string> = {}, proxyHeaders = true) => {
  const said: Readonly<Record<string, unknown>>[] = []
  const log = { ...silent, debug: (fields: object) => void said.push({ ...fields }) }
  const { app } = strictApp({ proxyHeaders, anyHost: true }, { log })
  const env = remoteAddress === undefined ? undefined : { incoming: { socket: { remoteAddress } } }
  await app.request('/v2', { headers }, env)
  return said[0]!['remote']
}

test('it is that of the connection where proxies are not trusted, whatever headers say', async () => {
  expect(await seen('192.0.2.7', { 'x-forwarded-for': '203.0.113.1' }, false)).toBe('192.0.2.7')
})
test('REMOTE-1 behind trusted proxies it is the one that the nearest proxy has seen, and not one that a client invents', async () => {
  expect(await seen('10.0.0.1', { 'x-forwarded-for': '203.0.113.9, 192.0.2.7' })).toBe('192.0.2.7')
  expect(await seen('10.0.0.1', { forwarded: 'for=203.0.113.9, for="192.0.2.7:1234";proto=https' })).toBe('192.0.2.7')
  expect(await seen('10.0.0.1', { forwarded: 'for="[2001:db8:1:2:3::4]:443"' })).toBe('2001:db8:1:2::/64')
  expect(await seen('10.0.0.1')).toBe('10.0.0.1')
})
test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
])('REMOTE-2 of %s the network counts: %s', async (address, network) => expect(await seen(address)).toBe(network))
test('a long invented text is cut, and a request inside the process has none', async () => {
  expect(await seen('10.0.0.1', { 'x-forwarded-for': 'x'.repeat(500) })).toHaveLength(64)
  expect(await seen(undefined)).toBe('inside')
})
