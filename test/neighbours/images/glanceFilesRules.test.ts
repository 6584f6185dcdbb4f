/** Which images a host takes from Glance, how often it tries, and for how long. Glance does as it is told. */
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Image, type NoImage, noImage } from '../../../src/images.ts'
import { createImageCache } from '../../../src/neighbours/images/cache.ts'
import type { Glance } from '../../../src/neighbours/images/glance.ts'
import { createGlanceFiles, type FilesOptions } from '../../../src/neighbours/images/glanceFiles.ts'
import { handClock, memoryLog, quiet, until } from '../../support/lab.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-images-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const UUID = '4a3bd0ae-0000-4000-8000-00000000abcd'
const OTHER = UUID.replace('4a', '4b')
const imageOf = (bits: string, more: Partial<Image> = {}): Image => ({
  uuid: UUID,
  name: null,
  size: bits.length,
  digest: { algorithm: 'sha256', value: createHash('sha256').update(bits).digest('hex') },
  tags: ['FPGA'],
  properties: {},
  ...more,
})
const keyOf = ({ digest }: Image) => `sha256_${digest!.value}`
const OPTIONS: FilesOptions = {
  totalMs: 60_000,
  imageMaxBytes: 100,
  cacheMaxBytes: 100,
  downloadsMax: 1,
  pauses: { firstMs: 100, maxMs: 400 },
  allowUnverified: false,
}
type Bits = string | NoImage | ((uuid: string, signal: AbortSignal) => string | Promise<string>)
/** `find` and `bits` are asked call by call; the last one answers every later call. */
const opened = (find: readonly (Image | NoImage)[], bits: readonly Bits[], more: Partial<FilesOptions> = {}) => {
  const [clock, log] = [handClock(), memoryLog()]
  const options = { ...OPTIONS, ...more }
  const asked: string[] = []
  let [finds, sends] = [0, 0]
  const glance: Glance = {
    search: () => expect.unreachable(),
    look: () => expect.unreachable(),
    whyFailing: () => 'away',
    isAbsent: () => false,
    find: async (uuid) => {
      asked.push(`find ${uuid}`)
      const answer = find[Math.min(finds++, find.length - 1)]!
      return 'found' in answer ? answer : { found: true, image: { ...answer, uuid } }
    },
    bytes: async (uuid, from, signal) => {
      asked.push(`bytes ${uuid} ${from}`)
      const send = bits[Math.min(sends++, bits.length - 1)]!
      const answer = typeof send === 'function' ? await send(uuid, signal) : send
      if (typeof answer !== 'string') return answer
      const body = (async function* () {
        yield Buffer.from(answer)
      })()
      return { found: true, start: 0, body }
    },
  }
  const cache = createImageCache(dir, options.cacheMaxBytes, clock)
  const files = createGlanceFiles({ glance, cache, options, clock, log })
  const open = (uuid = UUID, withinMs = 50_000, signal = new AbortController().signal) =>
    files.open(uuid, { withinMs, signal })
  return { clock, log, cache, asked, open, messages: () => log.said.map(({ message }) => message) }
}
const inside = (key: string) => readdirSync(join(dir, key)).toSorted()

test('an image is downloaded once, described beside its bytes, and used under its name until it is closed', async () => {
  const image = imageOf('bits')
  const { asked, cache, log, open } = opened([image], ['bits'])
  const file = await open()
  const path = join(dir, keyOf(image), `${UUID}.bin`)
  expect(file).toEqual({ found: true, image, path, close: expect.any(Function) })
  expect(readFileSync(path, 'utf8')).toBe('bits')
  expect(inside(keyOf(image))).toEqual([`${UUID}.bin`, `${UUID}.json`, 'bits'])
  expect(JSON.parse(readFileSync(join(dir, keyOf(image), `${UUID}.json`), 'utf8'))).toEqual(image)
  expect(log.said).toEqual([
    { level: 'info', message: 'images.downloaded', detail: { image: UUID, bytes: 4, resumed_at: 0, ms: 0 } },
  ])
  expect(await open(OTHER)).toMatchObject({ found: true, path: path.replace(UUID, OTHER) })
  expect(asked).toEqual([`find ${UUID}`, `bytes ${UUID} 0`, `find ${OTHER}`])
  expect(await cache.reserve('sha256_' + 'a'.repeat(64), 97)).toBe(false)
  if (file.found) file.close()
  // the other one is still in use
  expect(await cache.reserve('sha256_' + 'b'.repeat(64), 97)).toBe(false)
})

test.each<[string, Partial<Image>, Partial<FilesOptions>, NoImage | string]>([
  ['no size', { size: null }, {}, noImage('inactive', 'it has no size')],
  ['no byte', { size: 0 }, {}, noImage('inactive', 'it has no size')],
  ['as many bytes as are allowed', {}, { imageMaxBytes: 4 }, 'sha256'],
  ['more than an image may have', {}, { imageMaxBytes: 3 }, noImage('too_large', '4 bytes, of which 3 are allowed')],
  ['as many bytes as all images may have', {}, { cacheMaxBytes: 4 }, 'sha256'],
  ['more than all may have', {}, { cacheMaxBytes: 3 }, noImage('too_large', '4 bytes, of which 3 are allowed')],
  ['no digest', { digest: null }, {}, noImage('unverifiable')],
  ['no digest, where none is needed', { digest: null }, { allowUnverified: true }, 'unverified'],
])('an image with %s is judged by its description', async (_, more, options, expected) => {
  const { asked, open } = opened([imageOf('bits', more)], ['bits'], options)
  const got = await open()
  if (typeof expected === 'string') {
    const [key] = readdirSync(dir)
    expect([got.found, key!.split('_')[0]]).toEqual([true, expected])
    if (expected === 'unverified') expect(key).toBe(`unverified_${UUID}`)
  } else expect([got, asked]).toEqual([expected, [`find ${UUID}`]])
})

test('FILES-1 a problem for good ends the work, any other is tried again after growing pauses', async () => {
  const final = opened([noImage('forbidden')], [])
  expect([await final.open(), final.asked.length, final.messages()]).toEqual([noImage('forbidden'), 1, []])
  const away = noImage('unavailable', 'away')
  const { clock, asked, open, messages, log } = opened([away, away, away, away, away, imageOf('bits')], ['bits'])
  const got = open()
  for (const [n, ms] of [100, 200, 400, 400, 400].entries()) {
    await until(() => messages().length === n + 1)
    await quiet()
    await clock.pass(ms - 1)
    await quiet()
    expect([ms, asked.length]).toEqual([ms, n + 1])
    await clock.pass(1)
  }
  expect(await got).toMatchObject({ found: true })
  expect(log.said[0]).toEqual({
    level: 'warn',
    message: 'images.notYet',
    detail: { image: UUID, why: 'unavailable', reason: 'away' },
  })
  expect(messages().slice(-1)).toEqual(['images.downloaded'])
})

test('FILES-3 bytes that are wrong are fetched once more, and not a third time', async () => {
  const image = imageOf('bits')
  const once = opened([image], ['bitz', 'bits'])
  const got = once.open()
  await until(() => once.messages().length === 1)
  await quiet()
  await once.clock.pass(100)
  expect(await got).toMatchObject({ found: true })
  rmSync(join(dir, keyOf(image)), { recursive: true })
  const twice = opened([image], ['bitz'])
  const lost = twice.open()
  await until(() => twice.messages().length === 1)
  await quiet()
  await twice.clock.pass(100)
  expect(await lost).toEqual(noImage('corrupt'))
  expect(twice.asked.filter((line) => line.startsWith('bytes'))).toHaveLength(2)
})

test.each([
  ['as long as the order waits', 300, 60_000, 300],
  ['no longer than one image may take', 90_000, 250, 250],
])('nobody waits longer than agreed: %s', async (_, withinMs, totalMs, limitMs) => {
  const { clock, open } = opened([noImage('unavailable', 'away')], [], {
    totalMs,
    pauses: { firstMs: 5000, maxMs: 5000 },
  })
  let got: unknown = null
  void open(UUID, withinMs).then((answer) => (got = answer))
  await quiet()
  await clock.pass(limitMs - 1)
  await quiet()
  expect(got).toBeNull()
  await clock.pass(1)
  await until(() => got !== null)
  expect(got).toEqual(noImage('unavailable', 'away'))
})

test('FILES-2 so many images are downloaded at once; the same bytes are downloaded once', async () => {
  const bitsOf = (uuid: string): string => (uuid === OTHER ? 'bbbb' : 'aaaa')
  const images = [UUID, OTHER].map((uuid) => imageOf(bitsOf(uuid)))
  const bytes = (asked: readonly string[]) => asked.filter((line) => line.startsWith('bytes')).length
  const gate = Promise.withResolvers<void>()
  const narrow = opened(images, [(uuid) => gate.promise.then(() => bitsOf(uuid)), bitsOf], { downloadsMax: 1 })
  const both = [narrow.open(UUID), narrow.open(OTHER)]
  await until(() => bytes(narrow.asked) === 1)
  await quiet()
  expect(bytes(narrow.asked)).toBe(1)
  gate.resolve()
  expect((await Promise.all(both)).map(({ found }) => found)).toEqual([true, true])
  expect(bytes(narrow.asked)).toBe(2)
  for (const key of readdirSync(dir)) rmSync(join(dir, key), { recursive: true })
  const wide = opened(images, [bitsOf], { downloadsMax: 2 })
  await Promise.all([wide.open(UUID), wide.open(OTHER)])
  expect(bytes(wide.asked)).toBe(2)
  for (const key of readdirSync(dir)) rmSync(join(dir, key), { recursive: true })
  const same = opened([imageOf('aaaa')], ['aaaa'], { downloadsMax: 2 })
  await Promise.all([same.open(UUID), same.open(OTHER), same.open(UUID)])
  expect(bytes(same.asked)).toBe(1)
})

test('images that are in use leave no room for another', async () => {
  const { clock, asked, open, messages, log } = opened([imageOf('aaaa'), imageOf('bbbb')], ['aaaa', 'bbbb'], {
    cacheMaxBytes: 7,
  })
  const first = await open()
  const second = open(OTHER)
  await until(() => messages().includes('images.notYet'))
  expect(log.said.at(-1)!.detail).toMatchObject({ reason: 'images that are in use fill the cache' })
  expect(asked.filter((line) => line.startsWith('bytes'))).toHaveLength(1)
  if (first.found) first.close()
  await quiet()
  await clock.pass(100)
  expect(await second).toMatchObject({ found: true })
  expect(readdirSync(dir)).toEqual([keyOf(imageOf('bbbb'))])
})

test('a description that cannot be kept or removed keeps no image back', async () => {
  const image = imageOf('bits')
  const { open, log } = opened([image, image, noImage('forbidden')], ['bits'])
  await open()
  const path = join(dir, keyOf(image), `${UUID}.json`)
  rmSync(path)
  mkdirSync(path)
  expect(await open()).toMatchObject({ found: true })
  expect(await open()).toEqual(noImage('forbidden'))
  const detail = { image: UUID, reason: expect.stringMatching(/EISDIR|directory/) }
  expect(log.said.slice(1)).toEqual([
    { level: 'warn', message: 'images.notDescribed', detail },
    { level: 'warn', message: 'images.notForgotten', detail },
  ])
})

test('an image that could not be had keeps no room, however that ended', async () => {
  const cut = () => Promise.reject(new Error('cut'))
  for (const [bits, problem] of [
    [noImage('forbidden'), noImage('forbidden')],
    [cut, noImage('unavailable', 'cut')],
  ] as const) {
    const { cache, messages, open } = opened([imageOf('bits')], [bits])
    const stop = new AbortController()
    const got = open(UUID, 50_000, stop.signal)
    if (bits === cut) {
      await until(() => messages().length === 1)
      stop.abort()
    }
    expect(await got).toEqual(problem)
    expect(await cache.reserve('sha256_' + 'a'.repeat(64), 100)).toBe(true)
    for (const key of readdirSync(dir)) rmSync(join(dir, key), { recursive: true })
  }
})

test('a download is broken off when nobody waits longer, and why is told', async () => {
  const never = (_uuid: string, signal: AbortSignal) =>
    new Promise<string>((_resolve, reject) => {
      signal.throwIfAborted()
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
  const late = opened([imageOf('bits')], [never])
  const got = late.open(UUID, 300)
  await until(() => late.asked.length === 2)
  await late.clock.pass(300)
  expect(await got).toEqual(noImage('unavailable', 'the image did not come within 300 ms'))
  const past = opened([imageOf('bits')], [never])
  const none = past.open(UUID, -5)
  await until(() => past.asked.length === 2)
  await past.clock.pass(0)
  expect(await none).toMatchObject({ found: false, why: 'unavailable' })
})

test('FILES-4, FILES-5 an image is used and forgotten by its UUID in any spelling, and each is told of', async () => {
  const image = imageOf('bits')
  await opened([image], ['bits']).open()
  const host = opened([noImage('unavailable', 'away')], [])
  const without = async () => {
    const got = host.open(UUID.toUpperCase())
    const before = host.log.said.length
    await until(() => host.log.said.length > before)
    await quiet()
    await host.clock.pass(100)
    return got
  }
  expect(await without()).toMatchObject({ found: true, image })
  expect(host.log.said).toEqual([
    {
      level: 'warn',
      message: 'images.notYet',
      detail: { image: UUID.toUpperCase(), why: 'unavailable', reason: 'away' },
    },
    { level: 'warn', message: 'images.usedWithoutAsking', detail: { image: UUID, reason: 'away' } },
  ])
  writeFileSync(join(dir, keyOf(image), 'bits'), 'stib')
  const changed = opened([image], ['bits'])
  expect(await changed.open()).toMatchObject({ found: true })
  expect(changed.log.said[0]).toEqual({
    level: 'warn',
    message: 'images.keptFileDiffers',
    detail: { image_digest: keyOf(image) },
  })
  expect(await opened([noImage('forbidden')], []).open(UUID.toUpperCase())).toEqual(noImage('forbidden'))
  expect(inside(keyOf(image))).toEqual([`${UUID}.bin`, 'bits'])
})
