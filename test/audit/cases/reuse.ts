/** A case for each condition of S8 of `src/audit/hosts.ts`. */
import { noted, onHost, trace } from './hosts.ts'
import { type Case, type Fact, board, deployable, of, released } from './scene.ts'

const holds = (number: number, preparedFor: string | null, slot = 'h1') => noted(number, { preparedFor, slot })
const cleared: Fact = { type: 'HandleCleared', handle: 'h1', by: 'op', reason: 'clean' }
const ofOther: Fact = { ...cleared, handle: 'h2' }
const twice = [onHost(holds(2, 'a2'), 'slot h1 was prepared for a2 while it was for a1')]
export const reuseCases: readonly Case[] = [
  [
    'S8',
    'a slot is prepared for another ARQ after its release',
    trace(holds(1, 'a1'), holds(2, null), holds(3, 'a2')),
    [],
  ],
  ['S8', 'it is prepared again for the same ARQ', trace(holds(1, 'a1'), holds(2, 'a1')), []],
  ['S8', 'other slots are prepared for others', trace(holds(1, 'a1'), holds(2, 'a2', 'h2')), []],
  ['S8', 'it is prepared for two', trace(holds(1, 'a1'), holds(2, 'a2')), twice],
  [
    'S8',
    'an order without a result between them releases nothing',
    trace(holds(1, 'a1'), noted(2), holds(2, 'a2')),
    twice,
  ],
  [
    'S8',
    'an operator has declared it clean',
    { ...of(board, deployable('d1', cleared)), ...trace(holds(1, 'a1'), holds(2, 'a2')) },
    [],
  ],
  [
    'S8',
    'or that it is clean, while its host has still to release it',
    { ...of(board, deployable('d1', { ...cleared, releasing: true })), ...trace(holds(1, 'a1'), holds(2, 'a2')) },
    twice,
  ],
  [
    'S8',
    'or another one',
    { ...of(board, deployable('d1', ofOther)), ...trace(holds(1, 'a1'), holds(2, 'a2')) },
    twice,
  ],
  [
    'S8',
    'or its host was to release it first',
    { ...of(board, deployable('d1', cleared, released())), ...trace(holds(1, 'a1'), holds(2, 'a2')) },
    twice,
  ],
]
