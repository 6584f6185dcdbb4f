/** What recorded events wait for, which event is the answer, and what is wrong with an answer. */
import { describe, expect, test } from 'vitest'
import type { Event } from '../../src/ui/answerShapes.ts'
import { type Awaited, ANSWERS, answerTo, awaitedBy, flawIn } from '../../src/ui/awaited.ts'

const event = (id: string, subject: string, fact: object | null): Event => ({
  id,
  event: { type: 'accelerando.fact.X', subject, time: '', data: { entity: 'x/y', event: fact } },
})
const order = { number: 7, host: 'h1' }

test.each<[string, object | null, object | null]>([
  ['an order waits for its host', { type: 'OrderSent', order }, { whom: 'host h1', order: 7 }],
  ['so does whatever holds one', { type: 'Anything', order: { ...order, number: 0 } }, { whom: 'host h1', order: 0 }],
  ['what Nova is to be told once more waits for Nova', { type: 'ResendAsked' }, { whom: 'Nova', order: null }],
  ['an order without a number waits for nobody', { type: 'OrderSent', order: { host: 'h1', number: '7' } }, null],
  ['nor does anything else', { type: 'Bound' }, null],
  ['nor what is no event', null, null],
])('%s', (_, fact, awaited) => {
  expect(awaitedBy(event('7-1', 's1', fact))).toEqual(awaited && { after: '7-1', subject: 's1', ...awaited })
})

describe('the answer', () => {
  const toOrder: Awaited = { after: '7-0', subject: 's1', whom: 'host h1', order: 7 }
  const ofNova: Awaited = { ...toOrder, whom: 'Nova', order: null }
  const found = (awaited: Awaited, subject: string, fact: object) =>
    answerTo(awaited, [event('7-1', 's1', { type: 'Bound', number: 7 }), event('7-2', subject, fact)])?.id ?? null

  test.each([
    ['OrderDone', '7-2', null],
    ['OrderFailed', '7-2', null],
    ['Programmed', '7-2', null],
    ['ProgramFailed', '7-2', null],
    ['NovaTold', null, '7-2'],
    ['Bound', null, null],
  ])('%s', (type, ofOrder, nova) => {
    expect([found(toOrder, 's1', { type, number: 7 }), found(ofNova, 's1', { type, number: 7 })]).toEqual([
      ofOrder,
      nova,
    ])
    expect(ANSWERS.includes(type)).toBe(ofOrder !== null || nova !== null)
  })
  test('is about the same entity, and has the number of the order', () => {
    expect(found(toOrder, 's2', { type: 'OrderDone', number: 7 })).toBeNull()
    expect(found(toOrder, 's1', { type: 'OrderDone', number: 8 })).toBeNull()
    expect(found(ofNova, 's2', { type: 'NovaTold' })).toBeNull()
    expect(found(toOrder, 's1', { type: 7, number: 7 })).toBeNull()
  })
  test('is the first of several', () => {
    const answers = ['7-1', '7-2'].map((id) => event(id, 's1', { type: 'OrderDone', number: 7 }))
    expect(answerTo(toOrder, answers)).toBe(answers[0])
  })
})

test.each<[string, object | null, string | null]>([
  ['an order that failed', { type: 'OrderFailed', reason: 'link down' }, 'link down'],
  ['a programming that failed', { type: 'ProgramFailed', reason: 'no image' }, 'no image'],
  ['an order that was carried out', { type: 'OrderDone', reason: 'none' }, null],
  ['Nova, which took everything', { type: 'NovaTold', endings: { a: 'delivered', b: 'gone' }, note: 'x' }, null],
  ['Nova, which refused one', { type: 'NovaTold', endings: { a: 'delivered', b: 'refused' }, note: '400' }, '400'],
  ['without a reason', { type: 'NovaTold', endings: { a: 'refused' } }, 'it has not taken everything'],
  ['Nova, which took nothing', { type: 'NovaTold', endings: {}, note: null }, 'it has not taken everything'],
  ['what is no answer', null, null],
])('what is wrong with the answer of %s', (_, fact, flaw) => expect(flawIn(event('7-1', 's1', fact))).toBe(flaw))
