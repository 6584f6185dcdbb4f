/** Small rules that all rooms share: faults, errors, identifiers, records, JSON from outside, images, traces. */
import { describe, expect, test } from 'vitest'
import { orderedIds, shifted } from '../../src/vocabulary/clock.ts'
import { codeOf, messageOf, textOf } from '../../src/vocabulary/errorText.ts'
import { allOf, done, isUndecided, refuse } from '../../src/vocabulary/fault.ts'
import {
  FUNCTION_KEYS,
  codedProblem,
  functionsOf,
  imageProblem,
  isFinal,
  noImage,
} from '../../src/vocabulary/images.ts'
import { jsonIn } from '../../src/vocabulary/jsonText.ts'
import { isRecord, membersOf, ownValue } from '../../src/vocabulary/record.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'
import { spacedJson } from '../../src/vocabulary/spacedJson.ts'
import { isStorable, isStorableJson, storable, unstorable } from '../../src/vocabulary/text.ts'
import { NO_SPAN, inSpan, traceField, untraced } from '../../src/vocabulary/trace.ts'
import { isUuid, uuidOfHash } from '../../src/vocabulary/uuid.ts'
import { handClock } from '../support/lab.ts'
import { imageOf } from '../support/images.ts'

describe('outcomes', () => {
  test('together are all values in their order, or the first refusal among them', async () => {
    const [one, other] = [refuse({ kind: 'conflict', reason: '1' }), refuse({ kind: 'conflict', reason: '2' })]
    expect(await allOf([Promise.resolve(done('a')), Promise.resolve(done('b'))])).toEqual(done(['a', 'b']))
    expect(await allOf([])).toEqual(done([]))
    expect(await allOf<string>([Promise.resolve(done('a')), Promise.resolve(one), Promise.resolve(other)])).toBe(one)
  })
  test('are undecided where the store could not be asked', () => {
    expect(isUndecided({ kind: 'unavailable', reason: '', retryAfterSeconds: 1 })).toBe(true)
    expect(isUndecided({ kind: 'broken', reason: '' })).toBe(true)
    expect(isUndecided({ kind: 'conflict', reason: '' })).toBe(false)
  })
})

test('a caught error is its message, cut at 2000 characters, and its code where it has one', () => {
  const coded = Object.assign(new Error('gone'), { code: 'ENOENT' })
  expect([messageOf(coded), messageOf('text'), messageOf(5)]).toEqual(['gone', 'text', '5'])
  expect([textOf(new Error('x'.repeat(2001))).length, textOf('x'.repeat(2000)).length]).toEqual([2000, 2000])
  expect(messageOf(new Error('x'.repeat(2001))).length).toBe(2001)
  const others = [new Error('gone'), Object.assign(new Error('gone'), { code: 5 }), { code: 'ENOENT' }, 'ENOENT']
  expect([codeOf(coded), ...others.map(codeOf)]).toEqual(['ENOENT', undefined, undefined, undefined, undefined])
})

describe('time-ordered UUIDs', () => {
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => 0xff)
  test('hold the moment, a counter within it, and random bytes with the marks of the version', () => {
    let now = 0x0123456789ab
    const next = orderedIds(() => now, bytes)
    expect([next(), next()]).toEqual(['01234567-89ab-7000-bfff-ffffffffffff', '01234567-89ab-7001-bfff-ffffffffffff'])
    now += 1
    expect(next()).toBe('01234567-89ac-7000-bfff-ffffffffffff')
    now -= 5
    expect(next()).toBe('01234567-89ac-7001-bfff-ffffffffffff')
    expect(
      orderedIds(
        () => 1,
        (count) => new Uint8Array(count),
      )(),
    ).toBe('00000000-0001-7000-8000-000000000000')
  })
  test('take the next millisecond once the counter of one is used up', () => {
    const next = orderedIds(() => 7, bytes)
    const all = Array.from({ length: 4098 }, () => next().slice(0, 18))
    expect([all[0], all[4095], all[4096], all[4097]]).toEqual([
      '00000000-0007-7000',
      '00000000-0007-7fff',
      '00000000-0008-7000',
      '00000000-0008-7001',
    ])
    expect(all.toSorted()).toEqual(all)
  })
})
test('a clock that is wrong has right timers', () => {
  const clock = handClock()
  expect(shifted(clock, 0)).toBe(clock)
  const wrong = shifted(clock, -5)
  expect([wrong.now(), wrong.monotonic(), wrong.after]).toEqual([clock.now() - 5, clock.monotonic(), clock.after])
})

test('a UUID made of a hash has the version and the variant, and that of a provider is the one upstream makes', () => {
  expect(uuidOfHash(Buffer.alloc(20, 0xff), 5)).toBe('ffffffff-ffff-5fff-bfff-ffffffffffff')
  expect(uuidOfHash(Buffer.alloc(16), 3)).toBe('00000000-0000-3000-8000-000000000000')
  // uuid3(NAMESPACE_DNS, 'python.org') of the Python documentation
  expect(rpUuidOf('python.org')).toBe('6fa459ea-ee8a-3ca4-894e-db77e160355e')
  const id = rpUuidOf('x')
  expect([id, `${id}0`, `x${id}`, id.toUpperCase(), id.replaceAll('-', ''), `${id}\n`].map(isUuid)).toEqual([
    true,
    ...Array.from({ length: 5 }, () => false),
  ])
})

describe('values of unknown origin', () => {
  test('are records only as objects that are no lists', () => {
    expect([{}, { a: 1 }, [], null, 'a', 5, undefined].map(isRecord)).toEqual([true, true, ...Array(5).fill(false)])
    expect([membersOf({ a: 1 }), membersOf([1]), membersOf(null), membersOf('a')]).toEqual([{ a: 1 }, {}, {}, {}])
  })
  test('have only members of their own', () => {
    expect([ownValue({ a: 1 }, 'a'), ownValue({ a: 1 }, 'b'), ownValue({}, 'constructor')]).toEqual([
      1,
      undefined,
      undefined,
    ])
  })
  test('are read from JSON that is not nested without end', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`
    expect([jsonIn('{"a":[null]}'), jsonIn('5'), jsonIn('{'), jsonIn('')]).toEqual([
      { a: [null] },
      5,
      undefined,
      undefined,
    ])
    expect([jsonIn(nested(64)) === undefined, jsonIn(nested(65)) === undefined]).toEqual([false, true])
    const beside = `[1,${nested(64)}]`
    expect([jsonIn(beside), jsonIn(`{"a":1,"b":${nested(63)}}`) === undefined]).toEqual([undefined, false])
  })
  test('are written flat with blanks, keys in the given order', () => {
    expect([spacedJson({ b: '1"', a: null }), spacedJson({})]).toEqual(['{"b": "1\\"", "a": null}', '{}'])
  })
})

describe('text that a store cannot hold', () => {
  test.each([
    ['a\0b', 'it holds a NUL character', 'ab'],
    ['a\ud800', 'it holds half of a surrogate pair', 'a\ufffd'],
    ['\udc00\0a', 'it holds a NUL character', '\ufffda'],
    ['a\u0001\u{1f600}', null, 'a\u0001\u{1f600}'],
    ['', null, ''],
  ])('%j', (text, why, kept) => {
    expect([unstorable(text), storable(text)]).toEqual([why, kept])
    for (const value of [text, { a: [text] }, { [text]: 1 }]) expect(isStorable(value)).toBe(why === null)
  })
  test('is found in JSON where it is no text about it', () => {
    const json = [
      '"\\u0000"',
      '"a\\ud83d"',
      '"\\udfff"',
      '"\\\\\\u0000"',
      '"\\\\u0000"',
      '"\\\\\\\\u0000"',
      '"\\u0001"',
      '"u0000"',
      '"\\ud7ff"',
    ]
    expect(json.map(isStorableJson)).toEqual([false, false, false, false, true, true, true, true, true])
  })
})

describe('an image that cannot be had', () => {
  test.each([
    ['none', true, 'no image store is configured'],
    ['unknown', true, 'there is no image I'],
    ['forbidden', true, 'this service may not read image I'],
    ['inactive', true, 'image I has no data that can be read'],
    ['unusable', true, 'image I is not a bitstream that can be used'],
    ['unsuitable', true, 'image I is made for other hardware'],
    ['unverifiable', true, 'image I has no digest'],
    ['too_large', true, 'image I is too large'],
    ['corrupt', true, 'the bytes of image I do not match its digest'],
    ['unavailable', false, 'image I cannot be read at present'],
  ] as const)('%s: a retry is of no use: %s', (why, final, text) => {
    const [plain, detailed] = [noImage(why), noImage(why, 'more')]
    expect([plain, detailed]).toEqual([
      { found: false, why },
      { found: false, why, detail: 'more' },
    ])
    expect(isFinal(plain)).toBe(final)
    expect([imageProblem('I', plain), imageProblem('I', detailed)]).toEqual([text, `${text}: more`])
    expect(codedProblem('I', detailed)).toBe(`image_${why}: ${text}: more`)
  })
})
test('the function of an image has two names, in any case, and contradicts itself where they differ', () => {
  expect(FUNCTION_KEYS).toEqual(['function_uuid', 'accel:function_id'])
  const of = (properties: Readonly<Record<string, string>>) => functionsOf({ ...imageOf('i'), properties })
  expect(of({})).toEqual([])
  expect(of({ function_uuid: 'AB', 'accel:function_id': 'ab' })).toEqual(['ab'])
  expect(of({ 'accel:function_id': 'B', function_uuid: 'A' })).toEqual(['a', 'b'])
})

describe('a span', () => {
  const ended: unknown[] = []
  const span = { trace: 't', end: (...given: readonly unknown[]) => void ended.push(given) }
  test('ends with its work, with what the work says of its failure, and with an exception', async () => {
    expect(await inSpan(span, async (trace) => trace)).toBe('t')
    expect(
      await inSpan(
        span,
        async () => 'v',
        (value) => `bad ${value}`,
      ),
    ).toBe('v')
    await expect(inSpan(span, async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(ended).toEqual([[undefined], ['bad v'], ['broken']])
  })
  test('is a field of a message only where it is recorded', () => {
    expect([traceField('t'), traceField(undefined)]).toEqual([{ trace: 't' }, {}])
    expect([untraced.enter('n', 'c'), untraced.part('client', 'n', 'p')]).toEqual([NO_SPAN, NO_SPAN])
  })
})
