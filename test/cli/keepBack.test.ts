/** `migrate --adopt`: what is told of each deployable, each handle and each host, and what keeps writing stopped. */
import { expect, test } from 'vitest'
import type { Caller } from '../../src/actors/control.ts'
import { adoptAll, showLost, showStopped } from '../../src/cli/store/adopt.ts'
import { keepBack } from '../../src/cli/store/keepBack.ts'
import { done, refuse } from '../../src/fault.ts'
import type { Adopted, Adoption, Adoptions } from '../../src/services/deployables/adoption.ts'

const ROWS = [{ key: 'deployable/d1', events: [], command: 'c1' }]
const kept = async (
  deployables: readonly Adopted[],
  placement: Adoptions['placement'] = { compared: 0, failed: [] },
) => {
  const [lines, asked]: [string[], unknown[]] = [[], []]
  const adopt: Adoption = async (...given) => {
    asked.push(given)
    return done({ deployables, placement })
  }
  return { failed: await keepBack(adopt, ROWS, (line) => void lines.push(line)), lines, asked }
}
const adopted = (more: Partial<Adopted & { fault: null }> = {}): Adopted => ({
  deployable: 'd1',
  fault: null,
  raisedTo: null,
  withheld: [],
  ...more,
})

test('the rows are adopted in the name of the command, with a reason for what is withheld', async () => {
  const [[caller, rows, note]] = (await kept([])).asked as [[Caller, unknown, unknown]]
  expect({ ...caller, requestId: caller.requestId.replace(/[0-9a-f-]{36}$/, 'UUID') }).toEqual({
    userId: 'migrate --adopt',
    projectId: 'operators',
    isAdmin: true,
    isService: false,
    requestId: 'req-UUID',
  })
  expect(rows).toBe(ROWS)
  expect(note).toEqual({
    by: 'migrate --adopt',
    reason:
      'a journal row that the database has lost names it: it may be in use. Release it when its host shows that it is not',
  })
})
test('handles are told as withheld, or as in use by the request that holds them', async () => {
  const withheld = [
    { handle: 'k1', host: 'h1', state: 'quarantined', arq: null },
    { handle: 'k2', host: 'h2', state: 'held', arq: 'q2' },
  ] as const
  expect(await kept([adopted({ raisedTo: 0, withheld }), adopted({ deployable: 'd2' })])).toMatchObject({
    failed: [],
    lines: [
      'raised  the next order of deployable d1 has a number above 0',
      'quarantined handle k1 of host h1',
      'in use  handle k2 of host h2 is held by ARQ q2, and a lost row names it: another guest may use it. ' +
        'When that ARQ gives it up, it is quarantined, and its host is not told to release it',
    ],
  })
})
test('a deployable that is gone is told, and one that cannot be adopted is a reason to stay stopped', async () => {
  const gone = { deployable: 'd1', fault: { kind: 'not_found', what: 'deployable', id: 'd1' } } as never
  const away = { deployable: 'd2', fault: { kind: 'unavailable', reason: 'away', retryAfterSeconds: 5 } } as const
  expect(await kept([gone, away])).toMatchObject({
    lines: ['gone    deployable d1 is not in the journal any more: its host reports it again, with new handles'],
    failed: ['deployable d2 could not be adopted: {"kind":"unavailable","reason":"away","retryAfterSeconds":5}'],
  })
})
test('the hosts that are compared with Placement are counted, and those that could not be are named', async () => {
  const compared = (count: number) => `compare ${count} with Placement, which may show what only lost rows said`
  const of = async (placement: Adoptions['placement']) => (await kept([], placement)).lines
  expect(await of({ compared: 0, failed: [] })).toEqual([])
  expect(await of({ compared: 1, failed: [] })).toEqual([compared(1).replace('1', '1 host')])
  expect(await of({ compared: 2, failed: [] })).toEqual([compared(2).replace('2', '2 hosts')])
  const fault = { kind: 'unavailable', reason: 'away', retryAfterSeconds: 5 } as const
  const failed = [
    { host: 'h1', fault },
    { host: null, fault },
  ]
  const why =
    'with Placement yourself (accelerando drift heal --apply): {"kind":"unavailable","reason":"away","retryAfterSeconds":5}'
  const { lines, failed: reasons } = await kept([], { compared: 0, failed })
  expect(lines).toEqual([`compare h1 ${why}`, `compare the hosts ${why}`])
  expect(reasons).toEqual([])
})
test('rows that cannot be read keep writing stopped', async () => {
  const adopt: Adoption = async () => refuse({ kind: 'unavailable', reason: 'away', retryAfterSeconds: 5 })
  const lines: string[] = []
  expect(await keepBack(adopt, ROWS, (line) => void lines.push(line))).toEqual([
    'the lost rows could not be adopted: {"kind":"unavailable","reason":"away","retryAfterSeconds":5}',
  ])
  expect(lines).toEqual([])
})

test('lost rows are shown with their moment, their entity and their events, below the reason of the stop', () => {
  const lost = [
    { key: 'arq/q1', version: 3, events: [{ type: 'BindStarted' }, { type: 'Bound' }], at: Date.UTC(2026, 0, 2) },
    { key: 'host/h1', version: 1, events: [{ type: 'Seen' }], at: Date.UTC(2026, 0, 3) },
  ] as never[]
  const lines: string[] = []
  showLost(lost, (line) => void lines.push(line))
  expect(lines).toEqual([
    'lost    2026-01-02T00:00:00.000Z arq/q1 version 3: BindStarted, Bound',
    'lost    2026-01-03T00:00:00.000Z host/h1 version 1: Seen',
  ])
  const shown: string[] = []
  const stopped = { reason: 'rows are lost', since: new Date(Date.UTC(2026, 0, 4)), lost } as never
  showStopped(stopped, (line) => void shown.push(line))
  expect(shown).toEqual([
    'stopped since 2026-01-04T00:00:00.000Z: rows are lost',
    ...lines,
    expect.stringMatching(
      /^listed {2}2 rows\. Each control that runs looks for the last \d+ rows that it wrote or read; what only a control knew that has ended is among them if it was published, and --from-topics was given$/,
    ),
  ])
})

const stoppedFor = (reason: string) => ({ reason, since: new Date(0), lost: [] })
/** `found`: what each look finds after the stop could not be ended; without more, it can. */
const adoptedAll = async (found: readonly (ReturnType<typeof stoppedFor> | null)[], failed: readonly string[] = []) => {
  const [done, left]: [string[], (typeof found)[number][]] = [[], [...found]]
  const work = {
    keepBack: async ({ reason }: { readonly reason: string }) => (done.push(`withheld ${reason}`), failed),
    end: async ({ reason }: { readonly reason: string }) => (done.push(`ended ${reason}`), left.length === 0),
    look: async () => left.shift() ?? null,
  }
  const error = await adoptAll(stoppedFor('first'), work, (line) => void done.push(line)).catch(String)
  return { done, error }
}
const ADOPTED = 'adopted what the database holds: the controls write again'
const since = (reason: string) => [
  `stopped since ${new Date(0).toISOString()}: ${reason}`,
  expect.stringMatching(/^listed {2}0 rows\. /),
  ...[`withheld ${reason}`, `ended ${reason}`],
]
test('rows that are found meanwhile are shown and withheld as well, before controls write again', async () => {
  expect(await adoptedAll([])).toEqual({ done: [...since('first'), ADOPTED], error: undefined })
  expect(await adoptedAll([stoppedFor('second')])).toEqual({
    done: [...since('first'), ...since('second'), ADOPTED],
    error: undefined,
  })
})
test('a stop that somebody else has ended needs no other round', async () => {
  expect(await adoptedAll([null])).toEqual({ done: [...since('first'), ADOPTED], error: undefined })
})
test('what cannot be withheld keeps writing stopped, with each reason', async () => {
  expect(await adoptedAll([], ['no host', 'no row'])).toEqual({
    done: since('first').slice(0, 3),
    error: 'Error: writing stays stopped:\nno host\nno row',
  })
})
test('controls that find rows without an end are waited for ten times', async () => {
  const { done, error } = await adoptedAll(Array.from({ length: 11 }, () => stoppedFor('first')))
  expect(error).toBe('Error: writing stays stopped: controls keep finding lost rows; run it again')
  expect(done).toEqual(Array.from({ length: 10 }, () => since('first')).flat())
})
