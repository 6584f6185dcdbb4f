/** `--debug`: the heads of requests and answers, in which nothing is secret. */
import { expect, test } from 'vitest'
import { answeredLines, askedLines } from '../../src/cli/operators/debug.ts'

const URL_PLAIN = 'http://10.0.0.1:6666/v2/hosts?limit=1'
test.each([
  [URL_PLAIN, URL_PLAIN],
  ['http://10.0.0.1', 'http://10.0.0.1'],
  ['http://kim:pass-word@10.0.0.1/v2', 'http://hidden@10.0.0.1/v2'],
  ['http://kim@10.0.0.1/v2', 'http://hidden@10.0.0.1/v2'],
  ['http://:pass-word@10.0.0.1/v2', 'http://hidden@10.0.0.1/v2'],
])('the address %s is shown as %s', (given, shown) => {
  expect(askedLines('PATCH', given, {})).toEqual([`> PATCH ${shown}`])
})
test('a request and its answer are told with marks of their own, without headers that have no value', () => {
  expect(askedLines('GET', URL_PLAIN, { accept: 'text/html', 'x-none': undefined })).toEqual([
    `> GET ${URL_PLAIN}`,
    '> accept: text/html',
  ])
  expect(answeredLines(204, { server: 'a', 'set-cookie': ['b', 'c'], vary: ['d', 'e'], none: undefined })).toEqual([
    '< 204',
    '< server: a',
    '< set-cookie: (hidden)',
    '< vary: d,e',
  ])
})
test.each([
  'authorization',
  'Proxy-Authorization',
  'cookie',
  'set-cookie',
  'X-Auth-Token',
  'x-subject-token',
  'x-service-token',
  'x-storage-token',
  'x-my-secret-thing',
  'old-password',
])('%s is hidden', (name) => {
  expect(answeredLines(200, { [name]: 'planted' })).toEqual(['< 200', `< ${name}: (hidden)`])
})
test.each(['x-authorization', 'authorization-info', 'x-auth-token-id', 'my-cookie', 'cookies', 'x-other-token'])(
  '%s is shown',
  (name) => {
    expect(answeredLines(200, { [name]: 'shown' })).toEqual(['< 200', `< ${name}: shown`])
  },
)
