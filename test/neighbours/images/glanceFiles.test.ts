/** Which reason is told when an image did not come in time, and what a host uses while Glance cannot be asked. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Image, noImage } from '../../../src/vocabulary/images.ts'
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

const BITS = Buffer.from('bits')
const send: Glance['bytes'] = async () => ({
  found: true,
  start: 0,
  body: (async function* () {
    yield BITS
  })(),
})
const LIMITS = { imageMaxBytes: 1000, allowUnverified: false }

/**
 * `find` is what Glance does when it is asked for the description, call by call. Those that are opened later are of the
 * same host, started again.
 */
const opened = (find: readonly Glance['find'][], limits: Partial<typeof LIMITS> = {}, bytes?: Glance['bytes']) => {
  const [clock, log] = [handClock(), memoryLog()]
  let asked = 0
  const glance: Glance = {
    search: () => expect.unreachable(),
    bytes: bytes ?? (() => expect.unreachable()),
    look: () => expect.unreachable(),
    whyFailing: () => null,
    isAbsent: () => false,
    find: async (uuid) => {
      const answer = find[asked++]
      return answer ? answer(uuid) : expect.unreachable()
    },
  }
  const options = {
    ...LIMITS,
    totalMs: 5000,
    cacheMaxBytes: 1000,
    downloadsMax: 1,
    pauses: { firstMs: 100, maxMs: 400 },
    ...limits,
  }
  const cache = createImageCache(dir, 1000, clock)
  const files = createGlanceFiles({ glance, cache, options, clock, log })
  const open = (withinMs: number, signal = new AbortController().signal) => files.open(UUID, { withinMs, signal })
  return { clock, log, open, asked: () => asked }
}
const away = async () => noImage('unavailable', 'the image service answers 503')
const late = (reason: string, signal: AbortSignal) => async () =>
  new Promise<ReturnType<typeof noImage>>((resolve) => {
    signal.addEventListener('abort', () => resolve(noImage('unavailable', reason)))
  })

test('what went wrong before is told, and not that the time was over during the next attempt', async () => {
  const stop = new AbortController()
  const { clock, open, log } = opened([away, late('aborted', stop.signal)])
  const got = open(5000, stop.signal)
  await until(() => log.said.length === 1)
  await clock.pass(100)
  stop.abort(new Error('a newer order came'))
  expect(await got).toEqual(noImage('unavailable', 'the image service answers 503'))
  expect(log.said.map(({ message }) => message)).toEqual(['images.notYet'])
})
test('when the first attempt was under way, what became of it is told', async () => {
  const stop = new AbortController()
  const { open, log } = opened([late('aborted', stop.signal)])
  const got = open(5000, stop.signal)
  await quiet()
  stop.abort(new Error('a newer order came'))
  expect(await got).toEqual(noImage('unavailable', 'aborted'))
  expect(log.said).toEqual([])
})

test.each([
  ['xclbin2 and more', '.xclbin'],
  ['XeonFPGA\xb7GBSv003', '.gbs'],
  ['XeonFPGA\xb8GBSv003', '.bin'],
])('a file that begins with %j has the suffix that tools expect: %s', async (bits, suffix) => {
  const bytes = Buffer.from(bits, 'latin1')
  const digest = { algorithm: 'sha256', value: createHash('sha256').update(bytes).digest('hex') }
  const image: Image = { uuid: UUID, name: null, size: bytes.byteLength, digest, tags: ['FPGA'], properties: {} }
  const body = (async function* () {
    yield bytes
  })()
  const { open } = opened([async () => ({ found: true, image })], {}, async () => ({ found: true, start: 0, body }))
  expect(await open(5000)).toMatchObject({ found: true, path: expect.stringMatching(`${UUID}\\${suffix}$`) })
})

describe('FILES-4 while Glance cannot be asked', () => {
  const IMAGE: Image = {
    uuid: UUID,
    name: 'aes',
    size: BITS.byteLength,
    digest: { algorithm: 'sha256', value: createHash('sha256').update(BITS).digest('hex') },
    tags: ['FPGA'],
    properties: { vendor: 'intel', 'bs-name': 'aes', shell_id: '', topology: '{"pf_num": 0, "pf": []}' },
  }
  const gives = (image: Image) => async () => ({ found: true as const, image })
  const got = async (image = IMAGE, limits: Partial<typeof LIMITS> = {}) => {
    const file = await opened([gives(image)], limits, send).open(5000)
    if (!file.found) throw new Error(file.why)
    file.close()
  }
  /** What came of it when Glance could not be asked twice. */
  const without = async (limits: Partial<typeof LIMITS> = {}) => {
    const stop = new AbortController()
    const host = opened([away, away, late('aborted', stop.signal)], limits)
    const file = host.open(5000, stop.signal)
    await until(() => host.log.said.length === 1)
    await host.clock.pass(100)
    await until(() => host.log.said.length > 1 && host.log.said.at(-1)!.message !== 'images.keptFileDiffers')
    stop.abort(new Error('enough'))
    return { file: await file, messages: host.log.said.map(({ message }) => message), asked: host.asked() }
  }
  const NOT_USED = {
    file: noImage('unavailable', 'the image service answers 503'),
    messages: ['images.notYet', 'images.notYet'],
  }
  const folder = () => join(dir, readdirSync(dir)[0]!)

  test('it is asked once more, and then an image in the cache is used with all that was known of it', async () => {
    await got()
    const { file, messages, asked } = await without()
    expect(file).toMatchObject({ found: true, image: IMAGE })
    expect(readFileSync((file as { readonly path: string }).path)).toEqual(BITS)
    expect([messages, asked]).toEqual([['images.notYet', 'images.usedWithoutAsking'], 2])
  })
  test('the description that it gave last counts', async () => {
    await got()
    const changed = { ...IMAGE, properties: { vendor: 'xilinx' } }
    await got(changed)
    expect((await without()).file).toMatchObject({ found: true, image: changed })
  })
  test.each([
    ['is not there, as a former release left it', () => rmSync(join(folder(), `${UUID}.json`))],
    ['is cut off', () => writeFileSync(join(folder(), `${UUID}.json`), JSON.stringify(IMAGE).slice(0, -1))],
    [
      'is that of other bytes',
      () =>
        writeFileSync(
          join(folder(), `${UUID}.json`),
          JSON.stringify({ ...IMAGE, digest: { algorithm: 'sha256', value: 'f'.repeat(64) } }),
        ),
    ],
    [
      'is that of another image',
      () => writeFileSync(join(folder(), `${UUID}.json`), JSON.stringify({ ...IMAGE, uuid: UUID.replace('4a', '4b') })),
    ],
  ])('an image whose description %s is not used', async (_what, harm) => {
    await got()
    harm()
    expect(await without()).toMatchObject(NOT_USED)
  })
  test.each(['unknown', 'inactive', 'forbidden'] as const)(
    'an image of which Glance said that it is %s is not used, until Glance gives it again (FILES-5)',
    async (why) => {
      await got()
      // its bytes are there twice, as before and after it got a digest
      await got({ ...IMAGE, digest: null }, { allowUnverified: true })
      expect(await opened([async () => noImage(why)]).open(5000)).toEqual(noImage(why))
      expect(await without({ allowUnverified: true })).toMatchObject(NOT_USED)
      await got()
      expect((await without()).file).toMatchObject({ found: true, image: IMAGE })
    },
  )
  test('that Glance did not answer removes no description', async () => {
    await got()
    await without()
    expect((await without()).file).toMatchObject({ found: true, image: IMAGE })
  })
  test('an image that the present limits do not allow is not used', async () => {
    await got({ ...IMAGE, digest: null }, { allowUnverified: true })
    expect(await without()).toMatchObject(NOT_USED)
    expect(await without({ allowUnverified: true, imageMaxBytes: 3 })).toMatchObject(NOT_USED)
    expect((await without({ allowUnverified: true })).file).toMatchObject({ found: true })
  })
  test('bytes that have changed are not used', async () => {
    await got()
    writeFileSync(join(folder(), 'bits'), 'stib')
    expect(await without()).toMatchObject({
      ...NOT_USED,
      messages: ['images.notYet', 'images.keptFileDiffers', 'images.notYet'],
    })
  })
})
