/** The line that tells how far long work has come. */
import { expect, test } from 'vitest'
import { counting, openProgress, progressLine, withProgress } from '../../src/cli/progress.ts'

const CLEAR = '\r\u001B[K'
const terminal = (isTTY: boolean) => {
  const written: string[] = []
  return { isTTY, columns: 60, written, write: (text: string) => void written.push(text) }
}
const clock = () => {
  let now = 0
  return { monotonic: () => now, pass: (ms: number) => void (now += ms) }
}

test('it says how much is done, how long it took, and how long it will take', () => {
  expect(progressLine({ what: 'rows', total: 200 }, 50, 10_000)).toBe(
    '[######------------------]  25 %  50 of 200 rows, 10 s, 30 s to go',
  )
  expect(progressLine({ what: 'rows', total: null }, 50, 10_000)).toBe('50 rows, 10 s')
  expect(progressLine({ what: 'rows', total: 200 }, 0, 0)).toBe('[------------------------]   0 %  0 of 200 rows, 0 s')
})

test.each([
  [{ what: 'rows', total: 0 }, 5, 1000, '5 rows, 1 s'],
  [{ what: 'rows', total: -1 }, 5, 1499, '5 rows, 1 s'],
  [{ what: 'rows', total: 1 }, 0, 1500, '[------------------------]   0 %  0 of 1 rows, 2 s'],
  [{ what: 'rows', total: 1000 }, 999, 999, '[#######################-]  99 %  999 of 1000 rows, 1 s, 0 s to go'],
  [{ what: 'rows', total: 10 }, 10, 2000, '[########################] 100 %  10 of 10 rows, 2 s, 0 s to go'],
  [{ what: 'rows', total: 10 }, 12, 2000, '[########################] 100 %  12 of 10 rows, 2 s, 0 s to go'],
] as const)('%j, %i of it: %s', (work, done, ms, line) => expect(progressLine(work, done, ms)).toBe(line))

test('it is written over, at most ten times a second, no longer than the line, and taken away in the end', () => {
  const [screen, time] = [terminal(true), clock()]
  const progress = openProgress({ what: 'accelerator requests', total: 10 }, { terminal: screen, clock: time })
  progress.add(1)
  progress.add(1)
  time.pass(99)
  progress.add(0)
  time.pass(1)
  progress.add(1)
  progress.end()
  progress.add(1)
  progress.end()
  expect(screen.written).toHaveLength(3)
  expect(screen.written[1]).toContain('\r\u001B[K[#######-----------------]  30 %  3 of 10')
  expect(screen.written.every((text) => text.length <= 60 + 4)).toBe(true)
  expect(screen.written[2]).toBe('\r\u001B[K')
})

test('a terminal that does not say how wide it is gets the whole line', () => {
  const screen = { ...terminal(true), columns: 0 }
  openProgress({ what: 'rows', total: null }, { terminal: screen, clock: clock() }).add(1)
  expect(screen.written).toEqual([`${CLEAR}1 rows, 0 s`])
  const what = 'x'.repeat(200)
  openProgress({ what, total: null }, { terminal: screen, clock: clock() }).add(1)
  expect(screen.written[1]).toBe(`${CLEAR}1 ${'x'.repeat(77)}`)
})

test('nothing is written where nobody looks at a terminal', async () => {
  const screen = terminal(false)
  await withProgress({ what: 'rows', total: 1 }, async ({ add }) => add(1), { terminal: screen, clock: clock() })
  expect(screen.written).toEqual([])
})

test('the line is taken away when the work fails', async () => {
  const screen = terminal(true)
  const work = withProgress({ what: 'rows', total: 1 }, async () => Promise.reject(new Error('full')), {
    terminal: screen,
    clock: clock(),
  })
  await expect(work).rejects.toThrow('full')
  expect(screen.written).toEqual(['\r\u001B[K'])
})

test('what is passed on is counted', () => {
  let count = 0
  expect([...counting(['a', 'b'], { add: (more) => void (count += more) })]).toEqual(['a', 'b'])
  expect(count).toBe(2)
  const passed = counting(['abc', 'd'], { add: (more) => void (count += more) }, ({ length }) => length)
  // an item counts when it was dealt with
  expect([passed.next().value, count, passed.next().value, count, passed.next().done, count]).toEqual([
    'abc',
    2,
    'd',
    5,
    true,
    6,
  ])
})
