/** The functions that a loaded image gives a card (data-model 10). */
import { beforeEach, expect, test } from 'vitest'
import { type HostLab, IMAGE, openHostLab } from '../support/hostLab.ts'
import { filesOf } from '../support/images.ts'

let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
/** The simulated cards show functions 1 and 2. */
const topology = JSON.stringify({
  pf_num: 1,
  vf_num: 2,
  pf: [
    {
      name: 'pf',
      pci_offset: '0',
      capability: 'crypto',
      vf: [1, 2].map((n) => ({ name: `vf${n}`, pci_offset: String(n) })),
    },
  ],
})
const images = filesOf(
  (image) => image === IMAGE,
  () => ({ topology, 'bs-name': 'one', function_name: 'nic' }),
)
const last = () => {
  const section = lab.inventories().at(-1)!.drivers[0]!
  return section.status === 'ok' ? section.devices[0]!.deployables : []
}
const shown = () =>
  last().map(({ name, parent = null, handles }) => [
    name.split('_').slice(2).join('_'),
    parent !== null,
    handles.length,
  ])
const DIVIDED = [
  ['', false, 0],
  ['pf', true, 0],
  ['vf1', true, 1],
  ['vf2', true, 1],
]
test('a host shows them once the image is loaded, also after a restart, and as long as it is loaded', async () => {
  const host = await lab.boot({ options: { images } })
  expect(last()).toHaveLength(1)
  await lab.send(lab.order('Program', 1))
  await host.idle()
  expect(shown()).toEqual(DIVIDED)
  const [root, pf] = last().map(({ attributes }) => attributes.slice(-3).map(({ key, value }) => `${key} ${value}`))
  expect([root, pf]).toEqual([
    [`bitstream_id ${IMAGE}`, 'function_name nic', 'bs-name one'],
    ['function_type PF', 'pci_offset 0', 'capability crypto'],
  ])
  await host.stop()
  const again = await lab.boot({ options: { images } })
  await again.reportNow()
  expect(shown()).toEqual(DIVIDED)
})
test('a host gives a function to the driver as one of the whole card', async () => {
  const host = await lab.boot({ options: { images } })
  await lab.send(lab.order('Program', 1))
  await host.idle()
  const leaf = last().find(({ name }) => name.endsWith('vf2'))!
  const whole = lab.order('PrepareSlot', 1)
  const order = { ...whole, deployable: leaf.name, handle: leaf.handles[0]! }
  await lab.send(order)
  expect(lab.results().at(-1)!.result).toEqual({ status: 'done' })
  expect(Object.values((await lab.effects()).prepared)).toHaveLength(1)
  // under its guest the card is not programmed (FENCE-5)
  await lab.send(lab.order('Program', 2))
  expect(lab.results().at(-1)!.result).toMatchObject({ status: 'failed', final: true })
})
test.each<[string, object, string]>([
  [
    'a physical function that the card does not have',
    {
      pf_num: 2,
      vf_num: 2,
      pf: [1, 3].map((n) => ({ name: `pf${n}`, pci_offset: n - 1, vf: [{ name: `vf${n}`, pci_offset: n }] })),
    },
    'the card has no function acc0:00:00.3, which would be vf3',
  ],
  [
    'a function beyond the last bus',
    { pf_num: 1, vf_num: 0, pf: [{ name: 'far', pci_offset: 65_535 }] },
    'the card has no function acc0:ff:1f.7, which would be far',
  ],
])('a host does not load an image whose document names %s, and says so', async (_, document, why) => {
  await lab.boot({ options: { images: filesOf(undefined, () => ({ topology: JSON.stringify(document) })) } })
  await lab.send(lab.order('Program', 1))
  const reason = `image_unsuitable: image ${IMAGE} is made for other hardware: topology mismatch: ${why}`
  expect(lab.results()[0]!.result).toEqual({ status: 'failed', reason, final: true })
  expect((await lab.effects()).loaded).toEqual({})
})
test('a host does not load such an image for a bind', async () => {
  await lab.boot({ options: { images } })
  await lab.send(lab.order('PrepareSlot', 1, { bitstream: IMAGE }))
  const reason = `image_unsuitable: image ${IMAGE} is made for other hardware: it divides the card into functions, so only an operator loads it`
  expect(lab.results().map(({ result }) => result)).toEqual([{ status: 'failed', reason, final: true }])
})
test('a host whose record of functions is no longer readable shows whole cards, and says so', async () => {
  await lab.disk.replace('/state/functions.json', 'no json')
  await lab.boot({ options: { images } })
  expect(lab.log.said.map(({ message }) => message)).toContain('host.functionsUnreadable')
})
