/**
 * A profile that names a bitstream by its name or function: which image a bind loads, and when it is refused
 * (data-model.md 9.3).
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { chooseImage } from '../../src/actors/arq/images.ts'
import type { AllImages, ImageCatalogue, ImageSearch } from '../../src/actors/neighbours.ts'
import { type Image, noImage } from '../../src/images.ts'
import { imageOf } from '../support/images.ts'
import { FPGA, NOVA, openCloud } from './cloud.ts'

const withProperties = (properties: Image['properties'], uuid: string = randomUUID()): Image => ({
  ...imageOf(uuid),
  properties,
})

describe('of the images that were found', () => {
  const search = (by: ImageSearch['by']): ImageSearch => ({ by, value: 'v' })
  const hardware: Readonly<Record<string, string>> = { board: 'KU115', region_uuid: 'R1' }
  const chosen = (by: ImageSearch['by'], ...found: readonly Image['properties'][]) => {
    const images = found.map((properties, at) => withProperties(properties, String(at)))
    const choice = chooseImage(
      search(by),
      { images },
      {
        vendor: '10ee',
        attribute: (key) => hardware[key] ?? null,
      },
    )
    return choice.ok ? choice.image.uuid : choice.reason
  }
  test.each<[string, ImageSearch['by'], readonly Image['properties'][], string]>([
    ['none', 'function_id', [], 'not found: no image with accel:function_id v suits it'],
    ['one', 'function_id', [{}], '0'],
    ['the newest version, by its numbers', 'function_id', [{ version: '1.9' }, { version: '1.10' }, {}], '1'],
    ['a version that is out, not one before it', 'function_id', [{ version: '2.0-rc2' }, { version: '2.0' }], '1'],
    // takes minutes where each blank is tried as the first one
    ['whatever blanks', 'function_id', [{ version: `2${' '.repeat(200_000)}x` }, { version: '3' }], '1'],
    ['also where a blank is before its letters', 'function_id', [{ version: '2.0 RC 2' }, { version: '2.0' }], '1'],
    [
      'the later of two before it',
      'function_id',
      [{ version: '2.0rc2' }, { version: '2.0rc10' }, { version: '1.9' }],
      '1',
    ],
    ['one before the next version', 'function_id', [{ version: '2.1-beta' }, { version: '2.0' }], '0'],
    ['a later build of the same version', 'function_id', [{ version: '2.0' }, { version: 'v2.0-1' }], '1'],
    ['a version with numbers, not one of words', 'function_id', [{ version: 'newest' }, { version: '1' }], '1'],
    [
      'two that say one version in two ways',
      'function_id',
      [{ version: '2' }, { version: '2.0' }],
      'ambiguous: 2 images with accel:function_id v suit it',
    ],
    [
      'two of one version',
      'function_name',
      [{ version: '2' }, { version: '2' }, { version: '1' }],
      'ambiguous: 3 images with accel:function_name v suit it',
    ],
    [
      'two of one name, whatever their versions',
      'bitstream_name',
      [{ version: '1' }, { version: '2' }],
      'ambiguous: 2 images with accel:bitstream_name v suit it',
    ],
    ['the one for this vendor', 'function_id', [{ vendor: 'Intel' }, { vendor: 'Xilinx' }], '1'],
    ['one that is no shell', 'function_id', [{ shell_id: '' }, {}], '1'],
    ['the one for this hardware', 'bitstream_name', [{ board: 'other' }, { board: 'ku115', region_uuid: 'r1' }], '1'],
    [
      'those for other hardware do not count',
      'function_id',
      [{ board: 'other' }, { region_uuid: 'r2' }],
      'not found: no image with accel:function_id v suits it (2 are for other hardware)',
    ],
  ])('%s', (_, by, found, result) => {
    expect(chosen(by, ...found)).toBe(result)
  })
  test('none, where the store has others that are not searched: the reason says which were', () => {
    const nothing = { vendor: '10ee', attribute: () => null }
    expect(chooseImage(search('function_id'), { images: [], among: 'public images' }, nothing)).toEqual({
      ok: false,
      reason: 'not found: no image with accel:function_id v suits it (searched: public images)',
    })
  })
})

describe('a bind', () => {
  const opened = (search: ImageCatalogue['search'], key = 'accel:function_id') =>
    openCloud(
      FPGA,
      { 'resources:FPGA': '1', [key]: '3AFB' },
      { images: { find: async () => noImage('unknown'), search } },
    )
  const bindOne = async (cloud: Awaited<ReturnType<typeof opened>>) => {
    const arqs = await cloud.create()
    return { arqs, bound: await cloud.bind(arqs, randomUUID()) }
  }
  test.each(['accel:bitstream_name', 'accel:function_id', 'accel:function_name'])(
    'with %s loads the image that is found',
    async (key) => {
      const image = withProperties({})
      const asked: (ImageSearch | AllImages)[] = []
      const cloud = await opened(async (search) => {
        asked.push(search)
        return { found: true, images: [image] }
      }, key)
      const { bound } = await bindOne(cloud)
      expect(bound).toMatchObject({ ok: true })
      expect(asked).toEqual([{ by: key.slice('accel:'.length), value: '3AFB' }])
      await cloud.pump()
      expect(cloud.orders).toMatchObject([{ type: 'PrepareSlot', bitstream: image.uuid }])
      await cloud.stop()
    },
  )
  test('that is refused holds nothing, and says why', async () => {
    const outcomes = [
      [async () => ({ found: true, images: [] }) as const, 'conflict', 'not found'],
      [
        async () => ({ found: true, images: [withProperties({}), withProperties({})] }) as const,
        'conflict',
        'ambiguous',
      ],
      [async () => noImage('none'), 'conflict', 'none is configured'],
      [async () => noImage('unavailable', 'the image service answers 503'), 'unavailable', 'answers 503'],
    ] as const
    for (const [search, kind, says] of outcomes) {
      const cloud = await opened(search)
      const { arqs, bound } = await bindOne(cloud)
      expect(bound).toMatchObject({ ok: false, fault: { kind, reason: expect.stringContaining(says) } })
      expect(await cloud.states(arqs)).toEqual(['Initial'])
      expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'free'])
      await cloud.stop()
    }
  })
  test('without such a key asks nobody', async () => {
    const search = async () => Promise.reject(new Error('asked'))
    const images: ImageCatalogue = { find: search, search }
    const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, { images })
    const [arq] = await cloud.create()
    expect(await cloud.control.arqs.bind(NOVA, [cloud.bindingOf(arq!, randomUUID())])).toMatchObject({ ok: true })
    await cloud.stop()
  })
})
