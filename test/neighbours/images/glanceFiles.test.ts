/** Which reason is told when an image did not come in time. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { noImage } from '../../../src/images.ts'
import { createImageCache } from '../../../src/neighbours/images/cache.ts'
import type { Glance } from '../../../src/neighbours/images/glance.ts'
import { createGlanceFiles } from '../../../src/neighbours/images/glanceFiles.ts'
import { handClock, memoryLog, quiet, until } from '../../support/lab.ts'

const UUID = '4a3bd0ae-0000-4000-8000-00000000abcd'
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-files-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** `find` is what Glance does when it is asked for the description, call by call. */
const opened = (...find: readonly Glance['find'][]) => {
  const [clock, log] = [handClock(), memoryLog()]
  let asked = 0
  const glance: Glance = {
    search: () => expect.unreachable(),
    bytes: () => expect.unreachable(),
    look: () => expect.unreachable(),
    whyFailing: () => null,
    isAbsent: () => false,
    find: async (uuid) => {
      const answer = find[asked++]
      return answer ? answer(uuid) : expect.unreachable()
    },
  }
  const options = {
    totalMs: 5000,
    imageMaxBytes: 1000,
    cacheMaxBytes: 1000,
    downloadsMax: 1,
    pauses: { firstMs: 100, maxMs: 400 },
    allowUnverified: false,
  }
  const cache = createImageCache(dir, 1000, clock)
  const files = createGlanceFiles({ glance, cache, options, clock, log })
  const open = (withinMs: number, signal = new AbortController().signal) => files.open(UUID, { withinMs, signal })
  return { clock, log, open }
}
const away = async () => noImage('unavailable', 'the image service answers 503')
const late = (reason: string, signal: AbortSignal) => async () =>
  new Promise<ReturnType<typeof noImage>>((resolve) => {
    signal.addEventListener('abort', () => resolve(noImage('unavailable', reason)))
  })

test('what went wrong before is told, and not that the time was over during the next attempt', async () => {
  const stop = new AbortController()
  const { clock, open, log } = opened(away, late('aborted', stop.signal))
  const got = open(5000, stop.signal)
  await until(() => log.said.length === 1)
  await clock.pass(100)
  stop.abort(new Error('a newer order came'))
  expect(await got).toEqual(noImage('unavailable', 'the image service answers 503'))
  expect(log.said.map(({ message }) => message)).toEqual(['images.notYet'])
})
test('when the first attempt was under way, what became of it is told', async () => {
  const stop = new AbortController()
  const { open, log } = opened(late('aborted', stop.signal))
  const got = open(5000, stop.signal)
  await quiet()
  stop.abort(new Error('a newer order came'))
  expect(await got).toEqual(noImage('unavailable', 'aborted'))
  expect(log.said).toEqual([])
})
