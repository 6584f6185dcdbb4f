/** The verdict of an audit as operators see it. */
import { expect, test } from 'vitest'
import { auditLines, type Verdict } from '../../src/cli/audit/text.ts'

const NOTHING: Verdict = {
  sources: ['a.ndjson', 'topics of k1'],
  figures: {
    rows: 0,
    lastPosition: null,
    from: null,
    to: null,
    entities: {},
    arqs: {},
    binds: {},
    bindMs: null,
    topics: null,
    hosts: null,
    lost: [],
    clients: null,
  },
  invariants: 40,
  unjudged: [],
  violations: [],
  seconds: 1.25,
  memoryMb: 99.6,
}

test('of nothing', () => {
  expect(auditLines(NOTHING)).toEqual([
    'read      a.ndjson; topics of k1',
    'journal   0 rows, - to -, last position -',
    'entities  none',
    'ARQs      none',
    'binds     none',
    '',
    'clean: 40 invariants hold (1.3 s, 100 MB)',
  ])
})

test('with what was not judged, and what that needs', () => {
  const unjudged: Verdict['unjudged'] = [
    { invariants: ['L3', 'I16'], lacks: 'a watcher of Placement' },
    { invariants: ['S7'], lacks: 'the records of clients (--client)' },
  ]
  expect(auditLines({ ...NOTHING, unjudged }).slice(-3)).toEqual([
    'clean: 40 invariants hold (1.3 s, 100 MB)',
    'not judged without a watcher of Placement: L3, I16',
    'not judged without the records of clients (--client): S7',
  ])
})

test('with every figure', () => {
  const figures: Verdict['figures'] = {
    rows: 5,
    lastPosition: '7.1',
    from: 'F',
    to: 'T',
    entities: { host: 1, arq: 2 },
    arqs: { Bound: 2 },
    binds: { completed: 1, open: 1 },
    bindMs: { p50: 1, p99: 2, max: 3 },
    topics: { 'arq.events.v1': { messages: 4, repeats: 1 } },
    hosts: 2,
    lost: [
      { rows: 3, entities: 2, adopted: 'A' },
      { rows: 1, entities: 1, adopted: null },
    ],
    clients: { requests: 9, handles: 8, undecided: 7 },
  }
  expect(auditLines({ ...NOTHING, figures })).toEqual([
    'read           a.ndjson; topics of k1',
    'journal        5 rows, F to T, last position 7.1',
    'entities       arq 2, host 1',
    'ARQs           Bound 2',
    'binds          completed 1, open 1',
    'bind time      p50 1 ms, p99 2 ms, longest 3 ms',
    'arq.events.v1  4 messages, 1 repeats',
    'lost           3 rows of 2 entities, declared lost by the adoption of A',
    'lost           1 rows of 1 entities, not adopted: writing is stopped',
    'hosts          2 ledgers',
    'clients        9 requests, ownership of 8 handles judged, 7 undecided',
    '',
    'clean: 40 invariants hold (1.3 s, 100 MB)',
  ])
})

test('with violations, each with the entries that prove it', () => {
  const row = { of: 'journal', key: 'arq/a', version: 2, commandId: 'c', at: 0, events: ['Bound', 'Told'] } as const
  const told = { of: 'topic', topic: 't', partition: 1, offset: 2, key: 'k', id: null, position: null } as const
  const violations: Verdict['violations'] = [
    {
      invariant: 'S1',
      meaning: 'M',
      found: 'F',
      proof: [
        row,
        { ...row, position: '7.1' },
        told,
        { ...told, id: 'i', position: '7.1' },
        { of: 'view', view: 'arqs', key: 'a' },
        { of: 'host', host: 'h', step: null },
      ],
    },
    { invariant: 'S1', meaning: 'M', found: 'again', proof: [] },
  ]
  expect(auditLines({ ...NOTHING, violations }).slice(6)).toEqual([
    'VIOLATED S1: M',
    '  F',
    '    journal arq/a 2 1970-01-01T00:00:00.000Z Bound Told',
    '    journal arq/a 2 @7.1 1970-01-01T00:00:00.000Z Bound Told',
    '    topic t/1@2 key k id - position -',
    '    topic t/1@2 key k id i position 7.1',
    '    view arqs a',
    '    host h',
    '',
    'VIOLATED S1: M',
    '  again',
    '',
    '2 violations of 1 invariants (1.3 s, 100 MB)',
  ])
})

test('with what proves a violation, a line for each record', () => {
  const proof = [
    { of: 'journal', key: 'arq/1', version: 2, position: '9.1', at: 0, events: ['Bound', 'Unbound'] },
    { of: 'journal', key: 'arq/2', version: 3, at: 1000, events: [] },
    { of: 'topic', topic: 't', partition: 1, offset: '5', key: 'k', id: 'i', position: '7.1' },
    { of: 'topic', topic: 't', partition: 1, offset: '6', key: 'k', id: null, position: null },
    { of: 'view', view: 'arqs', key: 'k' },
    { of: 'host', host: 'h', step: null },
    { of: 'host', host: 'h', step: { a: 1 } },
    { of: 'client', asked: { act: 'bind' } },
    { of: 'placement', uuid: 'u', seen: { b: 2 } },
    { of: 'nova', heard: { c: 3 } },
  ]
  const violation = { invariant: 'S1', meaning: 'a handle has one owner', found: 'it has two', keys: ['arq/1'], proof }
  const violations = [violation] as unknown as Verdict['violations']
  expect(auditLines({ ...NOTHING, violations }).join('\n')).toMatchInlineSnapshot(`
    "read      a.ndjson; topics of k1
    journal   0 rows, - to -, last position -
    entities  none
    ARQs      none
    binds     none

    VIOLATED S1: a handle has one owner
      it has two
        journal arq/1 2 @9.1 1970-01-01T00:00:00.000Z Bound Unbound
        journal arq/2 3 1970-01-01T00:00:01.000Z 
        topic t/1@5 key k id i position 7.1
        topic t/1@6 key k id - position -
        view arqs k
        host h
        host h {"a":1}
        client {"act":"bind"}
        placement u {"b":2}
        nova {"c":3}

    1 violations of 1 invariants (1.3 s, 100 MB)"
  `)
})
