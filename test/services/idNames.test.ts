/** The names that stand for UUIDs in recorded texts differ where the UUIDs do, and depend on no other entity. */
import { expect, test } from 'vitest'
import { idNames } from './idNames.ts'

const uuid = (n: number): string => `0000000${n}-0000-4000-8000-000000000000`
const [ARQ, OTHER, DEVICE, PART, MORE, UNKNOWN] = [uuid(1), uuid(2), uuid(3), uuid(4), uuid(5), uuid(6)]
const row = (key: string, ...ids: readonly string[]) => ({ key, events: [{ ids }] })
const JOURNAL = [row(`arq/${ARQ}`), row(`device/${DEVICE}`, PART, ARQ), row(`arq/${OTHER}`, PART), row('host/h1')]
const named = idNames(JOURNAL)
const LINES = [ARQ, OTHER, DEVICE, PART].join('\n')
const NAMES = '<arq 1>\n<arq 2>\n<device 1>\n<device 1 uuid 1>'

test('entities are named by kind in the order of their first rows, other UUIDs by the entity that has them first', () => {
  expect(named(LINES)).toBe(NAMES)
})
test('two UUIDs that are exchanged give another text', () => {
  expect([named(`${ARQ} ${OTHER}`), named(`${OTHER} ${ARQ}`)]).toEqual(['<arq 1> <arq 2>', '<arq 2> <arq 1>'])
})
test('UUIDs that the journal does not have are named in each text as they appear', () => {
  expect([named(`${UNKNOWN} ${ARQ} ${MORE} ${UNKNOWN}`), named(`${UNKNOWN} ${MORE} ${MORE}`), named(MORE)]).toEqual([
    '<uuid 1> <arq 1> <uuid 2> <uuid 1>',
    '<uuid 1> <uuid 2> <uuid 2>',
    '<uuid 1>',
  ])
})
test.each([
  ['of another entity', [row(`arq/${ARQ}`, MORE), ...JOURNAL.slice(1)]],
  ['of a new entity of another kind', [row(`profile/${MORE}`), ...JOURNAL]],
])('one more UUID %s changes no other line', (_, journal) => expect(idNames(journal)(LINES)).toBe(NAMES))
test('the ids of requests stay as they are', () => expect(named(`req-${ARQ} ${ARQ}`)).toBe(`req-${ARQ} <arq 1>`))
