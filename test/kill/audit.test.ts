/** Views are compared with their journal without what no journal makes. */
import { expect, test } from 'vitest'
import { comparable } from './audit.ts'

test.each([
  ['the moment at which an order was sent', 'pending_orders {"sent_at":1,"slot":"a"}', 'pending_orders {"slot":"a"}'],
  [
    'the moment of the next comparison with Placement',
    'due {"at":1,"entity":"placement/h","kind":"placement in_sync"}',
    'due {"entity":"placement/h","kind":"placement in_sync"}',
  ],
])('%s is left out', (_, line, left) => expect(comparable(line)).toEqual([left]))
test('the mark that a host is due for Placement is left out', () => {
  expect(comparable('due {"at":1,"entity":"placement-mark/h","kind":"placement-mark"}')).toEqual([])
})
test('other moments are not', () => {
  const line = 'due {"at":1,"entity":"instance/i","kind":"instance"}'
  expect(comparable(line)).toEqual([line])
})
