/** The judge of the kill test finds each error that is planted in an account. */
import { expect, test } from 'vitest'
import { type Account, type Life, type Seen, newAccount } from './account.ts'
import { RULES, judge } from './judge.ts'

const HANDLE = '[["bus","00"],["device","01"],["domain","acc0"],["function","0"]]'
const info = Object.fromEntries(JSON.parse(HANDLE) as [string, string][])

const lifeOf = (name: string, more: Partial<Life> = {}, end: Partial<Seen> = {}): Life => ({
  instance: `instance-${name}`,
  host: 'sim-1',
  deployable: 'd',
  hostWork: true,
  arqs: [name],
  askedAt: 990,
  createdAt: 1000,
  bindSentAt: 1010,
  acceptedAt: 1020,
  acceptedBy: '202',
  seen: new Map([[name, { state: 'Bound', at: 2000, handle: HANDLE, ...end }]]),
  leaveSentAt: null,
  leftAt: null,
  refused: false,
  kept: false,
  ...more,
})
const heardOf = (arq: string, status = 'completed') => ({
  at: 2100,
  arq,
  instance: `instance-${arq}`,
  status,
})
const listedOf = (uuid: string, more: object = {}) => ({
  uuid,
  state: 'Bound',
  hostname: 'sim-1',
  instance_uuid: `instance-${uuid}`,
  attach_handle_info: info,
  ...more,
})

/** `a` was bound from 2000 to 3000 and deleted; `b` got its handle afterwards and has it still. */
const sound = (): Account => ({
  ...newAccount(10_000),
  lives: [lifeOf('a', { leaveSentAt: 3000, leftAt: 3050 }), lifeOf('b', {}, { at: 3100 })],
  heard: [heardOf('a'), heardOf('b')],
  delivered: new Set(['a', 'b']),
  served: [{ from: 0, to: 60_000 }],
  listedAtEnd: [listedOf('b')],
})
const changed = (change: Partial<Account>): Account => ({ ...sound(), ...change })
const [gone, held] = sound().lives as [Life, Life]

test('finds nothing in a sound account', () => expect(judge(sound())).toEqual([]))

const never = lifeOf('b', { seen: new Map() })
const two = (one: Seen['state'], other: Seen['state']) =>
  lifeOf('b', {
    arqs: ['b', 'c'],
    seen: new Map([
      ['b', { state: one, at: 3100, handle: one === 'Bound' ? HANDLE : null }],
      ['c', { state: other, at: 3100, handle: null }],
    ]),
  })

const disputed = { life: held, said: 'it was there' }
/** The database declares that it has lost requests of `b`. */
const lost = (change: Partial<Account>): Account => changed({ lost: new Map([['b', 5000]]), ...change })

const PLANTED: readonly (readonly [keyof typeof RULES, string, Account])[] = [
  ['every accepted bind ends in time', 'one that never ended', changed({ lives: [gone, never] })],
  [
    'every accepted bind ends in time',
    'one that ended late',
    changed({ lives: [gone, lifeOf('b', {}, { at: 20_000 })] }),
  ],
  [
    'the ARQs of a bind end alike',
    'one Bound and one BindFailed',
    changed({ lives: [gone, two('Bound', 'BindFailed')] }),
  ],
  ['no handle is given twice', 'a second holder', changed({ lives: [gone, lifeOf('b', {}, { at: 2900 })] })],
  ['Nova hears every end', 'an end that was not told', changed({ delivered: new Set(['a']) })],
  ['Nova hears every end', 'an end told wrongly', changed({ heard: [heardOf('a'), heardOf('b', 'failed')] })],
  ['nothing that was accepted is lost', 'a bound ARQ that is gone', changed({ listedAtEnd: [] })],
  [
    'nothing that was accepted is lost',
    'a deleted ARQ that is back',
    changed({ listedAtEnd: [listedOf('a', { attach_handle_info: {} }), listedOf('b')] }),
  ],
  [
    'nothing that was accepted is lost',
    'another handle',
    changed({ listedAtEnd: [listedOf('b', { attach_handle_info: { ...info, bus: '01' } })] }),
  ],
  [
    'nothing appears that nobody asked for',
    'more ARQs than POSTs without an answer',
    changed({ listedAtEnd: [listedOf('b'), listedOf('x', { state: 'Initial', attach_handle_info: {} })] }),
  ],
  ['no handle is listed twice', 'two holders in the list', changed({ listedAtEnd: [listedOf('b'), listedOf('b2')] })],
  ['no answer contradicts one before', 'what the client itself met', changed({ contradictions: ['it was there'] })],
  ['no answer contradicts one before', 'what it met of an instance', changed({ disputed: [disputed] })],
  [
    'no answer contradicts one before',
    'that, when only others have lost requests',
    changed({ disputed: [disputed], lost: new Map([['instance-a', 5000]]) }),
  ],
  ['no handle is given twice', 'the handle of a lost bind', lost({ lives: [gone, lifeOf('b', {}, { at: 2900 })] })],
  ['nothing that was accepted is lost', 'a lost instance that was not ended', lost({ listedAtEnd: [] })],
  ['only what came before a loss is lost', 'one that began after it', changed({ lost: new Map([['b', 989]]) })],
]

test.each(PLANTED)('"%s" finds %s', (rule, _, account) => {
  expect(judge(account).map((found) => found.split(':')[0])).toContain(rule)
})

test('every rule has been seen to bite', () => {
  expect(new Set(PLANTED.map(([rule]) => rule))).toEqual(new Set(Object.keys(RULES)))
})

test('time in which the program was dead is not counted against it', () => {
  const late = changed({
    lives: [gone, lifeOf('b', {}, { at: 40_000 })],
    served: [
      { from: 0, to: 5000 },
      { from: 39_000, to: 60_000 },
    ],
  })
  expect(judge(late)).toEqual([])
  expect(held.seen.get('b')?.at).toBe(3100)
})

const EXPLAINED: readonly (readonly [keyof typeof RULES, string, Partial<Account>])[] = [
  ['no answer contradicts one before', 'what the client met of them', { disputed: [disputed] }],
  ['every accepted bind ends in time', 'a bind that never ended', { lives: [gone, never] }],
  ['the ARQs of a bind end alike', 'ARQs that ended differently', { lives: [gone, two('Bound', 'BindFailed')] }],
  ['Nova hears every end', 'an end that Nova did not hear', { delivered: new Set(['a']) }],
]
test.each(EXPLAINED)('"%s": requests that the database declares lost explain %s', (rule, _, change) => {
  const rules = (account: Account) => judge(account).map((found) => found.split(':')[0])
  expect(rules(changed(change))).toContain(rule)
  expect(rules(lost(change))).not.toContain(rule)
})

test('an end that is recorded as undeliverable need not have reached Nova', () => {
  expect(judge(changed({ delivered: new Set(['a']), undeliverable: new Set(['b']) }))).toEqual([])
})

test('a POST whose answer never came may have left ARQs', () => {
  const left = [listedOf('b'), listedOf('x', { state: 'Initial', attach_handle_info: {} })]
  expect(judge(changed({ lostPosts: 1, listedAtEnd: left }))).toEqual([])
})
