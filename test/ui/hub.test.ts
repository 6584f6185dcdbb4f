/** What the pages of a browser are told by the one stream of events of all of them, and when it is opened again. */
import { expect, test } from 'vitest'
import { type Said, createHub, followForEver, pauseMs } from '../../src/ui/browser/hub.ts'

const page = () => {
  const told: Said[] = []
  return { told, postMessage: (said: Said) => void told.push(said) }
}

test('a page that joins is told how the stream stands, and from then on everything', () => {
  const { tell, join } = createHub()
  const [early, late, last] = [page(), page(), page()]
  join(early)
  tell('open')
  tell('changed')
  join(late)
  tell('changed')
  tell('closed')
  join(last)
  expect([early.told, late.told, last.told]).toEqual([
    ['closed', 'open', 'changed', 'changed', 'closed'],
    ['open', 'changed', 'closed'],
    ['closed'],
  ])
})
test('a stream that ends is opened again, the later the more often it failed', async () => {
  const said: string[] = []
  const ends = [false, true, false, false, false, true, true]
  const left = ends.values()
  const over = new Error('no more')
  const following = followForEver(
    async (tell) => {
      tell('open')
      if (left.next().value === false) throw new Error('no stream')
    },
    { tell: (what) => void said.push(what) },
    async (ms) => {
      said.push(String(ms))
      if (said.length === 3 * ends.length) throw over
    },
  )
  await expect(following).rejects.toBe(over)
  const pauses = [2000, 1000, 2000, 4000, 8000, 1000, 1000]
  expect(said).toEqual(pauses.flatMap((ms) => ['open', 'closed', String(ms)]))
})
test.each([
  [0, 1000],
  [4, 16_000],
  [5, 30_000],
  [2000, 30_000],
])('after %d failures in a row the pause is %d ms', (failures, ms) => expect(pauseMs(failures)).toBe(ms))
