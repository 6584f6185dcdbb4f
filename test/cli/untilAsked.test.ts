/** What ends a command that prints until it is told to stop. */
import { expect, test } from 'vitest'
import { untilAsked } from '../../src/cli/untilAsked.ts'

const ends = [
  [process, 'SIGINT'],
  [process, 'SIGTERM'],
  [process.stdout, 'error'],
] as const
test.each(ends.map((end) => [end[1], ...end] as const))('%s does', (_, emitter, event) => {
  const before = new Map(ends.map(([each, name]) => [name, new Set(each.listeners(name))]))
  const signal = untilAsked()
  const added = ends.map(([each, name]) => [each, name, each.listeners(name).at(-1) as () => void] as const)
  expect(added.every(([, name, listener]) => !before.get(name)!.has(listener))).toBe(true)
  expect(signal.aborted).toBe(false)
  added.find(([each, name]) => each === emitter && name === event)![2]()
  expect(signal.aborted).toBe(true)
  for (const [each, name, listener] of added) each.removeListener(name, listener)
})
