/** A folder of images: whether a file is still the one that was loaded, and by which words an image is found. */
import { createHash } from 'node:crypto'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ImageSearch } from '../../../src/actors/neighbours.ts'
import { folderCatalogue, folderFiles } from '../../../src/neighbours/images/folder.ts'
import { memoryLog } from '../../support/lab.ts'

const IMAGE = '11111111-2222-4333-8444-5555aaaa6666'
const OTHER = IMAGE.replace(/^1/, '2')
const term = { withinMs: 1000, signal: new AbortController().signal }
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'images-'))
})
afterEach(() => rmSync(folder, { recursive: true }))
const put = (bytes: string, uuid = IMAGE): void => writeFileSync(join(folder, `${uuid}.gbs`), bytes)
const tell = (told: unknown, uuid = IMAGE): void => writeFileSync(join(folder, `${uuid}.json`), JSON.stringify(told))
const digest = (bytes: string, algorithm = 'sha256') => ({
  algorithm,
  value: createHash(algorithm).update(bytes).digest('hex'),
})

test('a file is the same as long as its bytes are, whatever its description says of them', async () => {
  const files = folderFiles(folder)
  const isSame = async (loaded: ReturnType<typeof digest> | null) => {
    const found = await files.compare!(IMAGE, loaded, term)
    return found.found ? found.isSame : found.why
  }
  expect(await isSame(digest('bits'))).toBe('unknown')
  put('bits')
  expect(await isSame(digest('bits'))).toBe(true)
  expect(await isSame(digest('bits', 'sha512'))).toBe(true)
  expect(await isSame(digest('bots'))).toBe(false)
  expect(await isSame(null)).toBe(null)
  tell({ os_hash_algo: 'sha512', os_hash_value: digest('bits', 'sha512').value })
  expect(await isSame(digest('bits'))).toBe(true)
  // of the same length, at the same place
  put('bots')
  expect(await isSame(digest('bits'))).toBe(false)
  put('bits', 'beside')
  renameSync(join(folder, 'beside.gbs'), join(folder, `${IMAGE}.gbs`))
  expect(await isSame(digest('bits'))).toBe(true)
  tell({ version: 1 })
  expect(await isSame(digest('bits'))).toBe('unusable')
})
test('a file is opened with the digest of its bytes, also where its description names none', async () => {
  put('bits')
  expect(await folderFiles(folder).open(IMAGE, term)).toMatchObject({ image: { digest: digest('bits') } })
  tell({ os_hash_algo: 'sha3_512', os_hash_value: digest('bits', 'sha3-512').value })
  expect(await folderFiles(folder).open(IMAGE, term)).toMatchObject({ image: { digest: digest('bits', 'sha3-512') } })
})
test.each([[[]], ['text'], [7], [null]])(
  'a description that is %j is refused, not taken for an empty one',
  async (told) => {
    put('bits')
    tell(told)
    const refused = { found: false, why: 'unusable', detail: `${IMAGE}.json: must be a JSON object` }
    expect(await folderCatalogue(folder).find(IMAGE)).toEqual(refused)
    expect(await folderFiles(folder).open(IMAGE, term)).toEqual(refused)
  },
)

const F = 'abcdef01-0000-4000-8000-00000000000a'
test.each<[string, ImageSearch, object]>([
  ['its name as the image is named', { by: 'bitstream_name', value: 'aes-77.gbs' }, { name: 'aes-77.gbs' }],
  ['its name without the suffix', { by: 'bitstream_name', value: 'aes-77' }, { name: 'aes-77.gbs' }],
  [
    'its name with a suffix that it does not have',
    { by: 'bitstream_name', value: 'aes-77.gbs' },
    { 'bs-name': 'aes-77' },
  ],
  ['the UUID of its function in the other case', { by: 'function_id', value: F }, { function_uuid: F.toUpperCase() }],
  ['the UUID of its function in capitals', { by: 'function_id', value: F.toUpperCase() }, { 'accel:function_id': F }],
])('an image is found by %s', async (_, wish, told) => {
  put('bits')
  tell(told)
  put('bits', OTHER)
  tell({ name: 'other.gbs', 'bs-name': 'other', function_uuid: OTHER }, OTHER)
  expect(await folderCatalogue(folder).search(wish)).toMatchObject({ found: true, images: [{ uuid: IMAGE }] })
})
test('a name that a property has is preferred to one that an image has', async () => {
  put('bits')
  tell({ 'bs-name': 'aes' })
  put('bits', OTHER)
  tell({ name: 'aes' }, OTHER)
  const found = await folderCatalogue(folder).search({ by: 'bitstream_name', value: 'aes' })
  expect(found).toMatchObject({ images: [{ uuid: IMAGE }] })
})
test('a search that finds nothing says what it compared, and the log names images that cannot be used', async () => {
  put('bits')
  tell({ 'bs-name': 'aes', version: 1 })
  const log = memoryLog()
  const found = await folderCatalogue(folder, log).search({ by: 'bitstream_name', value: 'aes' })
  expect(found).toEqual({
    found: true,
    images: [],
    among:
      'bs-name and name, with and without a suffix such as .gbs, of the images in the folder that a .json file describes',
  })
  expect(log.said).toMatchObject([
    {
      level: 'warn',
      detail: { image: IMAGE, why: 'unusable', reason: 'version must be text' },
      message: 'images.leftOut',
    },
  ])
})
