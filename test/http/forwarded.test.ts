/** What proxies say: the grammar of RFC 7239, and which header counts. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { originThrough, parseForwarded } from '../../src/http/forwarded.ts'
import { strictApp } from './app.ts'
import { send } from './steps.ts'

const parsed = (text: string) => parseForwarded(text)?.map((element) => Object.fromEntries(element)) ?? null

describe('the Forwarded header', () => {
  test.each([
    ['for="_gazonk"', [{ for: '_gazonk' }]],
    ['For="[2001:db8:cafe::17]:4711"', [{ for: '[2001:db8:cafe::17]:4711' }]],
    ['for=192.0.2.60;proto=http;by=203.0.113.43', [{ for: '192.0.2.60', proto: 'http', by: '203.0.113.43' }]],
    ['for=192.0.2.43, for=198.51.100.17', [{ for: '192.0.2.43' }, { for: '198.51.100.17' }]],
    ['host="a.example:8443" ; PROTO=https', [{ host: 'a.example:8443', proto: 'https' }]],
    ['for="a,b;c=d"; host=x', [{ for: 'a,b;c=d', host: 'x' }]],
    [String.raw`for="a\"b\\c"`, [{ for: String.raw`a"b\c` }]],
    ['host=a.example:8443;for=[2001:db8::1]', [{ host: 'a.example:8443', for: '[2001:db8::1]' }]],
    [', ,for=a,', [{ for: 'a' }]],
    ['for=""', [{ for: '' }]],
    ['', []],
  ])('%s', (text, elements) => expect(parsed(text)).toEqual(elements))
  test.each([
    'for',
    'for=',
    '=a',
    'for =a',
    'for= a',
    'for=a b=c',
    'for="a',
    'for="a"b',
    'proto=https;proto=http',
    'proto=https;PROTO=https',
  ])('%s cannot be read', (text) => expect(parsed(text)).toBeNull())
  test('reads back every value that was quoted', () => {
    const value = fc.string({ unit: 'grapheme-ascii' })
    fc.assert(
      fc.property(fc.array(fc.record({ host: value, for: value }), { minLength: 1 }), (elements) => {
        const quote = (text: string) => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`
        const text = elements.map((each) => `host=${quote(each.host)};for=${quote(each.for)}`).join(', ')
        expect(parsed(text)).toEqual(elements)
      }),
    )
  })
  test('is read in one pass, however long and odd it is', () => {
    for (const odd of [' '.repeat(16_000), '"'.repeat(16_000), ';'.repeat(16_000), `for="${'\\'.repeat(16_001)}`]) {
      const begun = performance.now()
      parseForwarded(`${odd}=`)
      expect(performance.now() - begun).toBeLessThan(200)
    }
  })
})

describe('scheme and host of links behind a proxy', () => {
  const OWN = 'http://own.example:6666'
  const X = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'x.example' }
  const through = (headers: Readonly<Record<string, string>>) =>
    originThrough(OWN, (name) => (headers as Readonly<Record<string, string | undefined>>)[name])
  test.each([
    ['nothing said', {}, OWN],
    ['the older headers', X, 'https://x.example'],
    ['of several proxies the first', { ...X, 'x-forwarded-host': 'x.example, y.example' }, 'https://x.example'],
    ['a name with a blank behind it', { ...X, 'x-forwarded-host': 'x.example , y.example' }, 'https://x.example'],
    ['both of Forwarded', { forwarded: 'proto=https;host="f.example:8443"' }, 'https://f.example:8443'],
    ['one of Forwarded', { forwarded: 'proto=https' }, 'https://own.example:6666'],
    ['the other of Forwarded', { forwarded: 'for=1.2.3.4;host=f.example' }, 'http://f.example'],
    ['its first element', { forwarded: 'host=a.example, host=b.example;proto=https' }, 'http://a.example'],
    ['an IPv6 address', { forwarded: 'host="[2001:db8::1]:443"' }, 'http://[2001:db8::1]:443'],
    ['the scheme in capitals', { forwarded: 'proto=HTTPS' }, 'https://own.example:6666'],
    ['Forwarded before the older headers', { ...X, forwarded: 'host=f.example' }, 'http://f.example'],
    ['Forwarded that says nothing', { ...X, forwarded: 'for=unknown' }, OWN],
    ['Forwarded that cannot be read', { ...X, forwarded: 'host=f.example;;host' }, OWN],
    ['another scheme', { forwarded: 'proto=gopher;host=f.example' }, 'http://f.example'],
    ['a host with a path', { forwarded: 'host="f.example/x"' }, OWN],
    ['a host with a user', { 'x-forwarded-host': 'a@x.example' }, OWN],
    ['a host in another script', { forwarded: 'host=ä.example' }, OWN],
    ['a host with a newline', { forwarded: 'host="f.example\n"' }, OWN],
  ])('%s', (_, headers, origin) => expect(through(headers)).toBe(origin))

  test('are believed only when the service is told so', async () => {
    const forwarded = { Forwarded: 'for=192.0.2.1;proto=https;host="api.example:8443", for=10.0.0.1' }
    const href = async (proxyHeaders: boolean) =>
      (await send(strictApp({ proxyHeaders }).app, 'GET /v2', { headers: forwarded })).json.links[0].href
    expect(await href(true)).toBe('https://api.example:8443/accelerator/v2/')
    expect(await href(false)).toBe('http://localhost/accelerator/v2/')
  })
})
