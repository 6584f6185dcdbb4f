/** Keys of hosts and questions to them: what is believed, decided, remembered and shown, to the letter. */
import { describe, expect, it } from 'vitest'
import { host } from '../../src/actors/host/decider.ts'
import { ENROLLMENTS, judgeSigner } from '../../src/actors/host/enrollment.ts'
import { openQuestion } from '../../src/actors/host/probing.ts'
import type { Fact } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after, decide, rows } = exactly(host)
type Case = readonly [string, readonly Fact[], Fact, unknown]
const HOUR = 3_600_000
const WORD = { by: 'op', reason: 'r' }
const picture = (more: object = {}): Fact => ({
  type: 'PictureRecorded',
  name: 'h1',
  picture: { bootId: 'b1', bootNumber: 4, number: 1, digest: 'd', aliases: [], drivers: {}, ...more },
  devices: {},
})
const said = (more: object, liveness = 'up'): Fact => ({ type: 'LivenessSet', liveness, by: 'op', ...more })
const key = (did: string, of: string | null = 'k1'): Fact => said({ key: { did, name: 'h1', key: of } })
const byHost = (did: string, of = 'k1'): Fact => ({ ...key(did, of), by: 'host h1' })
const removed = said({ care: 'removed', reason: 'r' }, 'removed')
const present = (enrollment: string, of = 'k1', at = HOUR): Fact => ({
  type: 'PresentKey',
  name: 'h1',
  key: of,
  enrollment,
  at,
})
const approve = (named: string | null): Fact => ({ type: 'ApproveKey', name: 'h1', named, ...WORD })
const replace = (named: string | null): Fact => ({ type: 'ReplaceKey', name: 'h1', named, ...WORD })
const conflict = (reason: string) => ({ kind: 'conflict', reason })
const NAME_IT = 'no key of host h1 waits for approval: name the key, or wait for its report'

describe('the key of a host', () => {
  it.each<Case>([
    ['is accepted with its first use', [], present('first-use'), [byHost('pinned')]],
    ['waits for an operator', [], present('approve'), [byHost('offered')]],
    ['is recorded once', [key('offered')], present('approve', 'k1', 9 * HOUR), []],
    [
      'is followed by another one that waits after an hour',
      [key('offered')],
      present('approve', 'k2', 1000 + HOUR),
      [byHost('offered', 'k2')],
    ],
    ['is not followed earlier', [key('offered')], present('approve', 'k2', 999 + HOUR), []],
    ['that waits is accepted with first-use', [key('offered')], present('first-use'), [byHost('pinned')]],
    ['is not presented where one is known', [key('pinned')], present('first-use', 'k2'), []],
    ['of a removed host that was never recorded changes nothing', [removed], present('first-use'), []],
    [
      'of a removed host that was recorded is noted',
      [picture(), removed],
      present('first-use'),
      [{ ...byHost('pinned'), liveness: 'removed' }],
    ],
    [
      'is noted with the liveness that the host has',
      [picture(), said({}, 'stale')],
      present('first-use'),
      [{ ...byHost('pinned'), liveness: 'stale' }],
    ],
    [
      'of a removed host that was never recorded is still approved by an operator',
      [removed],
      approve('k1'),
      [{ ...key('approved'), ...WORD, liveness: 'removed' }],
    ],
    ['is approved as it waits', [key('offered')], approve(null), [{ ...key('approved'), ...WORD }]],
    ['is approved by its name', [key('offered')], approve('k1'), [{ ...key('approved'), ...WORD }]],
    ['is approved before it is presented', [], approve('k7'), [{ ...key('approved', 'k7'), ...WORD }]],
    ['is not approved where none waits', [], approve(null), conflict(NAME_IT)],
    [
      'is not approved instead of another one that waits',
      [key('offered')],
      approve('k2'),
      conflict('the key of host h1 that waits is k1, not k2'),
    ],
    ['is approved once', [key('approved')], approve(null), []],
    ['is approved once by its name', [key('approved')], approve('k1'), []],
    [
      'is not approved instead of a known one',
      [key('approved')],
      approve('k2'),
      conflict('host h1 signs with key k1 already: accelerando host rekey replaces it'),
    ],
    ['is replaced', [key('pinned'), picture()], replace('k2'), [{ ...key('replaced', 'k2'), ...WORD }]],
    ['is forgotten', [key('pinned'), picture()], replace(null), [{ ...key('replaced', null), ...WORD }]],
    ['is replaced once', [key('pinned'), picture()], replace('k1'), []],
    ['is not forgotten where none is known', [picture()], replace(null), []],
    [
      'of a host that nobody knows is not replaced',
      [key('pinned')],
      replace('k2'),
      { kind: 'not_found', resource: 'host', id: 'h1' },
    ],
    ['is replaced where only a key waits', [key('offered')], replace('k2'), [{ ...key('replaced', 'k2'), ...WORD }]],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toStrictEqual(decision))

  it.each<[string, readonly Fact[], object]>([
    ['pinned, and the host not yet visible', [key('pinned')], { keys: { key: 'k1' }, name: '', createdAt: 0 }],
    [
      'offered, and the host visible',
      [key('offered')],
      { keys: { offered: { key: 'k1', at: 1000 } }, name: 'h1', createdAt: 1000 },
    ],
    [
      'approved later, and the host visible since it was offered',
      [key('offered'), key('approved')],
      { keys: { key: 'k1' }, name: 'h1', createdAt: 1000 },
    ],
    [
      'replaced',
      [picture(), key('pinned'), key('replaced', 'k2')],
      { keys: { key: 'k2' }, name: 'h1', createdAt: 1000 },
    ],
    ['forgotten', [picture(), key('pinned'), key('replaced', null)], { keys: {}, name: 'h1', createdAt: 1000 }],
  ])('is remembered as %s', (_, facts, wanted) => {
    const { keys, name, createdAt } = after(...facts)
    expect({ keys, name, createdAt }).toEqual(wanted)
  })
  it('shows a host that waits for an operator as pending, and one that is accepted at once not yet', () => {
    const row = {
      name: 'h1',
      liveness: 'pending',
      out_of_service: null,
      boot_id: null,
      drivers: {},
      aliases: [],
      created_at: 1000,
      updated_at: 1000,
    }
    expect(rows(key('offered'))).toEqual([{ view: 'hosts', key: 'h1', row }])
    expect(rows(key('pinned'))).toEqual([])
    const gone = { ...row, liveness: 'removed', updated_at: 2000 }
    expect(rows(key('offered'), removed)).toEqual([{ view: 'hosts', key: 'h1', row: gone }])
  })
})

describe('a report', () => {
  const [own, none] = [{ key: 'k1' }, {}]
  const unsigned = { refusal: 'unsigned', rule: 'host h1 signs with key k1, and this is not signed' }
  const foreign = {
    refusal: 'foreign_key',
    rule: 'host h1 signs with key k1, and this is signed with key k2; if the host has a new key, an operator says so: accelerando host rekey',
  }
  it.each([
    ['signed with the key of its host', own, 'k1', 'believed', 'believed'],
    ['that is not signed, of a host with a key', own, null, unsigned, unsigned],
    ['signed with another key', own, 'k2', foreign, foreign],
    ['signed, of a host without a key', none, 'k1', 'present', 'present'],
    [
      'that is not signed, of a host without a key',
      none,
      null,
      'believed',
      { refusal: 'not_approved', rule: 'host h1 has no approved key, and this is not signed' },
    ],
  ] as const)('%s is judged by the way of enrollment', (_, keys, signer, firstUse, approving) =>
    expect(ENROLLMENTS.map((way) => judgeSigner('h1', keys, signer, way))).toEqual([firstUse, approving]),
  )
})

describe('a question to a host', () => {
  const asked = said({ probe: { did: 'asked', id: 'q1', bootId: 'b1' } })
  const answer = { id: 'q1', number: 7, devices: 2, failed: ['f'] }
  const answered = said({ probe: { did: 'answered', ...answer } })
  const ask = (at: number): Fact => ({ type: 'AskReport', id: 'q2', at, by: 'op' })
  const asks = said({ probe: { did: 'asked', id: 'q2', bootId: 'b1' } })
  const take = (id: string): Fact => ({ type: 'TakeAnswer', by: 'op', ...answer, id })
  const untaken = (name: string) => conflict(`host ${name} is not asked, since its reports are not taken`)
  const soon = (seconds: number, retryAfterSeconds: number) => ({
    kind: 'crowded',
    reason: `host h1 was asked ${seconds} s ago, and is asked once in 10 s at most`,
    retryAfterSeconds,
  })
  it.each<Case>([
    ['is asked', [picture()], ask(5), [asks]],
    ['is asked with the liveness that it has', [picture(), said({}, 'down')], ask(5), [{ ...asks, liveness: 'down' }]],
    ['is not asked before it has reported', [], ask(5), untaken('')],
    ['is not asked while only its key is known', [key('offered')], ask(5), untaken('h1')],
    ['is not asked when it is removed', [picture(), removed], ask(5), untaken('h1')],
    [
      'is not asked of an old release',
      [picture({ bootNumber: undefined })],
      ask(5),
      conflict('host h1 runs a release up to 0.2.0, which cannot be asked'),
    ],
    ['is asked again after ten seconds', [picture(), asked], ask(12_000), [asks]],
    ['is not asked again before', [picture(), asked], ask(8_400), soon(6, 4)],
    ['is answered', [picture(), asked], take('q1'), [answered]],
    ['is answered once', [picture(), asked, answered], take('q1'), []],
    ['is not answered by an answer to another one', [picture(), asked], take('q0'), []],
    ['is not answered where none was asked', [picture()], take('q1'), []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
  it('is remembered with who asked it, and with its answer', () => {
    const probe = { id: 'q1', by: 'op', at: 2000, bootId: 'b1', answer: null }
    expect(after(picture(), asked).probe).toEqual(probe)
    const { id: _, ...told } = answer
    expect(after(picture(), asked, answered).probe).toEqual({ ...probe, answer: { ...told, at: 3000 } })
  })
  it('is open for the start of the host that was asked, until it is answered', () => {
    const open = (...facts: readonly Fact[]) => openQuestion(after(...facts))?.id ?? null
    expect(open(picture(), asked)).toBe('q1')
    expect(open(picture(), asked, answered)).toBe(null)
    expect(open(picture(), asked, picture({ bootId: 'b2' }))).toBe(null)
    expect(open(picture(), asked, removed)).toBe(null)
    const early = said({ probe: { did: 'asked', id: 'q1', bootId: '' } })
    expect([open(picture()), open(asked), open(early)]).toEqual([null, null, null])
  })
})
