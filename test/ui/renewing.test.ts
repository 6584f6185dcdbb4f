/** When a page asks for its screen again, and what it says of how current it is. */
import { expect, test } from 'vitest'
import { type RenewingParts, renewing } from '../../src/ui/browser/renewing.ts'
import { loaded, lossOf, pageError } from '../../src/ui/loaded.ts'
import type { Screen } from '../../src/ui/view/screen.ts'
import { handClock } from '../support/lab.ts'

const screen = (now: number, list: object = loaded([])): Screen => ({ view: 'hosts', now, body: { list } }) as never
const AWAY = pageError('away', 'the database does not answer')

/** A page, in whose place the test answers. `said`: at which second it asked, and what it showed. */
const page = (first: Screen | null = null) => {
  const clock = handClock()
  const start = clock.now()
  const said: (string | number)[] = []
  const world = {
    answer: (): Promise<Screen | null> => Promise.resolve(screen(clock.now())),
    shown: first ?? screen(start),
    behind: false,
    busy: false,
    hidden: false,
  }
  const parts: RenewingParts = {
    ask: () => {
      said.push((clock.now() - start) / 1000)
      return world.answer()
    },
    isBehind: () => world.behind,
    take: (given) => {
      const loss = lossOf(given.body)
      if (loss === null || lossOf(world.shown.body) !== null) world.shown = given
      return loss
    },
    shown: () => world.shown,
    busy: () => world.busy,
    isHidden: () => world.hidden,
    say: ({ tone, text }) => void said.push(`${tone} ${text}`),
    explain: (note) => void (note !== null && said.push(note)),
    reload: () => void said.push('reload'),
    now: clock.now,
    after: clock.after,
  }
  const { heard, tell, ask, retry } = renewing(parts)
  /** What it has asked and said since the last time. */
  const since = async (ms: number) => {
    await clock.pass(ms)
    return said.splice(0)
  }
  return { world, heard, tell, ask, retry, since }
}
const LIVE = 'good live'

test('is live at first, and asks every two seconds as long as there is no stream of events', async () => {
  const { since } = page()
  expect(await since(1999)).toEqual([LIVE])
  expect(await since(4001)).toEqual([2, LIVE, 4, LIVE, 6, LIVE])
})
test('asks every five seconds while there is one, and soon after something happened', async () => {
  const { since, heard } = page()
  heard('open')
  heard('changed')
  heard('changed')
  expect(await since(99)).toEqual([LIVE])
  expect(await since(5001)).toEqual([0.1, LIVE, 5.1, LIVE])
})
test('asks soon when the stream ends, once, and often again from then on', async () => {
  const { since, heard } = page()
  heard('closed')
  expect(await since(2000)).toEqual([LIVE, 2, LIVE])
  heard('open')
  expect(await since(2000)).toEqual([4, LIVE])
  expect(await since(2000)).toEqual([])
  heard('closed')
  expect(await since(100)).toEqual([6.1, LIVE])
  heard('closed')
  expect(await since(2000)).toEqual([8.1, LIVE])
})
test('what happens while it asks has it ask once more, after the answer', async () => {
  const { since, heard, world } = page()
  heard('open')
  let answer: (given: Screen) => void = () => {}
  world.answer = () => new Promise((resolve) => (answer = resolve))
  expect(await since(2000)).toEqual([LIVE, 2])
  heard('changed')
  expect(await since(1000)).toEqual([])
  answer(screen(0))
  expect(await since(100)).toEqual([LIVE, 3.1])
  answer(screen(0))
  expect(await since(4999)).toEqual([LIVE])
  expect(await since(1)).toEqual([8.1])
})
test('asks for the rest at once while the service holds more, but not while it fails', async () => {
  const { since, world } = page()
  world.behind = true
  expect(await since(2200)).toEqual([LIVE, 2, LIVE, 2.1, LIVE, 2.2, LIVE])
  world.answer = () => Promise.reject(new Error('cut'))
  const failed = await since(200)
  expect(failed.filter((one) => typeof one === 'number')).toEqual([2.3])
})
test('asks ever more seldom while nothing answers, says so and since when, and recovers', async () => {
  const { since, world } = page()
  const note = 'The console does not answer. What is shown was read at 2026-01-01 00:00:00 UTC; it is asked for again.'
  world.answer = () => Promise.reject(new Error('cut'))
  expect(await since(2000)).toEqual([LIVE, 2, note, 'bad reconnecting · 2 s old'])
  expect((await since(43_000)).filter((one) => typeof one === 'number')).toEqual([6, 14, 29, 44])
  world.answer = () => Promise.resolve(screen(7))
  expect(await since(16_000)).toEqual([59, LIVE, 61, LIVE])
})
test('says what the service has lost in its words, keeps the old rows, and asks again later', async () => {
  const { since, world } = page()
  const lost = `${AWAY.error.text} What is shown was read at 2026-01-01 00:00:00 UTC; it is asked for again.`
  world.answer = () => Promise.resolve(screen(5, AWAY))
  expect(await since(6000)).toEqual([
    LIVE,
    2,
    lost,
    'bad reconnecting · 2 s old',
    6,
    lost,
    'bad reconnecting · 6 s old',
  ])
})
test('a page that shows nothing but the reason begins with it and needs no second one', async () => {
  const { since, world } = page(screen(0, AWAY))
  world.answer = () => Promise.resolve(screen(5, AWAY))
  expect(await since(4000)).toEqual(['bad reconnecting · 0 s old', 4, 'bad reconnecting · 4 s old'])
})
test('asks nothing while it is hidden or something is selected, and says that it is paused', async () => {
  const { since, tell, world } = page()
  world.busy = true
  expect(await since(5000)).toEqual([LIVE])
  tell()
  expect(await since(0)).toEqual(['held paused · 5 s old'])
  world.busy = false
  world.hidden = true
  expect(await since(2000)).toEqual([])
  tell()
  expect(await since(1000)).toEqual([LIVE])
  tell()
  expect(await since(0)).toEqual([LIVE])
  expect(await since(1)).toEqual([])
  tell()
  expect(await since(0)).toEqual(['busy stale · 8 s old'])
  world.hidden = false
  expect(await since(2000)).toEqual([10, LIVE])
})
test('is asked again by its user at once, but not twice at the same time', async () => {
  const { since, ask, retry, world } = page()
  let answer: (given: Screen) => void = () => {}
  world.answer = () => new Promise((resolve) => (answer = resolve))
  retry()
  retry()
  expect(await since(500)).toEqual([LIVE, 0])
  answer(screen(0))
  expect(await since(1000)).toEqual([LIVE])
  world.answer = () => Promise.resolve(screen(0))
  await ask()
  expect(await since(1999)).toEqual([1.5, LIVE])
  expect(await since(1)).toEqual([3.5, LIVE])
})
test('loads the whole page anew when the answer is no screen, and asks nothing more', async () => {
  const { since, world } = page()
  world.answer = () => Promise.resolve(null)
  expect(await since(20_000)).toEqual([LIVE, 2, 'reload'])
})
