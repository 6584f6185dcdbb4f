/**
 * Every way in which a decision becomes rows, or does not: what the journal is asked, what the caller is answered, and
 * what is counted.
 */
import { expect, test } from 'vitest'
import { commit, counted as countedBy, type Work } from '../../src/actors/runtime/commit.ts'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import type { Event } from '../../src/actors/runtime/decider.ts'
import { MOVED } from '../../src/actors/runtime/draft.ts'
import { type AnyDecider, type Memory, unread } from '../../src/actors/runtime/memory.ts'
import type { Append, JournalRow, Verdict } from '../../src/actors/runtime/ports.ts'
import { systemClock } from '../../src/clock.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { counter, key } from './counters.ts'

const OWN = 'own command'
const memory = (more: Partial<Memory> = {}): Memory => ({
  key: key('a'),
  state: { count: 5 },
  version: 2,
  recent: ['one', 'two'],
  at: 1,
  ...more,
})
/** What another process wrote meanwhile. */
const row = (version: number, by: number, commandId = 'another'): JournalRow => ({
  key: key('a'),
  version,
  commandId,
  events: [{ type: 'Added', by } as Event],
  at: 1,
  cause: {},
})
type Script = {
  readonly by?: number
  readonly held?: Memory
  readonly verdicts?: readonly Verdict[]
  /** The rows that each read finds. */
  readonly tails?: readonly (readonly JournalRow[])[]
  readonly exclusive?: boolean
  readonly readFirst?: boolean
  readonly notAfter?: number
  readonly plan?: Work<unknown>['plan']
  /** A second participant, and how many rows the first read finds of it. */
  readonly beside?: Memory
}
const run = async ({
  by = 1,
  held = memory(),
  verdicts = [],
  tails = [],
  exclusive = true,
  readFirst = false,
  beside,
  ...more
}: Script) => {
  const counts = noCounts()
  const asked: string[] = []
  const [answers, found] = [[...verdicts], [...tails]]
  const store = {
    counts,
    exclusive,
    monotonic: () => 100,
    append: async ({ rows, notAfter }: Append): Promise<Verdict> => {
      asked.push(
        `append ${rows.map(({ version, commandId }) => `${version} ${commandId}`).join()}${notAfter === undefined ? '' : ` not after ${notAfter}`}`,
      )
      return answers.shift() ?? 'appended'
    },
    recall: async (wishes: readonly { readonly after: number }[]) => {
      asked.push(`read after ${wishes.map(({ after }) => after).join()}`)
      const rows = found.shift() ?? []
      return new Map([[key('a'), { snapshot: null, rows }]])
    },
  }
  const plan: Work<unknown>['plan'] = (draft) => {
    draft.decide(counter, key('a'), { type: 'Add', by })
    return draft.state(counter, key('a')).count
  }
  const { loan, outcome } = await commit(
    new Map([[key('a'), held], ...(beside ? ([[key('b'), beside]] as const) : [])]),
    () => counter as AnyDecider,
    store,
    { commandId: OWN, at: 1, cause: {}, plan, ...more },
    readFirst,
  )
  const { state, version, unread: isUnread } = loan.get(key('a'))!
  const counted = Object.fromEntries(
    Object.entries(counts).filter(([, count]) => typeof count === 'number' && count > 0),
  )
  return {
    asked,
    answer: outcome.ok ? outcome.value : outcome.fault,
    left: `${(state as { count: number }).count} at ${version}${isUnread ? ', unread' : ''}`,
    counted,
  }
}
const unavailable = (reason: string, retryAfterSeconds = 1) => ({ kind: 'unavailable', reason, retryAfterSeconds })
const SILENT = unavailable('the journal does not answer')
const FULL = unavailable('the journal cannot accept more at the moment')
const OVERTAKEN = unavailable('others keep changing what this would change')
const LOW = (count: number, by: number) => ({ kind: 'conflict', reason: `${count} and ${by}` })
const OTHER = memory({ key: key('b'), version: 9 })
/** Nothing of the second one is recorded. */
const HALF: Work<unknown>['plan'] = (draft) =>
  draft.decide(counter, key('a'), { type: 'Add', by: 1 }).length +
  draft.decide(counter, key('b'), { type: 'Add', by: 0 }).length
const WRITE = `append 3 ${OWN}`

test.each<[string, Script, readonly string[], unknown, string, object]>([
  ['is written', {}, [WRITE], 6, '6 at 3', { appends: 1 }],
  ['is written where others may write', { exclusive: false }, [WRITE], 6, '6 at 3', { appends: 1 }],
  [
    'is read first',
    { readFirst: true, tails: [[row(3, 10)]] },
    ['read after 2', `append 4 ${OWN}`],
    16,
    '16 at 4',
    { appends: 1 },
  ],
  ['changes nothing', { by: 0 }, [], 5, '5 at 2', {}],
  [
    'changes nothing where others may write',
    { by: 0, exclusive: false, tails: [[row(3, 1)]] },
    ['read after 2'],
    6,
    '6 at 3',
    {},
  ],
  [
    'changes nothing of a memory that was not read',
    { by: 0, held: unread(key('a'), counter), tails: [[row(1, 4)]] },
    ['read after 0'],
    4,
    '4 at 1',
    {},
  ],
  ['is refused', { by: -6 }, [], LOW(5, -6), '5 at 2', {}],
  [
    'is refused where others may write, and still',
    { by: -6, exclusive: false },
    ['read after 2'],
    LOW(5, -6),
    '5 at 2',
    { refusedAfterLook: 1 },
  ],
  [
    'is refused where others may write, and then no more',
    { by: -6, exclusive: false, tails: [[row(3, 1)]] },
    ['read after 2', `append 4 ${OWN}`],
    0,
    '0 at 4',
    { appends: 1, savedByLook: 1 },
  ],
  [
    'is fenced, and written then',
    { verdicts: ['stale'], tails: [[row(3, 1)]] },
    [WRITE, 'read after 2', `append 4 ${OWN}`],
    7,
    '7 at 4',
    { appends: 1, fences: 1, retries: 1 },
  ],
  [
    'is fenced, and refused then',
    { by: -5, verdicts: ['stale'], tails: [[row(3, -1)]] },
    [WRITE, 'read after 2'],
    LOW(4, -5),
    '4 at 3',
    { fences: 1, refusedAfterFence: 1 },
  ],
  [
    'was written before, as the journal says',
    { verdicts: ['seen'], tails: [[row(3, 1, OWN)]] },
    [WRITE, 'read after 2'],
    null,
    '6 at 3',
    {},
  ],
  ['was written before, as is remembered', { held: memory({ recent: [OWN] }) }, [], null, '5 at 2', {}],
  [
    'was written before, as is remembered and read',
    { held: memory({ recent: [OWN, 'x'] }), exclusive: false },
    ['read after 2'],
    null,
    '5 at 2',
    {},
  ],
  [
    'may be written, and is',
    { verdicts: ['unknown'], tails: [[row(3, 1, OWN)]] },
    [WRITE, 'read after 2'],
    6,
    '6 at 3',
    { unknown: 1 },
  ],
  [
    'may be written, and is not',
    { verdicts: ['unknown'], tails: [[row(3, 1)]] },
    [WRITE, 'read after 2'],
    SILENT,
    '6 at 3',
    { unknown: 1 },
  ],
  ['finds the journal busy', { verdicts: ['busy'] }, [WRITE], FULL, '5 at 2', {}],
  [
    'breaks a rule of the views',
    { verdicts: [{ conflict: 'name' }] },
    [WRITE],
    { kind: 'conflict', reason: 'name' },
    '5 at 2',
    {},
  ],
  ['finds writing stopped', { verdicts: [{ stopped: 'adopt' }] }, [WRITE], unavailable('adopt', 5), '5 at 2', {}],
  [
    'is taken by no store',
    { verdicts: [{ refused: { kind: 'broken', reason: 'x' } }] },
    [WRITE],
    { kind: 'broken', reason: 'x' },
    '5 at 2',
    {},
  ],
  ['comes in time', { notAfter: 100.5 }, [`${WRITE} not after 100.5`], 6, '6 at 3', { appends: 1 }],
  ['comes at the very moment', { notAfter: 100 }, [], SILENT, '5 at 2', {}],
  ['comes too late', { notAfter: 99 }, [], SILENT, '5 at 2', {}],
  ['changes nothing, too late', { by: 0, notAfter: 99 }, [], 5, '5 at 2', {}],
  [
    'is fenced until it is given up',
    { verdicts: Array<Verdict>(41).fill('stale') },
    Array.from({ length: 40 }, () => [WRITE, 'read after 2']).flat(),
    OVERTAKEN,
    '5 at 2',
    { fences: 40, givenUp: 1 },
  ],
  [
    'is read first, and others may write',
    { by: -6, exclusive: false, readFirst: true },
    ['read after 2'],
    LOW(5, -6),
    '5 at 2',
    {},
  ],
  [
    'was written before, of which nothing is found',
    { verdicts: ['seen'] },
    [WRITE, 'read after 2'],
    null,
    '5 at 2',
    {},
  ],
  ['decides nothing', { plan: () => 7 }, [], 7, '5 at 2', {}],
  ['decides nothing where others may write', { plan: () => 7, exclusive: false }, ['read after 2'], 7, '5 at 2', {}],
  ['has a participant that it leaves alone', { beside: OTHER }, [WRITE], 6, '6 at 3', { appends: 1 }],
  [
    'has one that it leaves alone where others may write',
    { beside: OTHER, exclusive: false },
    [WRITE],
    6,
    '6 at 3',
    { appends: 1 },
  ],
  [
    'changes one of two where others may write',
    { plan: HALF, beside: OTHER, exclusive: false },
    ['read after 2,9', WRITE],
    1,
    '6 at 3',
    { appends: 1 },
  ],
  [
    'has a participant that was not read',
    { by: -6, beside: { ...OTHER, unread: true } },
    ['read after 2,9'],
    LOW(5, -6),
    '5 at 2',
    { refusedAfterLook: 1 },
  ],
  ['was carried out by one of two', { beside: { ...OTHER, recent: [OWN] } }, [], null, '5 at 2', {}],
  ['needs others', { plan: () => MOVED }, [], MOVED, '5 at 2', {}],
  [
    'needs others, where others may write',
    { plan: () => MOVED, exclusive: false },
    ['read after 2'],
    MOVED,
    '5 at 2',
    {},
  ],
])('a decision that %s', async (_, script, asked, answer, left, counted) => {
  expect(await run(script)).toEqual({ asked, answer, left, counted })
})
test('whether others may write is asked each time', () => {
  const store = { ...memoryStore().journal, exclusive: true, incarnation: 3 }
  const marks = {} as never
  const journal = countedBy(store, noCounts(), systemClock, marks)
  expect([journal.exclusive, journal.incarnation, journal.marks]).toEqual([true, 3, marks])
  Object.assign(store, { exclusive: false, incarnation: undefined })
  expect([journal.exclusive, journal.incarnation]).toEqual([false, 0])
})
test('a bug in a plan is thrown', async () => {
  const plan = () => {
    throw new Error('a bug')
  }
  await expect(run({ plan })).rejects.toThrow('a bug')
})
