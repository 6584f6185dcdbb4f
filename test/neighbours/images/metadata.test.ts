/** What a description of an image is read as, word for word: each field, and each way in which it is no bitstream. */
import { describe, expect, test } from 'vitest'
import { bitstreamIn, SEARCHED, TAG } from '../../../src/neighbours/images/metadata.ts'

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
  expect(SEARCHED).toEqual({
    bitstream_name: ['bs-name', 'bs_name'],
    function_id: ['function_uuid', 'accel:function_id'],
    function_name: ['function_name'],
  })
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
  test.each<[string, unknown]>([
    ['no object', null],
    ['an id that is not a UUID', { ...PLAIN, id: 'x' }],
    ['no id', { status: 'active', tags: [TAG] }],
    ['no status', { id: ID, tags: [TAG] }],
    ['a name that is no text', { ...PLAIN, name: 7 }],
    ['a size below 0', { ...PLAIN, size: -1 }],
    ['half a byte', { ...PLAIN, size: 0.5 }],
    ['a checksum that is no text', { ...PLAIN, checksum: 1 }],
    ['an algorithm that is no text', { ...PLAIN, os_hash_algo: 1 }],
    ['a digest that is no text', { ...PLAIN, os_hash_value: 1 }],
    ['tags that are no list', { ...PLAIN, tags: TAG }],
    ['a tag that is no text', { ...PLAIN, tags: [TAG, 1] }],
  ])('with %s cannot be read', (_, json) =>
    expect(bitstreamIn(json)).toEqual(refused('unusable', 'its description cannot be read')),
  )
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
      expect(of(bad)).toEqual({ algorithm: 'md5', value: 'd'.repeat(32) })
  })
  test('is the checksum only where nothing better is told', () => {
    expect(read({ checksum: 'E'.repeat(32) }).digest).toEqual({ algorithm: 'md5', value: 'e'.repeat(32) })
    expect(read({ checksum: 'e'.repeat(31) }).digest).toBe(null)
    expect(read({ os_hash_algo: 'md5', os_hash_value: 'e'.repeat(32) }).digest).toBe(null)
    expect(read({ os_hash_algo: 'sha256' }).digest).toBe(null)
    expect(read({ os_hash_value: 'e'.repeat(64) }).digest).toBe(null)
  })
})
