/** Which rows of the journal may be archived: those of requests that were deleted and of instances that are over. */
import { expect, test } from 'vitest'
import { leavable } from '../../src/actors/retention.ts'
import {
  type Entry,
  accepted,
  arq,
  created,
  instance,
  isBound,
  journalOf,
  left,
  removed,
  settled,
} from '../audit/cases/scene.ts'

const rowsOf = (name: string, ...entries: readonly Entry[]) => [name, journalOf(...entries)] as const
const told = settled('completed', ['a1'], { tell: null })
test.each([
  [
    3,
    'all rows of a request that was deleted',
    ...rowsOf('arq/a1', created('a1'), arq('a1', isBound), arq('a1', removed)),
  ],
  [0, 'no row of one that is there', ...rowsOf('arq/a1', created('a1'), arq('a1', isBound))],
  [
    2,
    'all but the last row of an instance that is over',
    ...rowsOf('instance/i1', instance('i1', accepted()), instance('i1', told), instance('i1', left('a1'))),
  ],
  [
    0,
    'no row of one whose requests are there',
    ...rowsOf('instance/i1', instance('i1', accepted()), instance('i1', told)),
  ],
  [0, 'no row of one that is being bound', ...rowsOf('instance/i1', instance('i1', accepted([])))],
  [
    0,
    'no row of one of which Nova is told',
    ...rowsOf(
      'instance/i1',
      instance('i1', accepted()),
      instance('i1', settled('completed')),
      instance('i1', left('a2')),
    ),
  ],
  [0, 'no row of anything else', ...rowsOf('device/c1', { key: 'device/c1', events: [] })],
] as const)('%d rows may be archived: %s', (count, _, name, rows) => expect(leavable(name, rows)).toBe(count))
