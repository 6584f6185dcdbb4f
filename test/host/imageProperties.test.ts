/** What a host makes of that which the image store says of an image. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { BadImage } from '../../src/vocabulary/images.ts'
import { type HostLab, IMAGE, openHostLab } from '../support/hostLab.ts'
import { filesOf } from '../support/images.ts'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})

describe('programming', () => {
  test('an image that says it is for other hardware is not loaded, nor a shell', async () => {
    let says: Readonly<Record<string, string>> = { vendor: 'Xilinx' }
    const images = filesOf(undefined, () => says)
    await lab.boot({ options: { images } })
    await lab.send(lab.order('Program', 1))
    says = { vendor: '0x8086', shell_id: '' }
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    await lab.send(lab.order('Program', 2))
    expect((await lab.effects()).loaded).toEqual({})
    says = { vendor: '0x8086' }
    await lab.send(lab.order('Program', 3))
    const unsuitable = `image_unsuitable: image ${IMAGE} is made for other hardware: `
    expect(lab.results().map(({ result }) => result)).toEqual([
      { status: 'failed', reason: `${unsuitable}it is for vendor Xilinx, and this is INTEL`, final: true },
      { status: 'failed', reason: `${unsuitable}it is a shell, which only the tool of its vendor loads`, final: true },
      { status: 'failed', reason: `${unsuitable}it is a shell, which only the tool of its vendor loads`, final: true },
      { status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } },
    ])
  })
  test('an image is compared with the attribute of the card that has the same name', async () => {
    const discover: Driver['discover'] = async (io) =>
      (await lab.driver.discover(io)).map((device) => ({
        ...device,
        deployables: device.deployables.map((one) => ({
          ...one,
          attributes: [...one.attributes, { key: 'board', value: 'D5005' }, { key: 'version', value: '2.1' }],
        })),
      }))
    let says: Readonly<Record<string, string>> = { board: 'N3000' }
    await lab.boot({ drivers: [{ ...lab.driver, discover }], options: { images: filesOf(undefined, () => says) } })
    await lab.send(lab.order('Program', 1))
    says = { board: 'd5005', version: '2.1' }
    await lab.send(lab.order('Program', 2))
    expect(lab.results().map(({ result }) => result)).toMatchObject([
      { status: 'failed', reason: expect.stringContaining('it is for board N3000, and this is D5005'), final: true },
      { status: 'done' },
    ])
  })
  test('an image is compared with what an operator has said of the card, which comes with the order', async () => {
    await lab.boot({ options: { images: filesOf(undefined, () => ({ board: 'KU115' })) } })
    const attributes = { board: 'PAC_A10' }
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE, attributes }))
    await lab.send(lab.order('Program', 1, { attributes }))
    await lab.send(lab.order('Program', 2, { attributes: { board: 'ku115' } }))
    const refused = {
      status: 'failed',
      final: true,
      reason: expect.stringContaining('board KU115, and this is PAC_A10'),
    }
    expect(lab.results().map(({ result }) => result)).toMatchObject([refused, refused, { status: 'done' }])
  })
  test('what the driver finds wrong in the file is the fault of the image, and another try cannot help', async () => {
    const program: Driver['program'] = async () => Promise.reject(new BadImage('unsuitable', 'it is for region 7'))
    await lab.boot({ drivers: [{ ...lab.driver, program }] })
    await lab.send(lab.order('Program', 1))
    const reason = `image_unsuitable: image ${IMAGE} is made for other hardware: it is for region 7`
    expect(lab.results()[0]!.result).toEqual({ status: 'failed', reason, final: true })
  })
  test('the result says how long fetching the image and writing the card took', async () => {
    const images = filesOf()
    const slow = {
      open: async (...asked: Parameters<typeof images.open>) => (await lab.clock.pass(1500), images.open(...asked)),
    }
    const program: Driver['program'] = async (...args) => {
      await lab.clock.pass(2500)
      await lab.driver.program(...args)
    }
    await lab.boot({ options: { images: slow }, drivers: [{ ...lab.driver, program }] })
    await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
    await vi.waitFor(() => expect(lab.results()).toHaveLength(1))
    expect(lab.results()[0]!.result).toMatchObject({ loaded: { fetchMs: 1500, programMs: 2500 } })
  })
  test('the driver is told what the image does, where the image store says it', async () => {
    const functionIds: unknown[] = []
    const program: Driver['program'] = async (_io, _deployable, _path, _signal, { functionId } = {}) =>
      void functionIds.push(functionId)
    let says: Readonly<Record<string, string>> = { function_uuid: '3AFB' }
    const images = filesOf(undefined, () => says)
    await lab.boot({ drivers: [{ ...lab.driver, program }], options: { images } })
    await lab.send(lab.order('Program', 1))
    says = { 'accel:function_id': 'other' }
    await lab.send(lab.order('Program', 2))
    says = {}
    await lab.send(lab.order('Program', 3))
    expect(functionIds).toEqual(['3afb', 'other', undefined])
  })
})
