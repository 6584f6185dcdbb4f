/** The configuration in force comes from the same reading as the configuration of the program. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

const SECRET = 'planted-password-of-the-file'
const loadedFrom = (texts: string[]) => {
  const read: string[] = []
  const readFile = (path: string): string => {
    read.push(path)
    return texts.shift() ?? ''
  }
  const loaded = loadConfig({ env: {}, flags: { config: '/dev/fd/63' }, readFile, osHostname: 'here' })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return { ...loaded, read }
}

test('a file that can be read only once, as a pipe, tells its values and hides its secrets', () => {
  const { inForce, read } = loadedFrom([`database = "postgresql://a:${SECRET}@db/x"\n[arq]\nunbound_ttl = 90\n`])
  const optionOf = (key: string) => inForce.options.find((each) => each.key === key)
  expect(read).toEqual(['/dev/fd/63'])
  expect(optionOf('arq.unbound_ttl')).toMatchObject({ value: 90, source: 'file', from: '/dev/fd/63' })
  expect(optionOf('database')).toMatchObject({ value: '(hidden)', source: 'file' })
  expect(inForce.hide(`refused for ${SECRET}`)).toBe('refused for (hidden)')
})

test('a password in a URL is hidden whatever stands before it, also in a text of a million letters', () => {
  const { hide } = loadedFrom(['']).inForce
  const word = 'x'.repeat(1_000_000)
  expect(hide(`${word}https://user:word@host/ and amqp://user:word@host`)).toBe(
    `${word}https://user:(hidden)@host/ and amqp://user:(hidden)@host`,
  )
  expect(hide(word)).toBe(word)
  expect(hide('at 10:20 nova@host, http://host:80/a@b, http://a:b c@d')).toBe(
    'at 10:20 nova@host, http://host:80/a@b, http://a:b c@d',
  )
})

test('passwords in URLs are secrets as they are written and as they are meant, and so are some variables', () => {
  const secretsOf = (env: Readonly<Record<string, string>>) => {
    const loaded = loadConfig({ env, readFile: () => '', osHostname: 'here' })
    return loaded.ok ? loaded.inForce.secrets : loaded.problems
  }
  const url = 'postgresql://a:p%40ss%2Fword@db/x'
  expect(secretsOf({ ACCELERANDO_DATABASE: url })).toEqual([url, 'p%40ss%2Fword', 'p@ss/word'])
  const bare = 'postgresql://a:p#ss/w?rd@db/x?password=other'
  expect(secretsOf({ ACCELERANDO_DATABASE: bare })).toEqual([bare, 'p#ss/w?rd', 'other'])
  const odd = 'postgresql://a:100%zz@db/x'
  expect(secretsOf({ ACCELERANDO_DATABASE: odd })).toEqual([odd, '100%zz'])
  expect(
    secretsOf({
      ACCELERANDO_NOVA_HEADERS: '{"x-a": "one", "x-b": "two"}',
      ACCELERANDO_IMPORT_FROM: 'mysql://c:three@db/c',
      MY_PASSWORD: 'four',
      some_secret_of_mine: 'five',
      TOKEN: '',
      OTHER: 'six',
      ACCELERANDO_GLANCE_TRUSTED_PROJECTS: 'seven',
    }),
  ).toEqual(['one', 'two', 'mysql://c:three@db/c', 'four', 'five', 'three'])
})
test('of each option: its value, where it comes from, and whether it is secret', () => {
  const loaded = loadConfig({
    flags: { config: 'c.toml', logLevel: 'warn' },
    env: { ACCELERANDO_NOVA_HEADERS: '{"x-a": "planted"}', ACCELERANDO_ENABLED_DRIVERS: 'fake_driver' },
    readFile: () => 'data = "/planted/d"\n[nova]\nurl = "http://n"\n',
    osHostname: 'here',
  })
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  const of = (wanted: string) => loaded.inForce.options.find(({ key }) => key === wanted)
  const option = (key: string, value: unknown, source: string, from: string | null, secret = false) => ({
    key,
    value,
    source,
    from,
    secret,
  })
  expect(of('log.level')).toEqual(option('log.level', 'warn', 'argument', '--log-level'))
  expect(of('data')).toEqual(option('data', '/(hidden)/d', 'file', 'c.toml'))
  expect(of('nova.url')).toEqual(option('nova.url', 'http://n', 'file', 'c.toml'))
  expect(of('nova.headers')).toEqual(
    option('nova.headers', '(hidden)', 'environment', 'ACCELERANDO_NOVA_HEADERS', true),
  )
  expect(of('enabled_drivers')).toEqual(
    option('enabled_drivers', ['fake_driver'], 'environment', 'ACCELERANDO_ENABLED_DRIVERS'),
  )
  expect(of('database')).toEqual(option('database', null, 'default', null, true))
  expect(of('pci.sriov_numvfs')).toEqual(option('pci.sriov_numvfs', {}, 'default', null))
})
