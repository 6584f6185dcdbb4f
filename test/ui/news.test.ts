/** When the pages of a browser are told that something happened. */
import { expect, test } from 'vitest'
import { createNewsReader } from '../../src/ui/browser/news.ts'

const EVENT = 'id: 7\nevent: message\ndata: {}\n\n'
const BEAT = 'event: beat\ndata: {"after":"7"}\n\n'
const BYE = 'event: bye\ndata: {}\n\n'
const RETRY = 'retry: 1000\n\n'

test.each([
  ['an event', EVENT, true],
  ['an event between others', `${BEAT}${EVENT}${BYE}`, true],
  ['a sign of life', BEAT, false],
  ['a goodbye', BYE, false],
  ['a hint when to come again', RETRY, false],
  ['data that speaks of an event', 'data: event: message\n\n', false],
  ['nothing', '', false],
])('%s', (_name, text, isNews) => expect(createNewsReader()(text)).toBe(isNews))

test('an event counts once, with the piece that completes it', () => {
  const hasNews = createNewsReader()
  const pieces = [EVENT.slice(0, 9), EVENT.slice(9, -1), EVENT.slice(-1), BEAT, `${EVENT}event: mess`, 'age\n\n', BEAT]
  expect(pieces.map(hasNews)).toEqual([false, false, true, false, true, true, false])
})
