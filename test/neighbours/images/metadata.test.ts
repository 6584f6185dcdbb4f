/** What a description of an image is read as, word for word: each field, and each way in which it is no bitstream. */
import { describe, expect, test } from 'vitest'
import { bitstreamIn, TAG, wantedBy } from '../../../src/neighbours/images/metadata.ts'

const ID = '4a3bd0ae-0000-4000-8000-00000000abcd'
const PLAIN = { id: ID, status: 'active', tags: ['FPGA'] }
const told = (more: object) => bitstreamIn({ ...PLAIN, ...more })
const read = (more: object) => {
  const found = told(more)
  return found.found ? found.image : expect.fail(found.detail ?? found.why)
}
const refused = (why: string, detail: string) => ({ found: false, why, detail })

test('what is searched for', () => {
  expect(TAG).toBe('FPGA')
  expect(wantedBy({ by: 'function_name', value: 'nic' })).toEqual([[['function_name', 'nic']]])
  const both = (...values: readonly string[]) =>
    ['function_uuid', 'accel:function_id'].flatMap((key) => values.map((value) => [key, value]))
  expect(wantedBy({ by: 'function_id', value: '3aFB' })).toEqual([both('3aFB')])
  expect(wantedBy({ by: 'function_id', value: ID })).toEqual([both(ID, ID.toUpperCase())])
  expect(wantedBy({ by: 'bitstream_name', value: 'aes-77.GBS' })).toEqual([
    ['bs-name', 'bs_name'].map((key) => [key, 'aes-77.GBS']),
    [['name', 'aes-77.GBS']],
    ['bs-name', 'bs_name', 'name'].map((key) => [key, 'aes-77']),
  ])
  expect(wantedBy({ by: 'bitstream_name', value: 'aes' })[2]).toContainEqual(['name', 'aes.xclbin'])
})

describe('a description', () => {
  test('with the least in it', () =>
    expect(told({ id: ID.toUpperCase() })).toEqual({
      found: true,
      image: {
        uuid: ID,
        name: null,
        size: null,
        digest: null,
        tags: ['FPGA'],
        properties: { id: ID.toUpperCase(), status: 'active' },
      },
    }))
  test('with everything in it', () => {
    const sha = 'AB'.repeat(32)
    const all = {
      name: 'n',
      size: 0,
      os_hash_algo: 'SHA256',
      os_hash_value: sha,
      checksum: 'c'.repeat(32),
      tags: ['x', TAG],
    }
    expect(read({ ...all, 'bs-name': 'b', long: 'x'.repeat(65_536), whole: 'x'.repeat(65_535), number: 7 })).toEqual({
      uuid: ID,
      name: 'n',
      size: 0,
      digest: { algorithm: 'sha256', value: sha.toLowerCase() },
      tags: ['x', 'FPGA'],
      properties: {
        id: ID,
        status: 'active',
        name: 'n',
        os_hash_algo: 'SHA256',
        os_hash_value: sha,
        checksum: 'c'.repeat(32),
        'bs-name': 'b',
        whole: 'x'.repeat(65_535),
      },
    })
  })
  test('of which a shell is null names an image that is a shell itself', () => {
    expect(read({ shell_id: null }).properties['shell_id']).toBe('')
    expect(read({ shell_id: 's' }).properties['shell_id']).toBe('s')
    expect('shell_id' in read({}).properties).toBe(false)
  })
  test.each<[string, unknown, string]>([
    ['no object', null, 'must be an object'],
    ['an id that is not a UUID', { ...PLAIN, id: 'x' }, 'id must be a UUID'],
    ['no id', { status: 'active', tags: [TAG] }, 'id must be there'],
    ['no status', { id: ID, tags: [TAG] }, 'status must be there'],
    ['a name that is no text', { ...PLAIN, name: 7 }, 'name must be text'],
    ['a size below 0', { ...PLAIN, size: -1 }, 'size must be a whole number of bytes'],
    ['half a byte', { ...PLAIN, size: 0.5 }, 'size must be a whole number of bytes'],
    ['a size in quotes', { ...PLAIN, size: '7' }, 'size must be a whole number of bytes'],
    ['a checksum that is no text', { ...PLAIN, checksum: 1 }, 'checksum must be text'],
    ['an algorithm that is no text', { ...PLAIN, os_hash_algo: 1 }, 'os_hash_algo must be text'],
    ['a digest that is no text', { ...PLAIN, os_hash_value: 1 }, 'os_hash_value must be text'],
    ['tags that are no list', { ...PLAIN, tags: TAG }, 'tags must be a list of texts'],
    ['a tag that is no text', { ...PLAIN, tags: [TAG, 1] }, 'tags.1 must be text'],
  ])('with %s cannot be read, and the field is named', (_, json, why) =>
    expect(bitstreamIn(json)).toEqual(refused('unusable', `its description cannot be read: ${why}`)),
  )
  test.each([
    'vendor',
    'board',
    'version',
    'shell_id',
    'region_uuid',
    'topology',
    'driver',
    'bs_name',
    'function_uuid',
  ])('of which %s is no text, or too long, is refused: nothing is left uncompared without a word', (key) => {
    for (const value of [1, true, {}, []])
      expect(told({ [key]: value })).toEqual(refused('unusable', `${key} must be text`))
    expect(told({ [key]: 'x'.repeat(65_536) })).toEqual(
      refused('unusable', `${key} must not be longer than 65535 characters`),
    )
    expect(told({ [key]: null })).toMatchObject({ found: true })
  })
  test('has its name and its UUID under the first spelling, whichever it was written in', () => {
    expect(read({ bs_name: 'a', bs_uuid: 'b' }).properties).toMatchObject({ 'bs-name': 'a', 'bs-uuid': 'b' })
    expect(read({ 'bs-name': 'c', bs_name: 'a' }).properties['bs-name']).toBe('c')
  })
  test('of an image that is no bitstream says why', () => {
    expect(told({ status: 'queued' })).toEqual(refused('inactive', 'its status is queued'))
    for (const tags of [[], null, undefined, ['fpga']])
      expect(told({ tags })).toEqual(refused('unusable', 'it does not have the tag FPGA'))
    expect(told({ function_uuid: 'a', 'accel:function_id': 'b' })).toEqual(
      refused('unusable', 'function_uuid and accel:function_id differ'),
    )
    expect(told({ function_uuid: 'A', 'accel:function_id': 'a' })).toMatchObject({ found: true })
    expect(told({ topology: '[]' })).toEqual(refused('unusable', 'topology must be a JSON object'))
  })
})

describe('the digest', () => {
  const strong = { sha256: 64, sha384: 96, sha512: 128, sha3_256: 64, sha3_384: 96, sha3_512: 128 }
  test.each(Object.entries(strong))('of %s has %i characters', (os_hash_algo, length) => {
    const of = (value: string) => read({ os_hash_algo, os_hash_value: value, checksum: 'd'.repeat(32) }).digest
    expect(of('0f'.repeat(length / 2))).toEqual({
      algorithm: os_hash_algo.replace('_', '-'),
      value: '0f'.repeat(length / 2),
    })
    for (const bad of [
      'a'.repeat(length - 1),
      'a'.repeat(length + 1),
      `g${'a'.repeat(length - 1)}`,
      `${'a'.repeat(length - 1)}g`,
    ])
      expect(told({ os_hash_algo, os_hash_value: bad, checksum: 'd'.repeat(32) })).toEqual(
        refused('unusable', `os_hash_value must be the ${length} hexadecimal digits of a ${os_hash_algo}`),
      )
  })
  test('is the checksum only where nothing better is told', () => {
    expect(read({ checksum: 'E'.repeat(32) }).digest).toEqual({ algorithm: 'md5', value: 'e'.repeat(32) })
    const other = { os_hash_algo: 'blake2b', os_hash_value: 'e'.repeat(128) }
    expect(read({ ...other, checksum: 'e'.repeat(32) }).digest).toEqual({ algorithm: 'md5', value: 'e'.repeat(32) })
    for (const none of [{}, { checksum: null }, { os_hash_algo: '', os_hash_value: null }])
      expect(read(none).digest).toBe(null)
  })
  test('that is there and cannot be read is refused, so that no bytes are used without a comparison', () => {
    const named = 'os_hash_algo must be one of sha256, sha384, sha512, sha3_256, sha3_384, sha3_512'
    for (const os_hash_algo of ['sha-256', 'md5', 'constructor', undefined])
      expect(told({ os_hash_algo, os_hash_value: 'e'.repeat(64) })).toEqual(refused('unusable', named))
    expect(told({ os_hash_algo: 'sha256' })).toEqual(
      refused('unusable', 'os_hash_value must be the 64 hexadecimal digits of a sha256'),
    )
    expect(told({ checksum: 'e'.repeat(31) })).toEqual(
      refused('unusable', 'checksum must be the 32 hexadecimal digits of an MD5'),
    )
  })
})
