/** What every image store does: a folder, and Glance. */
import { randomBytes, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ImageCatalogue, ImageSearch } from '../../src/actors/neighbours.ts'
import type { ImageFiles } from '../../src/vocabulary/images.ts'
import type { Upload } from '../support/imageUpload.ts'

export type ImageStore = {
  readonly catalogue: ImageCatalogue
  readonly files: ImageFiles
  readonly put: (description: Upload, bytes: Uint8Array) => Promise<string>
}
const term = { withinMs: 20_000, signal: new AbortController().signal }
const MANY = 103

export const imageContract = (store: () => ImageStore): void => {
  const found = async (by: ImageSearch['by'], value: string): Promise<readonly string[]> => {
    const got = await store().catalogue.search({ by, value })
    if (!got.found) throw new Error(got.why)
    return got.images.map(({ uuid }) => uuid).toSorted()
  }
  describe('an image store', () => {
    test('knows an image by its id, with size and properties', async () => {
      const bytes = randomBytes(1000)
      const uuid = await store().put({ name: 'aes', 'bs-name': 'aes-128', function_uuid: 'F1', vendor: 'Intel' }, bytes)
      expect(await store().catalogue.find(uuid)).toMatchObject({
        found: true,
        image: {
          uuid,
          name: 'aes',
          size: 1000,
          tags: ['FPGA'],
          digest: { algorithm: 'sha512', value: expect.stringMatching(/^[0-9a-f]{128}$/) },
          properties: { 'bs-name': 'aes-128', function_uuid: 'F1', vendor: 'Intel' },
        },
      })
    })
    test('hands out its bytes, in a file whose name begins with the id', async () => {
      const bytes = randomBytes(300_000)
      const uuid = await store().put({}, bytes)
      const file = await store().files.open(uuid, term)
      if (!file.found) throw new Error(file.why)
      expect(Buffer.compare(await readFile(file.path), bytes)).toBe(0)
      expect(basename(file.path)).toMatch(new RegExp(`^${uuid}(\\.\\w+)?$`))
      file.close()
    })
    test('lists all images that it has', async () => {
      const put = [await store().put({ name: 'one' }, randomBytes(10)), await store().put({}, randomBytes(10))]
      const got = await store().catalogue.search({ by: 'all' })
      if (!got.found) throw new Error(got.why)
      expect(got.images.map(({ uuid }) => uuid)).toEqual(expect.arrayContaining(put))
    })
    test('says that it does not know an image', async () => {
      const uuid = randomUUID()
      expect(await store().catalogue.find(uuid)).toEqual({ found: false, why: 'unknown' })
      expect(await store().files.open(uuid, term)).toEqual({ found: false, why: 'unknown' })
    })
    test.each([
      ['bitstream_name', 'bs-name'],
      ['bitstream_name', 'bs_name'],
      ['function_id', 'function_uuid'],
      ['function_id', 'accel:function_id'],
      ['function_name', 'function_name'],
    ] as const)('finds by %s what has the property %s', async (by, property) => {
      const [value, other] = [`a ${randomUUID()}&limit=0`, randomUUID()]
      const uuid = await store().put({ [property]: value }, randomBytes(10))
      await store().put({ [property]: other }, randomBytes(10))
      await store().put({ [property]: value, tags: [] }, randomBytes(10))
      expect(await found(by, value)).toEqual([uuid])
      expect(await found(by, randomUUID())).toEqual([])
    })
    test('finds an image once that has both names of a property', async () => {
      const value = randomUUID()
      const uuid = await store().put({ function_uuid: value, 'accel:function_id': value }, randomBytes(10))
      expect(await found('function_id', value)).toEqual([uuid])
    })
    test.each([
      [{ tags: ['fpga'] }, 'it does not have the tag FPGA'],
      [{ function_uuid: 'a', 'accel:function_id': 'b' }, 'function_uuid and accel:function_id differ'],
    ])('refuses what is no bitstream: %j', async (description, detail) => {
      const uuid = await store().put(description, randomBytes(10))
      const refused = { found: false, why: 'unusable', detail }
      expect(await store().catalogue.find(uuid)).toEqual(refused)
      expect(await store().files.open(uuid, term)).toEqual(refused)
    })
    test('finds all of many', async () => {
      const value = randomUUID()
      const made: string[] = []
      for (let n = 0; n < MANY; n++) made.push(await store().put({ function_name: value }, randomBytes(10)))
      expect(await found('function_name', value)).toEqual(made.toSorted())
    }, 60_000)
  })
}
