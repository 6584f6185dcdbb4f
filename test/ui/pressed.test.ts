/** What pressed keys mean, and to which address a page leads that changes without a new page. */
import { expect, test } from 'vitest'
import { searchAfter, withoutDone } from '../../src/ui/browser/addresses.ts'
import { GO_MS, type Meant, isForTimeline, isPlainClick, keyReader, otherParty } from '../../src/ui/browser/pressed.ts'

const PLAIN = { timeStamp: 0, ctrlKey: false, metaKey: false, altKey: false }
const isPage = (letter: string): boolean => 'hj'.includes(letter)
const read = (key: string, more: object = {}, isTyping = false) =>
  keyReader(isPage)({ ...PLAIN, key, ...more }, { isTyping })

test.each<[string, Meant | null]>([
  ['Escape', { does: 'escape' }],
  ['/', { does: 'search' }],
  ['?', { does: 'help' }],
  ['j', { does: 'step', by: 1 }],
  ['k', { does: 'step', by: -1 }],
  ['[', { does: 'turn', key: '[' }],
  [']', { does: 'turn', key: ']' }],
  ['g', null],
  ['h', null],
  ['x', null],
])('%s means the same on every page', (key, meant) => expect(read(key)).toEqual(meant))
test('a key with Ctrl, Meta or Alt, or in a field, belongs to the browser; Escape leaves the field', () => {
  for (const held of ['ctrlKey', 'metaKey', 'altKey']) expect([held, read('j', { [held]: true })]).toEqual([held, null])
  expect(read('j', {}, true)).toBeNull()
  expect(read('Escape', { ctrlKey: true }, true)).toEqual({ does: 'escape' })
})

test('a key is for the timeline while nothing is held with it, and neither a field nor the help takes it', () => {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, defaultPrevented: false }
  const page = { isTyping: false, isHelpShown: false }
  expect(isForTimeline(none, page)).toBe(true)
  for (const one of Object.keys(none))
    expect([one, isForTimeline({ ...none, [one]: true }, page)]).toEqual([one, false])
  for (const one of Object.keys(page))
    expect([one, isForTimeline(none, { ...page, [one]: true })]).toEqual([one, false])
})
test('a click shows a link here with the first button alone', () => {
  const plain = { button: 0, ctrlKey: false, metaKey: false, shiftKey: false }
  expect(isPlainClick(plain)).toBe(true)
  for (const other of [{ button: 1 }, { ctrlKey: true }, { metaKey: true }, { shiftKey: true }])
    expect([other, isPlainClick({ ...plain, ...other })]).toEqual([other, false])
})

/** What each of the keys means that are pressed one after the other, with the time of each. */
const pressed = (...keys: readonly (readonly [key: string, timeStamp: number])[]) => {
  const meantBy = keyReader(isPage)
  return keys.map(([key, timeStamp]) => meantBy({ ...PLAIN, key, timeStamp }, { isTyping: false }))
}
const DOWN = { does: 'step', by: 1 }
test('after g a letter leads to its page, for a short time', () => {
  expect(pressed(['g', 50], ['h', 50 + GO_MS - 1])).toEqual([null, { does: 'go', key: 'h' }])
  expect(pressed(['g', 50], ['j', 51])).toEqual([null, { does: 'go', key: 'j' }])
  expect(pressed(['g', 50], ['j', 50 + GO_MS])).toEqual([null, DOWN])
  expect(GO_MS).toBe(1200)
})
test('a letter of no page means what it means by itself, and ends the time; a second g begins it anew', () => {
  expect(pressed(['g', 0], ['k', 1], ['j', 2])).toEqual([null, { does: 'step', by: -1 }, DOWN])
  expect(pressed(['g', 0], ['g', 1000], ['h', 1300])).toEqual([null, null, { does: 'go', key: 'h' }])
  expect(pressed(['j', 0])).toEqual([DOWN])
})

test.each([
  ['forth: the next of another party', 0, 1, 2],
  ['forth, over one of its own', 2, 1, 4],
  ['forth from the last party: none', 4, 1, -1],
  ['back: the nearest of another party', 4, -1, 3],
  ['back, over one of its own', 3, -1, 1],
  ['back from the first party: none', 1, -1, -1],
  ['back from what is not in the list: none', -1, -1, -1],
] as const)('the arrows lead from party to party: %s', (_, at, by, to) => {
  expect(otherParty(['Nova', 'Nova', 'h1', 'h1', 'Nova'], at, by)).toBe(to)
})

test.each([
  ['?t=bars&done=x', '?t=table&r=1&open=1.2&from=7', '?t=table&done=x&r=1&open=1.2&from=7'],
  ['?t=bars&r=1&open=4&from=2&done=x', '', '?done=x'],
  ['', '?other=x&t=bars', '?t=bars'],
  ['?t=bars', '', ''],
])('of the address %s a link to %s leaves %s', (present, chosen, search) => {
  expect(searchAfter(present, `http://h/ui/arqs/a${chosen}#step-3`)).toBe(search)
})
test('what was done is left out of the address, and nothing else', () => {
  const address = 'http://h/ui/hosts?done=retire&state=up&request=req-1&since=7-1&ended=silent&after=x#step-1'
  expect(withoutDone(address)).toBe('http://h/ui/hosts?state=up&after=x#step-1')
})
