/** The look at the keys of drawn entries finds two that are the same, however deep in lists they stand. */
import { h } from 'preact'
import { describe, expect, test } from 'vitest'
import { keysDuring } from './drawing.ts'

describe('no two entries of one list have the same key', () => {
  const entry = (key: string) => h('li', { key })
  /** Only the page has them, not what is drawn for the frame. */
  const drawn = (children: () => unknown) =>
    keysDuring(['page'], async (place) => (place === 'page' ? h('ul', null, children() as never) : null))
  test.each([
    ['beside each other', () => [entry('a'), entry('b'), entry('a')]],
    ['in two lists of one element', () => [[entry('a'), entry('b')], [entry('a')]]],
    ['deep in lists', () => [entry('a'), [[[[entry('b'), entry('a')]]]]]],
  ])('%s', async (_, children) => {
    await expect(drawn(children)).rejects.toThrow('ul of a, b, a')
  })
  test('entries of two elements may have the same', async () => {
    const text = await drawn(() => ['ul', 'ol'].map((tag) => h(tag, null, [entry('a')] as never)))
    expect(text).toBe('### the frame\n\n### page\n2 li a\n\n')
  })
})
