/** The configuration in force comes from the same reading as the configuration of the program. */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { hiding } from '../../src/cli/config/secrets.ts'
import { hidingAlso, hidingTokens } from '../../src/cli/config/inForce.ts'

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

test('secrets that became known later are hidden as well, and an empty one hides nothing', () => {
  const { hide } = hidingAlso(loadedFrom(['']).inForce, ['token-of-somebody', ''])
  expect(hide('with token-of-somebody')).toBe('with (hidden)')
})

test('a token that is shorter than a secret hides nothing, because it occurs in any text', () => {
  expect(hidingAlso(loadedFrom(['']).inForce, ['e']).hide('here')).toBe('here')
})

test('a token is hidden whole although it contains a secret of the configuration', () => {
  const { inForce } = loadedFrom([`database = "postgresql://a:${SECRET}@db/x"\n`])
  const { hide } = hidingAlso(inForce, [`front-${SECRET}-back`])
  expect(hide(`with front-${SECRET}-back for ${SECRET}`)).toBe('with (hidden) for (hidden)')
})

test('of the headers of a request, the tokens are hidden, also without a configuration', () => {
  const headers = { 'x-auth-token': 'token-of-a-user', 'x-service-token': 'token-of-nova', 'x-roles': 'admin' }
  const { hide } = hidingTokens(undefined, headers)
  expect(hide('admin with token-of-a-user and token-of-nova')).toBe('admin with (hidden) and (hidden)')
})

test('a password in a URL is hidden whatever stands before it, also in a text of a million letters', () => {
  const hide = hiding([])
  const word = 'x'.repeat(1_000_000)
  expect(hide(`${word}https://user:word@host/ and amqp://user:word@host`)).toBe(
    `${word}https://user:(hidden)@host/ and amqp://user:(hidden)@host`,
  )
  expect(hide(word)).toBe(word)
  expect(hide('at 10:20 nova@host, http://host:80/a@b, http://a:b c@d')).toBe(
    'at 10:20 nova@host, http://host:80/a@b, http://a:b c@d',
  )
})
