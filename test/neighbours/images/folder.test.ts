import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { folderCatalogue, folderFiles } from '../../../src/neighbours/images/folder.ts'

const IMAGE = '11111111-2222-4333-8444-5555aaaa6666'
const UNKNOWN = { found: false, why: 'unknown' }
let outside: string
let folder: string
beforeEach(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'images-')))
  folder = join(outside, 'images')
  mkdirSync(folder)
})
afterEach(() => rmSync(outside, { recursive: true }))

const put = (name: string, dir = folder): string => {
  writeFileSync(join(dir, name), 'bits')
  return join(dir, name)
}
const term = { withinMs: 1000, signal: new AbortController().signal }
/** As a host sees it. The catalogue has to agree. */
const find = async (uuid = IMAGE, dir: string | null = folder) => {
  const known = await folderCatalogue(dir).find(uuid)
  const opened = await folderFiles(dir).open(uuid, term)
  expect(known.found).toBe(opened.found)
  return opened
}

test('no folder is configured', async () => {
  expect(await find(IMAGE, null)).toEqual({ found: false, why: 'none' })
  expect(await folderCatalogue(null).search({ by: 'function_id', value: 'x' })).toEqual({ found: false, why: 'none' })
})

test.each(['', '.gbs', '.xclbin', '.bin', '.img', '.BIT'])('a file named by the UUID and "%s"', async (extension) => {
  expect(await find()).toEqual(UNKNOWN)
  const path = put(`${IMAGE}${extension}`)
  expect(await find()).toMatchObject({ found: true, path })
})

test('letters of the UUID may be of either case', async () => {
  const path = put(`${IMAGE.toUpperCase()}.gbs`)
  expect(await find()).toMatchObject({ found: true, path })
  expect(await find(IMAGE.toUpperCase())).toMatchObject({ found: true, path })
})

test('of several, the same one each time', async () => {
  put(`${IMAGE}.xclbin`)
  put(`${IMAGE}.gbs`)
  const first = put(`${IMAGE}.bin`)
  expect(await find()).toMatchObject({ found: true, path: first })
  const bare = put(IMAGE)
  expect(await find()).toMatchObject({ found: true, path: bare })
})

test.each([
  `${IMAGE}.gbs.part`,
  `${IMAGE}.tmp`,
  `${IMAGE}.json`,
  `${IMAGE}-old`,
  `${IMAGE}x`,
  `x${IMAGE}`,
  `${IMAGE}.`,
])('%s is another file', async (name) => {
  put(name)
  expect(await find()).toEqual(UNKNOWN)
})

test.each(['', '.', '..', '../x', 'x', `../images/${IMAGE}`, `${IMAGE}/..`, `${IMAGE}\0`])(
  'the name "%s" finds nothing',
  async (uuid) => {
    put(IMAGE)
    expect(await find(uuid)).toEqual(UNKNOWN)
  },
)

describe('only files of the folder', () => {
  test('a folder of that name is none', async () => {
    mkdirSync(join(folder, IMAGE))
    expect(await find()).toEqual(UNKNOWN)
  })
  test('a link may lead to another name in the folder', async () => {
    const path = put('design-7.gbs')
    symlinkSync('design-7.gbs', join(folder, IMAGE))
    expect(await find()).toMatchObject({ found: true, path })
  })
  test.each([
    ['out of it', 'secret'],
    ['to a neighbour whose name begins alike', 'images-2/secret'],
    ['to nothing', 'missing'],
  ])('a link may not lead %s', async (_, to) => {
    mkdirSync(join(outside, 'images-2'))
    put('secret', outside)
    put('secret', join(outside, 'images-2'))
    symlinkSync(join(outside, to), join(folder, IMAGE))
    expect(await find()).toEqual(UNKNOWN)
  })
  test('a bad link does not hide a good file', async () => {
    symlinkSync('/etc/hostname', join(folder, IMAGE))
    const path = put(`${IMAGE}.gbs`)
    expect(await find()).toMatchObject({ found: true, path })
  })
  test('the folder itself may be a link', async () => {
    const path = put(IMAGE)
    symlinkSync(folder, join(outside, 'link'))
    expect(await find(IMAGE, join(outside, 'link'))).toMatchObject({ found: true, path })
  })
})

test('a folder that is not there holds no image, and the log says so', async () => {
  const lines: unknown[] = []
  const warn = (detail: object, message: string) => void lines.push([message, detail])
  const log = { debug: () => {}, info: () => {}, warn, error: () => {} }
  const none = folderCatalogue(join(outside, 'none'), log)
  expect(await none.find(IMAGE)).toEqual(UNKNOWN)
  expect(lines).toEqual([['images.unreadable', expect.objectContaining({ error: expect.stringContaining('ENOENT') })]])
  const detail = 'the folder of images cannot be read'
  expect(await none.search({ by: 'all' })).toEqual({ found: false, why: 'unavailable', detail })
})

describe('a search', () => {
  const OTHER = IMAGE.replace(/^1/, '2')
  /** Counts how often the folder is listed. */
  const counted = () => {
    let count = 0
    const list = async function* (dir: string) {
      count++
      yield* readdirSync(dir)
    }
    return { catalogue: folderCatalogue(folder, undefined, list), count: () => count }
  }
  const uuidsOf = async (by: Parameters<ReturnType<typeof folderCatalogue>['search']>[0]) => {
    const { catalogue, count } = counted()
    const found = await catalogue.search(by)
    return { uuids: found.found ? found.images.map(({ uuid }) => uuid) : found.why, count: count() }
  }
  test('lists the folder once, however many images it has', async () => {
    put(`${OTHER}.gbs`)
    for (const name of [`${IMAGE}.xclbin`, `${IMAGE}.gbs`, `${OTHER.replace(/^2/, '3')}.part`]) put(name)
    writeFileSync(join(folder, `${OTHER}.json`), JSON.stringify({ function_uuid: 'f' }))
    expect(await uuidsOf({ by: 'all' })).toEqual({ uuids: [IMAGE, OTHER], count: 1 })
    expect(await uuidsOf({ by: 'function_id', value: 'f' })).toEqual({ uuids: [OTHER], count: 1 })
  })
  test('finds the images that a question by UUID finds, also with capital letters in the name', async () => {
    put(`${IMAGE.toUpperCase()}.gbs`)
    mkdirSync(join(folder, `${OTHER}.gbs`))
    expect((await uuidsOf({ by: 'all' })).uuids).toEqual([IMAGE])
  })
})

describe('what a file beside the image says of it', () => {
  const describeImage = (told: unknown) => writeFileSync(join(folder, `${IMAGE}.json`), JSON.stringify(told))
  const bits = createHash('sha512').update('bits').digest('hex')
  test('name, digest and properties', async () => {
    put(`${IMAGE}.gbs`)
    describeImage({
      name: 'aes',
      os_hash_algo: 'sha512',
      os_hash_value: bits,
      'bs-name': 'aes-128',
      function_uuid: 'F1',
    })
    expect(await folderCatalogue(folder).find(IMAGE)).toMatchObject({
      image: {
        name: 'aes',
        size: 4,
        digest: { algorithm: 'sha512', value: bits },
        properties: { 'bs-name': 'aes-128' },
      },
    })
    expect(await find()).toMatchObject({ found: true })
  })
  test.each(['g', 'ga', '-'])('a digest with anything but hexadecimal digits is refused: %s', async (bad) => {
    put(IMAGE)
    describeImage({ os_hash_algo: 'sha256', os_hash_value: bad + 'a'.repeat(64 - bad.length) })
    expect(await find()).toEqual({
      found: false,
      why: 'unusable',
      detail: 'os_hash_value must be the 64 hexadecimal digits of a sha256',
    })
  })
  test('bytes that do not match the digest are not handed out', async () => {
    put(IMAGE)
    describeImage({ os_hash_algo: 'sha256', os_hash_value: 'ab'.repeat(32) })
    expect(await folderFiles(folder).open(IMAGE, term)).toEqual({ found: false, why: 'corrupt' })
  })
  test.each<readonly [object, string]>([
    [[], 'its description cannot be read'],
    [{ tags: [] }, 'it does not have the tag FPGA'],
    [{ function_uuid: 'a', 'accel:function_id': 'b' }, 'function_uuid and accel:function_id differ'],
    [{ tags: 7 }, 'its description cannot be read: tags must be a list of texts'],
    [{ version: 1 }, 'version must be text'],
    [{ topology: {} }, 'topology must be text'],
    [{ 'bs-name': 'x'.repeat(65_536) }, 'bs-name must not be longer than 65535 characters'],
    ...['vendor', 'board', 'shell_id', 'region_uuid', 'driver', 'bs_name', 'function_uuid'].map(
      (key) => [{ [key]: 1 }, `${key} must be text`] as const,
    ),
    [{ topology: '[]' }, 'topology must be a JSON object'],
    [{ size: 0.5 }, 'its description cannot be read: size must be a whole number of bytes'],
    ...['sha-256', 'md5', 'constructor'].map(
      (os_hash_algo) =>
        [
          { os_hash_algo, os_hash_value: 'e'.repeat(64) },
          'os_hash_algo must be one of sha256, sha384, sha512, sha3_256, sha3_384, sha3_512',
        ] as const,
    ),
    [{ os_hash_algo: 'sha256' }, 'os_hash_value must be the 64 hexadecimal digits of a sha256'],
    [
      { os_hash_algo: 'sha3_512', os_hash_value: 'e'.repeat(127) },
      'os_hash_value must be the 128 hexadecimal digits of a sha3_512',
    ],
    [{ checksum: 'e'.repeat(31) }, 'checksum must be the 32 hexadecimal digits of an MD5'],
  ])('%j is no bitstream', async (told, detail) => {
    put(IMAGE)
    describeImage(told)
    if (Array.isArray(told)) writeFileSync(join(folder, `${IMAGE}.json`), '{')
    const opened = await find()
    expect(opened).toMatchObject({ found: false, why: 'unusable' })
    if (!Array.isArray(told)) expect(opened).toMatchObject({ detail })
  })
})

describe('a catalogue of the folder', () => {
  const OTHER = IMAGE.replace(/^1/, '2')
  const bare = { uuid: IMAGE, name: null, size: 4, digest: null, tags: ['FPGA'], properties: {} }
  const tell = (uuid: string, told: object) => writeFileSync(join(folder, `${uuid}.json`), JSON.stringify(told))
  test('knows of an image without a description its size alone', async () => {
    const path = put(`${IMAGE}.gbs`)
    expect(await folderCatalogue(folder).find(IMAGE)).toEqual({ found: true, path, image: bare })
    expect(await folderFiles(folder).open(IMAGE, term)).toEqual({
      found: true,
      path,
      image: { ...bare, digest: { algorithm: 'sha256', value: createHash('sha256').update('bits').digest('hex') } },
      close: expect.any(Function),
    })
  })
  test('finds by each property that is searched for, in the order of the UUIDs', async () => {
    const properties = { 'bs-name': 'b1', bs_name: 'b2', function_uuid: 'f1', function_name: 'n1' }
    for (const [uuid, told] of [
      [OTHER, { ...properties, bs_name: 'b1' }],
      [IMAGE, properties],
      [IMAGE.replace(/^1/, '3'), { tags: ['other'], ...properties }],
    ] as const) {
      put(`${uuid}.gbs`)
      tell(uuid, told)
    }
    // names that are no UUID are left out, however they end
    for (const name of ['readme', `x${IMAGE}.gbs`, 'notes.json', `${'x'.repeat(36)}.gbs`]) put(name)
    const found = async (by: Parameters<ReturnType<typeof folderCatalogue>['search']>[0]) => {
      // whatever the order of the folder is
      const list = async function* (dir: string) {
        yield* readdirSync(dir).toSorted().toReversed()
      }
      const got = await folderCatalogue(folder, undefined, list).search(by)
      return got.found ? got.images.map(({ uuid }) => uuid) : got
    }
    expect(await found({ by: 'bitstream_name', value: 'b1' })).toEqual([IMAGE, OTHER])
    expect(await found({ by: 'bitstream_name', value: 'b2' })).toEqual([IMAGE])
    expect(await found({ by: 'function_id', value: 'f1' })).toEqual([IMAGE, OTHER])
    expect(await found({ by: 'function_name', value: 'n1' })).toEqual([IMAGE, OTHER])
    expect(await found({ by: 'function_name', value: 'f1' })).toEqual([])
    expect(await found({ by: 'all' })).toEqual([IMAGE, OTHER])
  })
  test('reads descriptions of a MiB at most', async () => {
    put(IMAGE)
    const text = JSON.stringify({ name: 'n' })
    const most = 1024 * 1024
    writeFileSync(join(folder, `${IMAGE}.json`), text.padEnd(most))
    expect(await find()).toMatchObject({ found: true, image: { name: 'n' } })
    writeFileSync(join(folder, `${IMAGE}.json`), text.padEnd(most + 1))
    expect(await find()).toEqual({
      found: false,
      why: 'unusable',
      detail: `${IMAGE}.json: longer than 1048576 bytes`,
    })
  })
  test('a description counts for its image, whatever id it names, and for nothing else', async () => {
    put(IMAGE)
    tell(IMAGE, { id: OTHER, status: 'queued' })
    expect(await find()).toEqual({ found: false, why: 'inactive', detail: 'its status is queued' })
    tell(IMAGE, { id: OTHER, size: 9 })
    const detail = 'its description says 9 bytes, and the file has 4'
    expect(await find()).toEqual({ found: false, why: 'corrupt', detail })
    tell(IMAGE, { id: OTHER, size: 4 })
    expect(await folderCatalogue(folder).find(IMAGE)).toMatchObject({ image: { uuid: IMAGE, size: 4 } })
    rmSync(join(folder, `${IMAGE}.json`))
    mkdirSync(join(folder, `${IMAGE}.json`))
    expect(await folderCatalogue(folder).find(IMAGE)).toMatchObject({ image: bare })
  })
  test('bytes that cannot be verified any more, as nobody waits, are no image', async () => {
    put(IMAGE)
    tell(IMAGE, { os_hash_algo: 'sha256', os_hash_value: createHash('sha256').update('bits').digest('hex') })
    expect(await find()).toMatchObject({ found: true })
    const signal = AbortSignal.abort()
    expect(await folderFiles(folder).open(IMAGE, { withinMs: 1000, signal })).toEqual({
      found: false,
      why: 'unavailable',
      detail: 'The operation was aborted',
    })
  })
})
