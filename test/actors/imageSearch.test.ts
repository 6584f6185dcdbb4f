/**
 * A profile that names a bitstream by its name or function: which image a bind loads, and when it is refused
 * (data-model.md 9.3).
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { AllImages, ImageCatalogue, ImageSearch } from '../../src/actors/neighbours.ts'
import { type Image, noImage } from '../../src/vocabulary/images.ts'
import { imageOf } from '../support/images.ts'
import { FPGA, NOVA, openCloud } from './cloud.ts'

const withProperties = (properties: Image['properties'], uuid: string = randomUUID()): Image => ({
  ...imageOf(uuid),
  properties,
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
