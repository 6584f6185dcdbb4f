import { expect, test } from 'vitest'
import { recent } from '../../src/delivery/recentIds.ts'

test('of each key the last ids are remembered, and of the keys those that were used last', () => {
  const { has, add } = recent(2, 2)
  const known = (...names: readonly string[]) =>
    names.filter((name) => has(...(name.split('/') as [key: string, id: string])))
  for (const id of ['1', '2']) add('a', id)
  expect(known('a/1', 'a/2', 'a/3', 'b/1')).toEqual(['a/1', 'a/2'])
  add('a', '3')
  expect(known('a/1', 'a/2', 'a/3')).toEqual(['a/2', 'a/3'])
  add('b', '1')
  add('a', '3')
  expect(known('a/2', 'a/3', 'b/1')).toEqual(['a/2', 'a/3', 'b/1'])
  // `b` was used before `a`
  add('c', '1')
  expect(known('a/2', 'a/3', 'b/1', 'c/1')).toEqual(['a/2', 'a/3', 'c/1'])
})
