/** What proxies say of scheme and host: the grammar of RFC 7239, and which header counts for the links of answers. */
import { describe, expect, test } from 'vitest'
import { strictApp } from './app.ts'
import { send } from './steps.ts'

const OWN = 'http://localhost'
/** The origin of the links. */
const through = async (headers: Readonly<Record<string, string>>, proxyHeaders = true) => {
  const got = await send(strictApp({ proxyHeaders, anyHost: true }).app, 'GET /v2', { headers })
  return String(got.json.links[0].href).replace('/accelerator/v2/', '')
}

describe('scheme and host of links behind a proxy', () => {
  const X = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'x.example' }
  test.each<[what: string, headers: Readonly<Record<string, string>>, origin: string]>([
    ['nothing said', {}, OWN],
    ['the older headers', X, 'https://x.example'],
    ['of several proxies the first', { ...X, 'x-forwarded-host': 'x.example, y.example' }, 'https://x.example'],
    ['a name with a blank behind it', { ...X, 'x-forwarded-host': 'x.example , y.example' }, 'https://x.example'],
    ['both of Forwarded', { forwarded: 'proto=https;host="f.example:8443"' }, 'https://f.example:8443'],
    ['its names in capitals, with blanks', { forwarded: 'host="a:8443" ; PROTO=https' }, 'https://a:8443'],
    ['one of Forwarded', { forwarded: 'proto=https' }, 'https://localhost'],
    ['the other of Forwarded', { forwarded: 'for=1.2.3.4;host=f.example' }, 'http://f.example'],
    ['its first element', { forwarded: 'host=a.example, host=b.example;proto=https' }, 'http://a.example'],
    ['after empty elements', { forwarded: ', ,host=a.example,' }, 'http://a.example'],
    ['beside a value with commas', { forwarded: 'for="a,b;c=d";host=x' }, 'http://x'],
    ['a quoted value with escapes', { forwarded: String.raw`for="a\"b\\c";host=x` }, 'http://x'],
    ['an IPv6 address', { forwarded: 'host="[2001:db8::1]:443"' }, 'http://[2001:db8::1]:443'],
    ['the scheme in capitals', { forwarded: 'proto=HTTPS' }, 'https://localhost'],
    ['Forwarded before the older headers', { ...X, forwarded: 'host=f.example' }, 'http://f.example'],
    ['Forwarded that says nothing', { ...X, forwarded: 'for=unknown' }, OWN],
    ['another scheme', { forwarded: 'proto=gopher;host=f.example' }, 'http://f.example'],
    ['another scheme of the older headers', { 'x-forwarded-proto': 'xhttps' }, OWN],
    ...['f.example/x', '/f.example', '@f.example', 'f.example:', 'f.example:x', 'f.example?', 'a@x'].map(
      (host): [string, Record<string, string>, string] => [`${host} for a host`, { forwarded: `host="${host}"` }, OWN],
    ),
    ['a host in another script', { forwarded: 'host=ä.example' }, OWN],
  ])('%s', async (_, headers, origin) => expect(await through(headers)).toBe(origin))

  test.each([
    'host',
    'host=',
    '=a',
    'host =a',
    'host= a',
    'host=a b=c',
    'host="a',
    'host="a"b',
    'host=f.example;;host',
    'host=a;proto=https;proto=http',
    'host=a;proto=https;PROTO=https',
  ])('Forwarded that cannot be read says nothing: %s', async (forwarded) =>
    expect(await through({ ...X, forwarded })).toBe(OWN),
  )
  test('are believed only when the service is told so', async () =>
    expect(await through({ ...X, forwarded: 'proto=https;host=f.example' }, false)).toBe(OWN))
  test('are read in one pass, however long and odd they are', async () => {
    for (const odd of ['a '.repeat(8000), '"'.repeat(16_000), ';'.repeat(16_000), `for="${'\\'.repeat(16_001)}`]) {
      const begun = performance.now()
      await through({ forwarded: `${odd}=` })
      expect(performance.now() - begun).toBeLessThan(500)
    }
  })
})
