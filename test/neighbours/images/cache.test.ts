/** The folder of images on a host: what leaves it when room is needed, and what never does. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createImageCache } from '../../../src/neighbours/images/cache.ts'
import { handClock } from '../../support/lab.ts'

const key = (letter: string): string => `sha512_${letter.repeat(32)}`
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map(key) as [string, string, string, string]
let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'accelerando-cache-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))
const clock = handClock()
const open = (maxBytes = 100) => createImageCache(dir, maxBytes, clock)
/** Used so many seconds after the epoch. */
const put = (name: string, bytes: number, usedAt: number, file = 'bits') => {
  mkdirSync(join(dir, name), { recursive: true })
  writeFileSync(join(dir, name, file), 'x'.repeat(bytes))
  utimesSync(join(dir, name), usedAt, usedAt)
}
const kept = () => readdirSync(dir).toSorted()

describe('room for an image', () => {
  test('is there up to the last byte, and the folder is made', async () => {
    put(A, 60, 1)
    expect(await open().reserve(B, 40)).toBe(true)
    expect(kept()).toEqual([A, B])
    expect(open().place(B)).toEqual({ dir: join(dir, B), whole: join(dir, B, 'bits'), part: join(dir, B, 'part') })
  })
  test('is made by those that are not used for longest, and no more of them than needed', async () => {
    put(A, 30, 3)
    put(B, 30, 1)
    put(C, 30, 2)
    expect(await open().reserve(D, 11)).toBe(true)
    expect(kept()).toEqual([A, C, D])
    rmSync(join(dir, D), { recursive: true })
    expect(await open().reserve(D, 71)).toBe(true)
    expect(kept()).toEqual([D])
  })
  test('counts what was received of others, and not what is there of itself', async () => {
    put(A, 20, 1)
    put(A, 30, 1, 'part')
    put(B, 90, 2)
    expect(await open().reserve(B, 50)).toBe(true)
    expect(kept()).toEqual([A, B])
    expect(await open().reserve(B, 51)).toBe(true)
    expect(kept()).toEqual([B])
  })
  test('is not made by what is in use; each use counts, and one that has ended counts once', async () => {
    put(A, 60, 1)
    put(B, 30, 2)
    const cache = open()
    const [first, second] = [cache.pin(A), cache.pin(A)]
    first()
    first()
    expect(await cache.reserve(C, 41)).toBe(false)
    expect(kept()).toEqual([A, C])
    expect(await cache.reserve(C, 40)).toBe(true)
    second()
    expect(await cache.reserve(C, 41)).toBe(true)
    expect(kept()).toEqual([C])
  })
  test('is kept for a download until it is no longer in use', async () => {
    const cache = open()
    const unpin = cache.pin(A)
    expect(await cache.reserve(A, 70)).toBe(true)
    expect(await cache.reserve(B, 31)).toBe(false)
    expect(await cache.reserve(B, 30)).toBe(true)
    unpin()
    const again = cache.pin(A)
    expect(await cache.reserve(B, 100)).toBe(true)
    again()
  })
  test('CACHE-3 is not made by a folder with another name', async () => {
    const others = [
      'other',
      `sha512_${'a'.repeat(31)}`,
      `x${key('a')}x!`,
      `SHA512_${'a'.repeat(32)}`,
      `${key('a')}.old`,
    ]
    for (const name of others) put(name, 90, 1)
    expect(await open().reserve(B, 100)).toBe(true)
    expect(kept()).toEqual([...others, B].toSorted())
  })
  test('is nowhere for an image that is larger than all', async () => {
    put(A, 1, 1)
    expect(await open().reserve(B, 101)).toBe(false)
  })
})

describe('the names of an image', () => {
  test('are one file, and naming it is a use', async () => {
    put(A, 5, 1)
    const cache = open()
    const path = join(dir, A, 'uuid-1.bin')
    expect(await cache.named(A, 'uuid-1.bin')).toBe(path)
    expect(await cache.named(A, 'uuid-1.bin')).toBe(path)
    expect(statSync(path).ino).toBe(statSync(cache.place(A).whole).ino)
    expect(statSync(join(dir, A)).mtimeMs).toBe(clock.now())
    expect(await cache.find('uuid-1')).toEqual([{ key: A, description: null }])
    expect(await cache.find('id-1')).toEqual([])
    await expect(cache.named(B, 'x')).rejects.toThrow('ENOENT')
    rmSync(path)
    writeFileSync(path, '')
    await expect(cache.named(A, 'uuid-1.bin')).rejects.toThrow('EEXIST')
  })
  test('go with the whole file, and what was received of a new one stays', async () => {
    put(A, 5, 1)
    put(A, 3, 1, 'part')
    const cache = open()
    await cache.named(A, 'uuid-1.bin')
    await cache.clear(A)
    expect(readdirSync(join(dir, A))).toEqual(['part'])
    await cache.clear(B)
    expect(existsSync(join(dir, B))).toBe(false)
  })
  test('are none where there is no folder', async () => {
    rmSync(dir, { recursive: true })
    expect(await open().find('uuid-1')).toEqual([])
  })
})

describe('the descriptions of an image', () => {
  const UUID = '4a3bd0ae-0000-4000-8000-00000000abcd'
  const OTHER = UUID.replace('4a', '4b')
  const named = async (...uuids: readonly string[]) => {
    put(A, 5, 1)
    const cache = open()
    for (const uuid of uuids) {
      await cache.named(A, `${uuid}.bin`)
      await cache.describe(A, uuid, `of ${uuid}`)
    }
    return cache
  }
  test('are forgotten one by one, and bytes and names stay', async () => {
    const cache = await named(UUID, OTHER)
    await cache.forget(UUID)
    expect(readdirSync(join(dir, A)).toSorted()).toEqual([`${UUID}.bin`, `${OTHER}.bin`, `${OTHER}.json`, 'bits'])
    expect(await cache.find(UUID)).toEqual([{ key: A, description: null }])
    expect(await cache.find(OTHER)).toEqual([{ key: A, description: `of ${OTHER}` }])
    // what nobody has kept is forgotten without a word
    await cache.forget(UUID)
    await cache.forget('none')
  })
  test('have eight MiB at most', async () => {
    const cache = await named(UUID)
    const file = join(dir, A, `${UUID}.json`)
    const most = 8 * 1024 * 1024
    writeFileSync(file, 'x'.repeat(most))
    expect((await cache.find(UUID))[0]!.description).toHaveLength(most)
    writeFileSync(file, 'x'.repeat(most + 1))
    expect(await cache.find(UUID)).toEqual([{ key: A, description: null }])
  })
})
