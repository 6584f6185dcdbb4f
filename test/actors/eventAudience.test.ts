/** Who may read a fact, and which parts of it: every event of requests and instances, and causes of any kind. */
import { describe, expect, test } from 'vitest'
import {
  NOTIFIER,
  SERVICE,
  SOMEBODY,
  arqsOf,
  causeFor,
  forProject,
  hostsOf,
  instancesOf,
  projectGiven,
  userIn,
} from '../../src/actors/eventAudience.ts'
import type { Cause, JournalRow } from '../../src/actors/runtime/ports.ts'

/** An event with members of all names that are ever hidden, and one that never is. */
type Event = JournalRow['events'][number]
const full = (type: string, more: object = {}): Event =>
  ({ type, reason: 'r', forced: true, note: 'n', by: 'op', shown: 1, ...more }) as Event
const without = (event: Event, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(event).filter(([name]) => !names.includes(name)))

describe('a project reads', () => {
  test.each([
    ['arq', 'ArqCreated', []],
    ['arq', 'BindStarted', []],
    ['arq', 'Bound', []],
    ['arq', 'BindFailed', ['reason']],
    ['arq', 'Unbound', ['forced']],
    ['arq', 'ReleaseFailed', ['reason']],
    ['arq', 'Released', []],
    ['arq', 'ArqRemoved', []],
    ['instance', 'BindAccepted', []],
    ['instance', 'PartPrepared', []],
    ['instance', 'BindSettled', ['reason']],
    ['instance', 'ArqsLeft', []],
    ['instance', 'NovaTold', ['note']],
    ['instance', 'ResendAsked', ['by', 'reason']],
  ])('of %s the event %s without %j', (kind, type, hidden) => {
    const event = full(type)
    expect(forProject(kind, event)).toEqual(without(event, ...hidden))
    const bare = { type } as Event
    expect(forProject(kind, bare)).toBe(bare)
  })
  test.each([
    ['arq', 'Polished'],
    ['instance', 'Polished'],
    ['instance', 'Bound'],
    ['deployable', 'Granted'],
    ['host', 'LivenessSet'],
  ])('of %s no event %s', (kind, type) => expect(forProject(kind, full(type))).toBe(null))
  test('an event with one of two hidden members without it', () => {
    expect(forProject('instance', { type: 'ResendAsked', by: 'op', until: 1 } as Event)).toEqual({
      type: 'ResendAsked',
      until: 1,
    })
  })
})

describe('the cause of an event', () => {
  const asked = (by: string | undefined): Cause => ({
    ...(by === undefined ? {} : { by }),
    requestId: 'req-1',
    trace: 't',
  })
  test.each<[string, Cause, string | null]>([
    ['a user', asked('kim'), 'kim'],
    ['the service, under the id of a request', asked(SERVICE), null],
    ['the notifier of Nova', asked(NOTIFIER), null],
    ['a part of the service, without a request', { by: 'sweeper' }, null],
    ['nobody', asked(undefined), null],
  ])('is %s', (_, cause, user) => expect(userIn(cause)).toBe(user))
  test('names the reader and no other user', () => {
    const [mine, service] = [asked('kim'), asked(SERVICE)]
    expect(causeFor(mine, 'kim')).toBe(mine)
    expect(causeFor(service, 'kim')).toBe(service)
    expect(causeFor(mine, 'lee')).toEqual({ ...mine, by: 'another user' })
    expect(causeFor(mine, null)).toEqual({ ...mine, by: SOMEBODY })
    expect([SERVICE, NOTIFIER]).toEqual(['service', 'nova notifier'])
  })
})

test('the project that an event gives a request to', () => {
  const given = (type: string, projectId?: string | null) => projectGiven({ type, projectId } as Event)
  expect([given('ArqCreated', 'p1'), given('BindStarted', 'p2')]).toEqual(['p1', 'p2'])
  expect([given('ArqCreated'), given('BindStarted', null), given('Bound', 'p1')]).toEqual([null, null, null])
})

describe('an event is about', () => {
  test.each<[string, string, object, readonly string[]]>([
    ['the request whose it is', 'arq', { type: 'Bound' }, ['id']],
    ['no request, of anything else', 'device', { type: 'ArqsLeft', arqs: ['a1'] }, []],
    ['those of a bind', 'instance', { type: 'BindAccepted', parts: [{ arq: 'a1' }, { arq: 'a2' }] }, ['a1', 'a2']],
    ['the one that is prepared', 'instance', { type: 'PartPrepared', arq: 'a1' }, ['a1']],
    ['those whose bind ended', 'instance', { type: 'BindSettled', arqs: ['a1', 'a2'] }, ['a1', 'a2']],
    ['those that leave', 'instance', { type: 'ArqsLeft', arqs: ['a3'] }, ['a3']],
    ['those that Nova was told of', 'instance', { type: 'NovaTold', endings: { a1: 'x', a2: 'y' } }, ['a1', 'a2']],
    ['those that Nova is told of again', 'instance', { type: 'ResendAsked', statuses: { a4: 'x' } }, ['a4']],
    ['none, by an event of a later release', 'instance', { type: 'Polished', arqs: ['a1'] }, []],
  ])('%s', (_, kind, event, arqs) => expect(arqsOf(kind, 'id', event as Event)).toEqual(arqs))

  const event = {
    type: 'Any',
    host: 'h1',
    hostname: 'n1',
    instance: 'i1',
    instanceUuid: 'j1',
    bond: { host: 'h2', hostname: 'n2', instanceUuid: 'j2' },
    was: { host: 'h3', instance: 'i3' },
    order: { host: 'h4', instance: 4 },
    again: { hostname: 'n5', instanceUuid: 'j5' },
    other: { host: 'h6', instance: 'i6' },
  } as unknown as Event
  test('the hosts and instances that it names, in itself, its bond and its orders', () => {
    expect(hostsOf('arq', 'id', event)).toEqual(['h1', 'n1', 'h2', 'n2', 'h3', 'h4', 'n5'])
    expect(instancesOf('arq', 'id', event)).toEqual(['i1', 'j1', 'j2', 'i3', 'j5'])
  })
  test('the host or the instance whose it is', () => {
    const bare = { type: 'Any', bond: null, order: 'text' } as unknown as Event
    expect(['host', 'placement', 'instance', 'arq'].map((kind) => hostsOf(kind, 'id', bare))).toEqual([
      ['id'],
      ['id'],
      [],
      [],
    ])
    expect(['host', 'placement', 'instance', 'arq'].map((kind) => instancesOf(kind, 'id', bare))).toEqual([
      [],
      [],
      ['id'],
      [],
    ])
  })
})
