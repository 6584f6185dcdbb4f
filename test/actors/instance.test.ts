import { describe, expect, it } from 'vitest'
import { type Said, specOf } from '../spec.ts'
import { ARQ, id, OTHER, REQUEST } from './samples.ts'

const { given, due, decide } = specOf('instance', 10)
const INSTANCE = id(0xc2)
const part = (arq: string, prepared = false) => ({ arq, deployable: id(0xd1), prepared })
const terms = { instance: INSTANCE, hostname: 'node-1', deadline: 5000, tellUntil: 9000, requestId: REQUEST }
const bind = (...parts: readonly object[]): Said => ({ ...terms, type: 'Bind', at: 10, parts })
const accepted = (...parts: readonly object[]): Said => ({ ...terms, type: 'BindAccepted', parts })
const settled = (
  outcome: string,
  arqs: readonly string[],
  tell: number | null = 10,
  reason: string | null = null,
): Said => ({
  type: 'BindSettled',
  outcome,
  arqs,
  reason,
  tell,
  since: 10,
})
const novaTold = (endings: Record<string, string>, nextAt = 700): Said => ({
  type: 'NovaTold',
  endings,
  nextAt,
  note: null,
})
const two = [accepted(part(ARQ), part(OTHER))] as const
const prepared = (arq: string): Said => ({ type: 'PartPrepared', arq })
const left = (...arqs: readonly string[]): Said => ({ type: 'ArqsLeft', arqs })

describe('a bind conversation', () => {
  it('is accepted with all its parts and waits for the hosts, until its deadline', () => {
    given()
      .when(bind(part(ARQ), part(OTHER)))
      .follows(accepted(part(ARQ), part(OTHER)))
    expect(due(...two)).toMatchObject({ at: 5000 })
  })
  it('settles with its acceptance when no host has anything to do', () => {
    given()
      .when(bind(part(ARQ, true)))
      .follows(accepted(part(ARQ, true)), settled('completed', [ARQ]))
  })
  it('is refused while the instance has accelerator requests, bound, binding or failed', () => {
    given(...two)
      .when(bind(part(id(9))))
      .isRefused({ kind: 'invalid', field: 'instance_uuid' })
    given(...two, settled('failed', [ARQ, OTHER]))
      .when(bind(part(id(9))))
      .isRefused({ kind: 'invalid' })
  })
  it('settles when the last part is prepared', () => {
    given(...two)
      .when({ type: 'ReportPrepared', arq: ARQ, at: 20 })
      .follows(prepared(ARQ))
    given(...two, prepared(ARQ))
      .when({ type: 'ReportPrepared', arq: OTHER, at: 20 })
      .follows(prepared(OTHER), settled('completed', [ARQ, OTHER], 20))
  })
  it('hears of a part once, and of no part that is not its own', () => {
    given(...two, prepared(ARQ))
      .when({ type: 'ReportPrepared', arq: ARQ, at: 20 })
      .follows()
    given(...two)
      .when({ type: 'ReportPrepared', arq: id(9), at: 20 })
      .follows()
  })
  it('fails as a whole when one part fails (S16)', () => {
    given(...two, prepared(ARQ))
      .when({ type: 'Fail', reason: 'no', at: 20 })
      .follows(settled('failed', [ARQ, OTHER], 20, 'no'))
  })
  it('that has settled changes by no late result', () => {
    const over = given(...two, settled('failed', [ARQ, OTHER]))
    over.when({ type: 'ReportPrepared', arq: ARQ, at: 20 }).follows()
    over.when({ type: 'Fail', reason: 'no', at: 20 }).follows()
    over.when({ type: 'Conclude', at: 9000 }).follows()
  })
  it('fails at its deadline and not before', () => {
    given(...two)
      .when({ type: 'Conclude', at: 4999 })
      .follows()
    given(...two)
      .when({ type: 'Conclude', at: 5000 })
      .follows(settled('failed', [ARQ, OTHER], 5000, 'the host did not answer in time'))
  })
  it('is done when the last part that was not prepared has left it', () => {
    const rest = given(...two, prepared(ARQ), left(OTHER))
    expect(due(...two, prepared(ARQ), left(OTHER))).toMatchObject({ at: 0 })
    rest.when({ type: 'Conclude', at: 30 }).follows(settled('completed', [ARQ], 30))
  })
  it('is over when all have left it, and the instance can be bound anew', () => {
    given(...two)
      .when({ type: 'Leave', arqs: [ARQ, OTHER, id(9)] })
      .follows(left(ARQ, OTHER))
    given(...two)
      .when({ type: 'Leave', arqs: [id(9)] })
      .follows()
    const empty = given(...two, left(ARQ, OTHER))
    expect(due(...two, left(ARQ, OTHER))).toBe(null)
    empty.when(bind(part(id(9)))).follows(accepted(part(id(9))))
  })
})

describe('what Nova has to hear', () => {
  const bound = [accepted(part(ARQ, true)), settled('completed', [ARQ])] as const
  it('is due at once, and for each request that has settled', () => {
    expect(given(...bound).state.telling).toMatchObject({
      statuses: { [ARQ]: 'completed' },
      nextAt: 10,
      until: 9000,
      attempts: 0,
    })
    expect(due(...bound)).toMatchObject({ at: 10 })
  })
  it('is nothing where no Nova is configured', () => {
    const silent: Said = { ...terms, type: 'BindAccepted', parts: [part(ARQ, true)], tellUntil: null }
    expect(given(silent, settled('completed', [ARQ], null)).state.telling).toBe(null)
    given()
      .when({ ...bind(part(ARQ, true)), tellUntil: null } as Said)
      .follows(silent, settled('completed', [ARQ], null))
  })
  it('is forgotten when it has ended, element by element', () => {
    const both = [...two, settled('failed', [ARQ, OTHER])]
    given(...both)
      .when({ type: 'ReportTold', endings: { [ARQ]: 'delivered' }, nextAt: 700, note: null, upTo: 1 })
      .follows(novaTold({ [ARQ]: 'delivered' }))
    expect(given(...both, novaTold({ [ARQ]: 'delivered' })).state.telling).toMatchObject({
      statuses: { [OTHER]: 'failed' },
      nextAt: 700,
      attempts: 1,
    })
    expect(given(...both, novaTold({ [ARQ]: 'gone', [OTHER]: 'refused' })).state.telling).toBe(null)
  })
  it('stays to be told when the request has left the instance', () => {
    expect(given(...bound, left(ARQ)).state.telling).toMatchObject({ statuses: { [ARQ]: 'completed' } })
  })
  it('of an earlier conversation stays to be told with that of a later one', () => {
    const later = given(...bound, left(ARQ), accepted(part(OTHER, true)), settled('completed', [OTHER], 50))
    expect(later.state.telling).toMatchObject({ statuses: { [ARQ]: 'completed', [OTHER]: 'completed' }, nextAt: 50 })
  })
  it('is not forgotten by the ending of what was told before it settled (L2)', () => {
    const failedFirst = [accepted(part(ARQ)), settled('failed', [ARQ]), left(ARQ)] as const
    const again = given(...failedFirst, accepted(part(ARQ, true)), settled('completed', [ARQ], 50))
    const ending = { type: 'ReportTold', endings: { [ARQ]: 'delivered' }, nextAt: 700, note: null } as const
    again.when({ ...ending, upTo: 1 }).follows(novaTold({}, 50))
    again.when({ ...ending, upTo: 2 }).follows(novaTold({ [ARQ]: 'delivered' }))
  })
  it('is not told of twice when nothing is left', () => {
    given(...two)
      .when({ type: 'ReportTold', endings: {}, nextAt: 700, note: null, upTo: 1 })
      .follows()
  })
})

describe('what an operator has Nova told once more', () => {
  const word = { by: 'operator', reason: 'Nova was restored' }
  const resend = (statuses: Record<string, string>): Said => ({
    type: 'Resend',
    statuses,
    at: 50_000,
    until: 60_000,
    ...word,
  })
  const asked = (statuses: Record<string, string>): Said => ({
    type: 'ResendAsked',
    statuses,
    nextAt: 50_000,
    until: 60_000,
    ...word,
  })
  const over = [accepted(part(ARQ, true)), settled('completed', [ARQ])] as const
  it('is due at once, with a time of its own', () => {
    given(...over, novaTold({ [ARQ]: 'undeliverable' }))
      .when(resend({ [ARQ]: 'completed' }))
      .follows(asked({ [ARQ]: 'completed' }))
    const facts = [...over, novaTold({ [ARQ]: 'undeliverable' }), asked({ [ARQ]: 'completed' })]
    const { state } = given(...facts)
    expect(due(...facts)).toMatchObject({ at: 50_000 })
    expect(state.telling).toMatchObject({ until: 60_000, attempts: 0 })
  })
  it('goes with what Nova has not taken yet', () => {
    given(...two, settled('failed', [ARQ, OTHER]), novaTold({ [OTHER]: 'delivered' }), left(ARQ))
      .when(resend({ [OTHER]: 'failed' }))
      .follows(asked({ [ARQ]: 'failed', [OTHER]: 'failed' }))
  })
  it('is not ended by the answer to an earlier call', () => {
    const { state } = given(...over, novaTold({}), asked({ [ARQ]: 'completed' }))
    given(...over, novaTold({}), asked({ [ARQ]: 'completed' }))
      .when({ type: 'ReportTold', endings: { [ARQ]: 'refused' }, upTo: 1, nextAt: 70_000, note: null })
      .follows(novaTold({}, 50_000))
    expect(state.conversations).toBe(2)
  })
  it('is refused while a bind is under way, and where nothing has ended', () => {
    given(...two)
      .when(resend({}))
      .isRefused({ kind: 'bad_state' })
    given(...over, novaTold({ [ARQ]: 'delivered' }), left(ARQ))
      .when(resend({}))
      .isRefused({ kind: 'not_found' })
  })
})

describe('what Nova has not taken and is told no more', () => {
  const both = [...two, prepared(ARQ), prepared(OTHER), settled('completed', [ARQ, OTHER])] as const
  const answer = (endings: Record<string, string>, note = '403 no role'): Said => ({
    type: 'ReportTold',
    endings,
    upTo: 1,
    nextAt: 700,
    note,
  })
  const heard = (endings: Record<string, string>, ...undelivered: readonly string[]): Said => ({
    type: 'NovaTold',
    endings,
    nextAt: 700,
    note: '403 no role',
    ...(undelivered.length > 0 && { undelivered }),
  })
  const refused = [...both, heard({ [ARQ]: 'refused', [OTHER]: 'delivered' }, ARQ)] as const
  const WAITS = { kind: 'nova-undelivered', at: 10 }

  it('is recorded, and waits for an operator', () => {
    given(...both)
      .when(answer({ [ARQ]: 'refused', [OTHER]: 'delivered' }))
      .follows(heard({ [ARQ]: 'refused', [OTHER]: 'delivered' }, ARQ))
    const { state } = given(...refused)
    expect(due(...refused)).toMatchObject(WAITS)
    expect(state.undelivered).toEqual({
      [ARQ]: { status: 'completed', ending: 'refused', note: '403 no role', attempts: 1, at: 10 },
    })
  })
  it('is not an event about a server that Nova does not know', () => {
    given(...both)
      .when(answer({ [ARQ]: 'gone', [OTHER]: 'delivered' }))
      .follows(heard({ [ARQ]: 'gone', [OTHER]: 'delivered' }))
  })
  it('waits behind what Nova is still told', () => {
    expect(due(...both, heard({ [ARQ]: 'undeliverable' }, ARQ))).toMatchObject({ kind: 'nova', at: 700 })
    expect(due(...both, heard({ [ARQ]: 'undeliverable' }, ARQ), heard({ [OTHER]: 'gone' }))).toMatchObject(WAITS)
  })
  it('waits no more when its request leaves, nor is one listed that has left before', () => {
    expect(due(...refused, left(ARQ))).toBeNull()
    given(...both, left(ARQ))
      .when(answer({ [ARQ]: 'refused' }))
      .follows(heard({ [ARQ]: 'refused' }))
  })
  it('waits no more when an operator has Nova told once more, and waits again when Nova refuses again', () => {
    const asked: Said = {
      type: 'ResendAsked',
      statuses: { [ARQ]: 'completed' },
      nextAt: 800,
      until: 9000,
      by: 'kim',
      reason: 'the account has the role now',
    }
    expect(due(...refused, asked)).toMatchObject({ kind: 'nova', at: 800 })
    expect(due(...refused, asked, heard({ [ARQ]: 'delivered' }))).toBeNull()
    expect(due(...refused, asked, heard({ [ARQ]: 'refused' }, ARQ))).toMatchObject(WAITS)
  })
  it('is not known of what 0.2.0 has recorded', () => {
    expect(due(...both, heard({ [ARQ]: 'refused', [OTHER]: 'refused' }))).toBeNull()
  })
  it('is nothing that Nova has taken after all, nor anything that it was not told', () => {
    const undelivered = (...facts: readonly Said[]) => given(...facts).state.undelivered
    expect(undelivered(...both, heard({ [ARQ]: 'delivered', [OTHER]: 'gone' }, ARQ, OTHER, id(9)))).toEqual({})
    expect(undelivered(...two, heard({ [ARQ]: 'refused' }, ARQ))).toEqual({})
    const later = undelivered(...both, heard({ [OTHER]: 'delivered' }), heard({ [ARQ]: 'undeliverable' }, ARQ))
    expect(later).toEqual({
      [ARQ]: { status: 'completed', ending: 'undeliverable', note: '403 no role', attempts: 2, at: 10 },
    })
  })
})

it('a bind that a program of an older release remembers ends without the moment when it began', () => {
  const { state } = given(...two)
  const { since: _, ...ended } = settled('failed', [ARQ, OTHER], 20, 'no') as Readonly<Record<string, unknown>>
  const decided = decide({ ...state, open: { deadline: 5000 } }, { type: 'Fail', reason: 'no', at: 20 })
  expect(decided).toStrictEqual({ ok: true, events: [ended] })
})
it('a bind ends before its deadline where its time is over by another clock', () => {
  given(...two)
    .when({ type: 'Conclude', at: 4999, isOver: true })
    .follows(settled('failed', [ARQ, OTHER], 4999, 'the host did not answer in time'))
  given(...two)
    .when({ type: 'ReportPrepared', arq: ARQ, at: 20, loaded: { image: 'i' } })
    .follows({ type: 'PartPrepared', arq: ARQ, loaded: { image: 'i' } })
})
