/** What a host keeps of the functions of images, and how it shows a card with them: whole sections. */
import { describe, expect, test } from 'vitest'
import type { ReportedDeployable } from '../../src/hardware.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import { openFunctions } from '../../src/host/functions.ts'
import type { Section } from '../../src/host/sections.ts'
import { parsePciAddress, pciInfo, pciJson } from '../../src/pci.ts'
import { imageOf } from '../support/images.ts'
import { memoryLog } from '../support/lab.ts'

const PATH = '/state/functions.json'
const [IMAGE, OTHER] = ['4a3bd0ae-0000-4000-8000-000000000001', '4a3bd0ae-0000-4000-8000-000000000002']
const at = (text: string) => parsePciAddress(text)!
const handle = (address: string) => ({ type: 'PCI' as const, info: pciInfo(at(address)) })
const [PF, FIRST, SECOND, LEFT] = ['0000:3b:00.0', '0000:3b:00.1', '0000:3b:00.2', '0000:3b:00.7']
const TOPOLOGY = JSON.stringify({
  pf_num: 2,
  vf_num: 2,
  pf: [
    {
      name: 'pf0',
      pci_offset: 0,
      capability: 'crypto',
      kpi: '40G',
      vf: [1, 2].map((n) => ({ name: `vf${n}`, pci_offset: n })),
    },
    { name: 'pf3', pci_offset: 3 },
  ],
})
const SHOWN = {
  name: 'h1_card',
  numAccelerators: 3,
  driverName: 'intel',
  attributes: [
    { key: 'rc', value: 'FPGA' },
    { key: 'trait0', value: 'OWNER_CYBORG' },
  ],
  handles: [handle(FIRST), handle(SECOND), handle(LEFT)],
  hostWork: true,
  programmable: true,
  bitstreamId: IMAGE,
} satisfies ReportedDeployable
const section = (whole: object = {}, info: string = pciJson(at(PF)), besides: readonly object[] = []): Section => ({
  driver: 'intel_fpga_driver',
  status: 'ok',
  devices: [
    {
      type: 'FPGA',
      vendor: '8086',
      model: 'card',
      stdBoardInfo: null,
      vendorBoardInfo: null,
      controlPath: { type: 'PCI', info },
      deployables: [{ ...SHOWN, ...whole }, ...(besides as readonly ReportedDeployable[])],
    },
  ],
})
const image = (uuid: string = IMAGE, more: Readonly<Record<string, string>> = {}) => ({
  ...imageOf(uuid),
  properties: { topology: TOPOLOGY, ...more },
})
const open = async (text: string | null = null) => {
  const [disk, log] = [memoryDisk(), memoryLog()]
  if (text !== null) await disk.replace(PATH, text)
  const functions = await openFunctions(disk, PATH, log)
  const kept = async () => JSON.parse((await disk.read(PATH)) ?? 'null') as unknown
  return { disk, log, functions, kept }
}
/** Its first deployable, with the image that it holds. */
const named = (found: Section): ReportedDeployable => {
  const whole = deployables(found)[0]!
  return { ...whole, attributes: [...whole.attributes, { key: 'bitstream_id', value: IMAGE }] }
}
const deployables = ({ status, ...more }: Section): readonly ReportedDeployable[] =>
  status === 'ok' && 'devices' in more ? more.devices.flatMap((device) => device.deployables) : []

test('the document of an image is kept with what else the image says of itself, and of each card and image once', async () => {
  const { functions, kept } = await open()
  const says = { function_name: 'nic', 'bs-name': 'one', 'bs-uuid': 'u-1', vendor: 'not kept' }
  await functions.keep('h1_card', image(IMAGE, says))
  const first = {
    deployable: 'h1_card',
    image: IMAGE,
    topology: TOPOLOGY,
    facts: { function_name: 'nic', 'bs-name': 'one', 'bs-uuid': 'u-1' },
  }
  expect(await kept()).toEqual({ kept: [first] })
  await functions.keep('h1_card', image(OTHER))
  await functions.keep('h1_other', image())
  await functions.keep('h1_card', image(IMAGE, { 'bs-name': 'two' }))
  expect(await kept()).toEqual({
    kept: [
      { ...first, image: OTHER, facts: {} },
      { ...first, deployable: 'h1_other', facts: {} },
      { ...first, facts: { 'bs-name': 'two' } },
    ],
  })
})

test('an image of which nothing is known is not kept', async () => {
  const { functions, kept } = await open()
  await functions.keep('h1_card', imageOf(IMAGE))
  await functions.keep('h1_card', image(IMAGE, { topology: '{"other": 1}', 'bs-name': '' }))
  expect(await kept()).toBe(null)
})
test('a card that is not divided says of its image what the image says of itself, of the bytes that were loaded', async () => {
  const { functions } = await open()
  const said = (name: string, value: string) => ({
    ...imageOf(IMAGE),
    digest: { algorithm: 'sha256', value: value.repeat(64) },
    properties: { 'bs-name': name, 'bs-uuid': 'u', function_name: 'nic' },
  })
  await functions.keep('h1_card', said('first', 'a'))
  await functions.keep('h1_card', said('second', 'b'))
  const attributes = (bitstream: object) =>
    deployables(functions.divided(section({ bitstream })))[0]!.attributes.slice(SHOWN.attributes.length)
  const of = (name: string) => [
    { key: 'bitstream_id', value: IMAGE },
    { key: 'function_name', value: 'nic', parent: 2 },
    { key: 'bs-name', value: name, parent: 2 },
    { key: 'bs-uuid', value: 'u', parent: 2 },
  ]
  const digest = `sha256:${'a'.repeat(64)}`
  expect(attributes({ digest, functionId: 'f' })).toEqual([
    ...of('first'),
    { key: 'function_uuid', value: 'f', parent: 2 },
    { key: 'digest', value: digest, parent: 2 },
  ])
  // a driver that keeps no digest
  expect(attributes({})).toEqual(of('second'))
  expect(attributes({ digest: `sha256:${'c'.repeat(64)}` })).toEqual([])
})

test('the newest 512 documents are kept', async () => {
  const old = (n: number) => ({ deployable: `h1_${n}`, image: IMAGE, topology: TOPOLOGY, facts: {} })
  const { functions, kept } = await open(JSON.stringify({ kept: Array.from({ length: 512 }, (_, n) => old(n)) }))
  expect(functions.rootOf('h1_0_pf0')).toBe('h1_0')
  await functions.keep('h1_new', image())
  const { kept: all } = (await kept()) as { readonly kept: readonly { readonly deployable: string }[] }
  expect([all.length, all[0]!.deployable, all.at(-1)!.deployable]).toEqual([512, 'h1_1', 'h1_new'])
  expect([functions.rootOf('h1_0_pf0'), functions.rootOf('h1_1_pf0')]).toEqual(['h1_0_pf0', 'h1_1'])
})

test('a write that fails is told, and the next one is tried', async () => {
  const disk = memoryDisk()
  let full = true
  const refusing = {
    ...disk,
    replace: (path: string, text: string) => (full ? Promise.reject(new Error('ENOSPC')) : disk.replace(path, text)),
  }
  const functions = await openFunctions(refusing, PATH, memoryLog())
  await expect(functions.keep('h1_card', image())).rejects.toThrow('ENOSPC')
  full = false
  await functions.keep('h1_card', image(OTHER))
  expect(JSON.parse((await disk.read(PATH))!)).toMatchObject({ kept: [{ image: IMAGE }, { image: OTHER }] })
})

test('FUNCTIONS-3 functions are known to drivers by the name of their root', async () => {
  const { functions } = await open()
  await functions.keep('h1_card', image())
  const names = ['h1_card', 'h1_card_pf0', 'h1_card_vf1', 'h1_card_vf2', 'h1_card_pf3', 'h1_card_vf3', 'h1_other_pf0']
  expect(names.map(functions.rootOf)).toEqual([
    ...Array.from({ length: 5 }, () => 'h1_card'),
    'h1_card_vf3',
    'h1_other_pf0',
  ])
})

describe('a card that holds the image', () => {
  test('is shown with a deployable for each function that its driver shows', async () => {
    const { functions, log } = await open()
    await functions.keep('h1_card', image(IMAGE, { 'bs-name': 'one', function_name: 'nic' }))
    const below = { driverName: 'intel', hostWork: true, programmable: false }
    const vf = (n: number, address: string) => ({
      name: `h1_card_vf${n}`,
      parent: 'h1_card_pf0',
      kind: 'vf',
      ...below,
      numAccelerators: 1,
      attributes: [
        { key: 'function_type', value: 'VF' },
        { key: 'pci_offset', value: String(n) },
      ],
      handles: [handle(address)],
    })
    const whole = section()
    expect(functions.divided(whole)).toStrictEqual({
      ...whole,
      devices: [
        {
          ...(whole as Extract<Section, { status: 'ok' }>).devices[0],
          deployables: [
            {
              ...SHOWN,
              kind: 'region',
              numAccelerators: 3,
              handles: [handle(LEFT)],
              attributes: [
                ...SHOWN.attributes,
                { key: 'bitstream_id', value: IMAGE },
                { key: 'function_name', value: 'nic', parent: 2 },
                { key: 'bs-name', value: 'one', parent: 2 },
              ],
            },
            {
              name: 'h1_card_pf0',
              parent: 'h1_card',
              kind: 'pf',
              ...below,
              numAccelerators: 2,
              attributes: [
                { key: 'function_type', value: 'PF' },
                { key: 'pci_offset', value: '0' },
                { key: 'capability', value: 'crypto' },
                { key: 'kpi', value: '40G' },
              ],
              handles: [],
            },
            vf(1, FIRST),
            vf(2, SECOND),
          ],
        },
      ],
    })
    expect(log.said).toEqual([])
  })
  test('has the document that was kept last for it and that image', async () => {
    const document = (name: string) => JSON.stringify({ pf_num: 1, vf_num: 0, pf: [{ name, pci_offset: 1 }] })
    const one = (name: string, more: object = {}) => ({
      ...{ deployable: 'h1_card', image: IMAGE, topology: document(name), facts: {} },
      ...more,
    })
    const kept = [one('old'), one('new'), one('image', { image: OTHER }), one('card', { deployable: 'h1_x' })]
    const { functions } = await open(JSON.stringify({ kept }))
    expect(deployables(functions.divided(section())).map(({ name }) => name)).toEqual(['h1_card', 'h1_card_new'])
  })
  test.each<[string, Section]>([
    ['holds another image', section({ bitstreamId: OTHER })],
    ['does not say what it holds', section({ bitstreamId: undefined })],
    ['has another name', section({ name: 'h1_other' })],
    ['could not be discovered', { driver: 'intel_fpga_driver', status: 'failed', error: 'no' }],
  ])('is left as it is where it %s', async (_, found) => {
    const { functions, log } = await open()
    await functions.keep('h1_card', image())
    expect([functions.divided(found), log.said]).toEqual([found, []])
  })
  test.each<[string, Section]>([
    ['does not show any of the functions', section({ handles: [handle(LEFT)] })],
    ['gives its functions together (C11)', section({ handles: [{ ...handle(FIRST), set: 0 }, handle(SECOND)] })],
    ['shows what is no address', section({ handles: [{ type: 'PCI', info: { bus: '3b' } }] })],
  ])('stays whole where it %s, which is logged once for each image that is kept', async (_, found) => {
    const { functions, log } = await open()
    await functions.keep('h1_card', image())
    for (let time = 0; time < 2; time++) expect(deployables(functions.divided(found))).toEqual([named(found)])
    const said = {
      level: 'warn',
      detail: { deployable: 'h1_card', image: IMAGE },
      message: 'host.functionsNotShown',
    }
    expect(log.said).toEqual([said])
    await functions.keep('h1_card', image())
    functions.divided(found)
    expect(log.said).toEqual([said, said])
  })
  test.each<[string, Section]>([
    ['has no address', section({}, '{}')],
    [
      'is shown as a tree by its driver',
      section({}, pciJson(at(PF)), [{ ...SHOWN, name: 'h1_part', parent: 'h1_card', bitstreamId: undefined }]),
    ],
  ])('stays as its driver shows it where it %s', async (_, found) => {
    const { functions, log } = await open()
    await functions.keep('h1_card', image())
    expect(deployables(functions.divided(found))).toEqual([named(found), ...deployables(found).slice(1)])
    expect(log.said).toEqual([])
  })
  test('stays whole where its document is of another kind', async () => {
    const kept = [{ deployable: 'h1_card', image: IMAGE, topology: '{"other": 1}', facts: {} }]
    const { functions, log } = await open(JSON.stringify({ kept }))
    expect([deployables(functions.divided(section())), log.said]).toEqual([[named(section())], []])
  })
  test('is left as it is, and not even looked at, where nothing is kept', async () => {
    const { functions } = await open()
    const found = section()
    expect(functions.divided(found)).toBe(found)
  })
})

describe('a file of functions', () => {
  const one = { deployable: 'd'.repeat(1000), image: 'i'.repeat(100), topology: TOPOLOGY, facts: { 'bs-name': 'n' } }
  test.each<[string, object, boolean]>([
    ['as long as it may be', one, true],
    ['with a longer name', { ...one, deployable: `${one.deployable}d` }, false],
    ['with a longer image', { ...one, image: `${one.image}i` }, false],
    ['with a document of 65,535 bytes', { ...one, topology: 'x'.repeat(65_535) }, true],
    ['with a longer document', { ...one, topology: 'x'.repeat(65_536) }, false],
    ['without facts', { deployable: 'd', image: 'i', topology: '' }, false],
    ['with facts that are no text', { ...one, facts: { 'bs-name': 1 } }, false],
  ])('%s is read: case %#', async (_, entry, isRead) => {
    const { log, functions, kept } = await open(JSON.stringify({ kept: [entry] }))
    expect(log.said).toEqual(
      isRead ? [] : [{ level: 'warn', detail: { path: PATH }, message: 'host.functionsUnreadable' }],
    )
    await functions.keep('h1_card', image())
    expect(((await kept()) as { readonly kept: readonly object[] }).kept).toHaveLength(isRead ? 2 : 1)
  })
  test('that is not there is no reason to warn', async () => expect((await open()).log.said).toEqual([]))
})

test('a card that is at another address by now is divided as before, and its functions are known there', async () => {
  const { functions } = await open()
  await functions.keep('h1_0000:3b:00.0', image())
  const names = (root: string) => deployables(functions.divided(section({ name: root }))).map(({ name }) => name)
  const [first, later] = ['h1_0000:3b:00.0', 'h1_0000:5e:00.0'].map(names)
  expect(first).toContain('h1_0000:3b:00.0_vf1')
  expect(later).toEqual(first!.map((name) => name.replace('3b', '5e')))
  expect(later!.map(functions.rootOf)).toEqual(later!.map(() => 'h1_0000:5e:00.0'))
  expect(functions.rootOf('h1_0000:5e:00.0_other')).toBe('h1_0000:5e:00.0_other')
})
