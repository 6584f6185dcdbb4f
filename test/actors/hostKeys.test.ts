/** What is decided of the keys of hosts and of questions to them. */
import { describe, expect, it } from 'vitest'
import type { Fact } from '../audit/cases/scene.ts'
import { type Case, deciding } from './decided.ts'

const { decide } = deciding('host')
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
    ['is asked again after ten seconds', [picture(), asked], ask(12_000), [asks]],
    ['is not asked again before', [picture(), asked], ask(8_400), soon(6, 4)],
    [
      'is not asked again where the clock of the control that asked is ahead (PROBING-1)',
      [picture(), asked],
      ask(1000),
      {
        kind: 'crowded',
        reason: 'host h1 was asked by a control whose clock is 1 s ahead, and is asked once in 10 s at most',
        retryAfterSeconds: 10,
      },
    ],
    ['is asked again where that clock was more than an hour ahead', [picture(), asked], ask(1999 - HOUR), [asks]],
    ['is answered', [picture(), asked], take('q1'), [answered]],
    ['is answered once', [picture(), asked, answered], take('q1'), []],
    ['is not answered by an answer to another one', [picture(), asked], take('q0'), []],
    ['is not answered where none was asked', [picture()], take('q1'), []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
})
