/** IMAGE-2 IMAGE-3: the host looks at the card before it prepares a slot that is to have an image. */
import { beforeEach, expect, test } from 'vitest'
import type { Driver } from '../../src/drivers/driver.ts'
import { type HostLab, IMAGE, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const OTHER = 'another-image'
let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const nameOf = (device = 0): string => lab.devices[device]!.deployables[0]!.name
/** Somebody loads it without this program. */
const loadedByOthers = async (image: string): Promise<void> => {
  await lab.io.write(`/state/${image}`, 'bits')
  await lab.driver.program(lab.io, nameOf(), `/state/${image}`, new AbortController().signal)
}
const results = () => lab.results().map(({ result }) => result)
const prepared = async () => Object.keys((await lab.effects()).prepared)

test('a slot whose card holds the image that is expected is prepared, and the inventory is not told again', async () => {
  await lab.boot()
  await loadedByOthers(IMAGE)
  const [order, reports] = [lab.order('PrepareSlot', 1, { expects: IMAGE }), lab.inventories().length]
  await lab.send(order)
  expect(results()).toEqual([{ status: 'done', bitstreamId: IMAGE }])
  expect(await prepared()).toEqual([order.slot])
  expect(lab.inventories()).toHaveLength(reports)
})

test.each([
  ['another image', OTHER, `image_changed: NAME holds ${OTHER}, not image ${IMAGE}`],
  ['no image', null, `image_changed: NAME holds no known image, not image ${IMAGE}`],
])(
  'a slot whose card holds %s than is expected is not prepared, and the host says what it shows',
  async (_, image, reason) => {
    await lab.boot()
    if (image !== null) await loadedByOthers(image)
    const reports = lab.inventories().length
    await lab.send(lab.order('PrepareSlot', 1, { expects: IMAGE }))
    expect(results()).toEqual([{ status: 'failed', reason: reason.replace('NAME', nameOf()), final: true }])
    expect(await prepared()).toEqual([])
    expect((await lab.effects()).loaded).toEqual(image === null ? {} : { [nameOf()]: image })
    const [section] = lab.inventories().at(-1)!.drivers
    expect(lab.inventories().length).toBeGreaterThan(reports)
    expect(section).toMatchObject({
      devices: [{ deployables: [image === null ? {} : { bitstreamId: image }] }, {}, {}],
    })
    // the ledger holds nothing of it: another slot is given the card
    await lab.send(lab.order('PrepareSlot', 1, { unit: 1, bitstream: IMAGE }))
    expect(results().at(-1)).toEqual({ status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } })
  },
)

test('a slot that may have its image loaded gets it although the card held it before', async () => {
  await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }), lab.order('ReleaseSlot', 2))
  await loadedByOthers(OTHER)
  await lab.send(lab.order('PrepareSlot', 3, { bitstream: IMAGE }))
  expect(results().at(-1)).toEqual({ status: 'done', bitstreamId: IMAGE, loaded: { fetchMs: 0, programMs: 0 } })
  expect((await lab.effects()).loaded).toEqual({ [nameOf()]: IMAGE })
})

test.each([
  ['', {}],
  [' with the same image, which its guest has', { bitstream: IMAGE }],
])('FENCE-5 it is not loaded while another slot of the card is prepared%s', async (_, more) => {
  await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1, { unit: 1, ...more }))
  await loadedByOthers(OTHER)
  await lab.send(lab.order('PrepareSlot', 2, { bitstream: IMAGE }))
  expect(results().at(-1)).toMatchObject({
    status: 'failed',
    final: true,
    reason: expect.stringContaining('is prepared'),
  })
  expect((await lab.effects()).loaded).toEqual({ [nameOf()]: OTHER })
})

test('a part of a card holds what the card holds', async () => {
  const driver: Driver = {
    ...lab.driver,
    discover: async (io) => {
      const devices = await lab.driver.discover(io)
      return devices.map((device) => {
        const [whole] = device.deployables
        const { handles, bitstreamId: image, ...root } = whole!
        if (root.name !== nameOf()) return device
        const part = (name: string, parent: string, own: typeof handles) => ({
          ...{ ...root, name: `${nameOf()}_${name}`, parent, programmable: false },
          ...{ numAccelerators: 1, handles: own },
        })
        const above = { ...root, handles: handles.slice(1), ...(image === undefined ? {} : { bitstreamId: image }) }
        const below = [part('pf', nameOf(), []), part('vf', `${nameOf()}_pf`, handles.slice(0, 1))]
        return { ...device, deployables: [above, ...below] }
      })
    },
  }
  await lab.boot({ drivers: [driver] })
  await loadedByOthers(IMAGE)
  const part = { deployable: `${nameOf()}_vf`, expects: IMAGE }
  await lab.send(lab.order('PrepareSlot', 1, part))
  // the simulated driver knows whole cards only
  expect(results().at(-1)).toMatchObject({ reason: expect.stringContaining('has no') })
  await loadedByOthers(OTHER)
  await lab.send(lab.order('PrepareSlot', 2, part))
  await quiet()
  expect(results().at(-1)).toMatchObject({ reason: expect.stringContaining(`holds ${OTHER}`), final: true })
})

test('a driver that does not show the deployable does not say what it holds', async () => {
  await lab.boot()
  await lab.send(lab.order('PrepareSlot', 1, { expects: IMAGE, deployable: 'nobody' }))
  expect(results()).toMatchObject([{ status: 'failed', reason: expect.stringContaining('image_changed: nobody') }])
})
