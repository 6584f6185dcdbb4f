/** The look at the keys of drawn entries finds two that are the same, however deep in lists they stand. */
import { h } from 'preact'
import { expect, test } from 'vitest'
import { expectOwnKeys } from './drawing.ts'

test('two entries of one list with the same key are found, however deep in lists they stand', async () => {
  const entry = (key: string) => h('li', { key })
  const drawn = (children: () => readonly unknown[]) =>
    expectOwnKeys(['page'], async () => h('ul', null, children() as never))
  await drawn(() => [entry('a'), [[entry('b')]]])
  await expect(drawn(() => [entry('a'), [[[entry('b'), entry('a')]]]])).rejects.toThrow('ul of a, b, a')
})
