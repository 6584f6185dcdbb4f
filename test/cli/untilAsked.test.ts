/** What ends a command that prints until it is told to stop. */
import { expect, test } from 'vitest'
import { untilAsked } from '../../src/cli/untilAsked.ts'

type Emitter = Pick<NodeJS.EventEmitter, 'listeners' | 'removeListener'>
const ENDS: readonly (readonly [event: string, emitter: Emitter])[] = [
  ['SIGINT', process],
  ['SIGTERM', process],
  ['error', process.stdout],
]
test.each(ENDS)('%s does', (event) => {
  const before = ENDS.map(([name, emitter]) => emitter.listeners(name).length)
  const signal = untilAsked()
  expect(ENDS.map(([name, emitter]) => emitter.listeners(name).length)).toEqual(before.map((count) => count + 1))
  const added = ENDS.map(([name, emitter]) => ({
    name,
    emitter,
    listener: emitter.listeners(name).at(-1) as () => void,
  }))
  expect(signal.aborted).toBe(false)
  added.find(({ name }) => name === event)!.listener()
  expect(signal.aborted).toBe(true)
  for (const { name, emitter, listener } of added) emitter.removeListener(name, listener)
})
