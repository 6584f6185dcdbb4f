import { expect, test } from 'vitest'
import { cleaningFields } from '../../src/cli/operators/cleaningLines.ts'

const LAST = {
  command: '/sbin/wipe',
  started_at: 'T1',
  finished_at: 'T3',
  duration_ms: 12,
  exit_code: 3,
  output_sha256: 'abcd',
  output_bytes: 9,
  output: 'no\nanswer',
}

test('a control before release 0.3.0 says nothing of cleaning, and nothing is shown', () =>
  expect(cleaningFields({})).toBeUndefined())
test.each([
  ['that was never done', { under_way: false, last: null }, '-', null],
  ['that is under way', { under_way: true, last: LAST }, 'under way', 'no answer'],
  [
    'that has failed',
    { under_way: false, last: LAST },
    '/sbin/wipe at T3: exit code 3 after 12 ms; sha256 of the output abcd',
    'no answer',
  ],
  [
    'that did not end',
    { under_way: false, last: { ...LAST, exit_code: null } },
    '/sbin/wipe at T3: did not end by itself after 12 ms; sha256 of the output abcd',
    'no answer',
  ],
])('a cleaning %s', (_, more, last, output) =>
  expect(cleaningFields({ cleaning: { due: 'by_host', policy: 'by_host', ...more } })).toEqual({
    'cleaning due': 'by_host',
    'last cleaning': last,
    'its output': output,
  }),
)
