/** How resources are closed: in which order, and what is logged of those that fail or hang. */
import { expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { silent } from '../../src/log.ts'

test('what was opened last is closed first, each after the other, whatever fails or hangs', async () => {
  const said: string[] = []
  const details: unknown[] = []
  const note = (detail: object, message?: string) => {
    details.push(detail)
    said.push(message ?? '')
  }
  const open = closer({ ...silent, warn: note, error: note })
  open.add(() => said.push('first'))
  open.add(() => new Promise(() => undefined), 5)
  open.add(() => Promise.reject(new Error('no')))
  open.add(() => {
    throw new Error('never')
  })
  open.add(() => said.push('last'), 1000)
  await open.close()
  expect(said).toEqual(['last', 'stop', 'stop', 'stop.cut', 'first'])
  expect(details).toEqual([{ error: 'Error: never' }, { error: 'Error: no' }, { withinMs: 5 }])
  await open.close()
  expect(said).toHaveLength(5)
})
