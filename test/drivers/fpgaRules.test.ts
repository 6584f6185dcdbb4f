/** FPGA drivers in full: which functions are cards, what is reported of them, what their tools are handed. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { lookupIn } from '../../src/drivers/cards/knownCards.ts'
import { GBS_HEAD_BYTES, readGbs } from '../../src/drivers/fpga/gbs.ts'
import { intelFpgaDriver } from '../../src/drivers/fpga/intelFpga.ts'
import { readXclbin, XCLBIN_HEAD_BYTES } from '../../src/drivers/fpga/xclbin.ts'
import { xilinxFpgaDriver } from '../../src/drivers/fpga/xilinxFpga.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { type Facts, gbs, INTEL, pciTree, xclbin } from './trees.ts'

const UUID = '862c7020-a250-293e-3203-6f19956669e5'
const FUNCTION = '0AF76519-16cd-43dd-8448-eb211c80319c'
const pathOf = (bus: string, device = '00') =>
  `{"bus": "${bus}", "device": "${device}", "domain": "0000", "function": "0"}`
const handle = (bus: string, fn: string, more: object = {}) => ({
  type: 'PCI',
  info: { bus, device: '00', domain: '0000', function: fn },
  ...more,
})
const attributes = (...traits: readonly string[]) => [
  { key: 'rc', value: 'FPGA' },
  ...traits.map((value, n) => ({ key: `trait${n}`, value })),
]
const images: Tree = {
  'design.xclbin': xclbin(UUID),
  'design.gbs': gbs(INTEL.region, ['1'.repeat(32), '2'.repeat(32)]),
}
const namesOf = async (driver: Driver, io: HostIo) =>
  (await driver.discover(io)).map(({ deployables: [one] }) => one!.name.slice(-12))

describe('an Alveo card', () => {
  const at = (device: string, more: Partial<Facts> = {}): Facts => ({
    vendor: '10ee',
    device,
    class: '120000',
    ...more,
  })
  const CARD = {
    '0000:3b:00.0': at('5000'),
    '0000:3b:00.1': at('5001', { more: { xclbinuuid: `${UUID.toUpperCase()}\n` } }),
  }
  const NAME = 'h1_0000:3b:00.0'
  const driver = (xrtFolder?: string) =>
    xilinxFpgaDriver({ sysfsRoot: '/sys', known: lookupIn(), ...(xrtFolder === undefined ? {} : { xrtFolder }) })
  const host = (functions: Readonly<Record<string, Facts>>, more: Tree = {}) =>
    recordedHostIo({ sys: pciTree(functions), images, ...more }, 'h1')
  const XRT = { opt: { xilinx: { xrt: { bin: { xbutil: '' } } } } }
  /** Notes how the tool was called. */
  const changing = (io: HostIo) => {
    const calls: unknown[] = []
    return { calls, io: { ...io, change: async (...call: unknown[]) => (calls.push(call), '') } as HostIo }
  }
  test('that holds a known image is reported with it and with what it does', async () => {
    const { calls, io } = changing(host(CARD, XRT))
    const one = driver()
    const signal = new AbortController().signal
    await one.program!(io, NAME, '/images/design.xclbin', signal, { functionId: FUNCTION })
    expect(calls).toEqual([
      [
        NAME,
        '/opt/xilinx/xrt/bin/xbutil',
        ['program', '--device', '0000:3b:00.1', '--user', '/images/design.xclbin'],
        600_000,
        signal,
      ],
    ])
    expect(await one.discover(io)).toStrictEqual([
      {
        type: 'FPGA',
        vendor: '10ee',
        model: 'U200',
        stdBoardInfo: '{"product_id": "5000", "controller": "Processing accelerators"}',
        vendorBoardInfo: '{"vendor_info": "fpga_vb_info"}',
        controlPath: { type: 'PCI', info: pathOf('3b') },
        deployables: [
          {
            name: NAME,
            numAccelerators: 1,
            driverName: 'XILINX',
            attributes: attributes(
              'CUSTOM_FPGA_PRODUCT_ID_5000',
              'CUSTOM_FPGA_XILINX_U200',
              'CUSTOM_FPGA_FUNCTION_ID_XILINX_862C7020_A250_293E_3203_6F19956669E5',
              'CUSTOM_FPGA_FUNCTION_ID_XILINX_0AF76519_16CD_43DD_8448_EB211C80319C',
            ),
            handles: [handle('3b', '1')],
            hostWork: true,
            programmable: true,
            bitstreamId: 'design',
            bitstream: { functionId: FUNCTION },
          },
        ],
      },
    ])
  })
  test('is any accelerator of this vendor that the table does not give to another driver', async () => {
    const io = host({
      '0000:01:00.0': at('fffe'),
      '0000:02:00.0': at('fffe', { class: '120100' }),
      '0000:03:00.0': at('fffe', { vendor: '1d0f' }),
      '0000:04:00.1': at('fffe', { physfn: '0000:04:00.0' }),
      '0000:05:00.0': at('5074'),
      ...CARD,
    })
    expect(await namesOf(driver(), io)).toEqual(['0000:01:00.0', '0000:3b:00.0'])
    const [unknown] = await driver().discover(io)
    expect(unknown).toEqual({
      type: 'FPGA',
      vendor: '10ee',
      model: 'Device',
      stdBoardInfo: '{"product_id": "fffe", "controller": "Processing accelerators"}',
      vendorBoardInfo: '{"vendor_info": "fpga_vb_info"}',
      controlPath: { type: 'PCI', info: pathOf('01') },
      deployables: [
        {
          name: 'h1_0000:01:00.0',
          numAccelerators: 1,
          driverName: 'XILINX',
          attributes: attributes('CUSTOM_FPGA_PRODUCT_ID_FFFE'),
          handles: [handle('01', '0')],
          hostWork: true,
          programmable: true,
        },
      ],
    })
  })
  test('has the class and the traits of its row in the table of an operator', async () => {
    const [row] = [lookupIn()({ vendor: '10ee', product: '5000' })!]
    const known = lookupIn([{ ...row, resourceClass: 'CUSTOM_FPGA_OWN', traits: ['CUSTOM_OWN'], family: null }])
    const [device] = await xilinxFpgaDriver({ sysfsRoot: '/sys', known }).discover(host(CARD))
    expect(device!.deployables[0]!.attributes.map(({ value }) => value)).toEqual([
      'CUSTOM_FPGA_OWN',
      'CUSTOM_FPGA_PRODUCT_ID_5000',
      'CUSTOM_FPGA_FUNCTION_ID_XILINX_862C7020_A250_293E_3203_6F19956669E5',
      'CUSTOM_OWN',
    ])
  })
  test('is named by at most 255 characters', async () => {
    const ids = (name: string) => ({ usr: { share: { misc: { 'pci.ids': `10ee  Xilinx\n\t5000  ${name}\n` } } } })
    const modelOf = async (name: string) => (await driver().discover(host(CARD, ids(name))))[0]!.model
    expect(await modelOf('U200')).toBe('Xilinx U200')
    expect(await modelOf('x'.repeat(248))).toBe(`Xilinx ${'x'.repeat(248)}`)
    expect(await modelOf(`${'x'.repeat(248)}y`)).toBe(`Xilinx ${'x'.repeat(248)}`)
  })
  test.each<[string, Readonly<Record<string, Facts>>, string]>([
    ['shows its factory image', { '0000:3b:00.0': at('d000') }, 'it shows its factory image: it needs a shell'],
    [
      'has lost its user function',
      { '0000:3b:00.0': at('5000') },
      'only its management function is there, which stays with the host: its user function comes with a shell',
    ],
    ['has lost the other function', { '0000:3b:00.1': at('5001') }, 'only one of its two functions is there'],
  ])('that %s is not programmed', async (_, functions, reason) => {
    const { calls, io } = changing(host(functions, XRT))
    await expect(driver().program!(io, NAME, '/images/design.xclbin', never)).rejects.toThrow(
      `${NAME} cannot be programmed: ${reason}`,
    )
    expect([calls, await driver().leftOut!(io)]).toEqual([[], [{ address: '0000:3b:00.0', reason }]])
  })
  test('is programmed by the program of XRT in the folder that an operator names', async () => {
    const { calls, io } = changing(host(CARD, { own: { 'xrt-smi': '', xbutil: '' } }))
    await driver('/own').program!(io, NAME, '/images/design.xclbin', never)
    expect(calls.map((call) => (call as readonly string[]).slice(0, 2))).toEqual([[NAME, '/own/xbutil']])
    await expect(driver().program!(io, NAME, '/images/design.xclbin', never)).rejects.toThrow(
      '/opt/xilinx/xrt/bin: has none of xbutil, xrt-smi',
    )
    const list: HostIo['list'] = (path) =>
      path === '/own' ? Promise.reject(Object.assign(new Error('EACCES: /own'), { code: 'EACCES' })) : io.list(path)
    await expect(driver('/own').program!({ ...io, list }, NAME, '/images/design.xclbin', never)).rejects.toThrow(
      'EACCES: /own',
    )
  })
  test('is not touched when the time of the order is over, before or after the image was read', async () => {
    const { calls, io } = changing(host(CARD, XRT))
    const program = (given: HostIo, signal: AbortSignal) =>
      driver().program!(given, NAME, '/images/design.xclbin', signal)
    await expect(program(io, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    const abort = new AbortController()
    const head: HostIo['head'] = (path, bytes) => {
      abort.abort(new Error('meanwhile'))
      return io.head(path, bytes)
    }
    await expect(program({ ...io, head }, abort.signal)).rejects.toThrow('meanwhile')
    expect([calls, await driver().discover(io)]).toMatchObject([[], [{ deployables: [{ programmable: true }] }]])
  })
})

describe('a card of Intel', () => {
  const at = (more: Partial<Facts> = {}): Facts => ({ vendor: '8086', device: '09c4', class: '120000', ...more })
  const fpga = (regions: readonly string[], functions: readonly string[]): Tree => ({
    fpga: {
      'intel-fpga-dev.0': Object.fromEntries([
        ...regions.map((id, n) => [`intel-fpga-fme.${n}`, { pr: { interface_id: id } }]),
        ...functions.map((id, n) => [`intel-fpga-port.${n}`, { afu_id: id }]),
      ]) as Tree,
    },
  })
  const [ONE, TWO] = ['1'.repeat(32), '2'.repeat(32)] as const
  const driver = (fpgaconf?: string) =>
    intelFpgaDriver({ sysfsRoot: '/sys', known: lookupIn(), ...(fpgaconf === undefined ? {} : { fpgaconf }) })
  const NAME = 'h1_0000:3b:00.0'
  const vf = (fn: string, more: Tree = {}) => ({
    [`0000:3b:00.${fn}`]: at({ device: '09c5', physfn: '0000:3b:00.0', more }),
  })

  test('is what the table or its kernel driver says it is, and offers its virtual functions in their order', async () => {
    const io = recordedHostIo(
      {
        sys: pciTree({
          '0000:3b:00.0': at({ more: fpga([INTEL.region], [TWO]) }),
          ...vf('3', fpga([], [ONE])),
          ...vf('1', fpga([], [TWO])),
          '0000:3c:00.0': at({ device: 'fffe', more: fpga([TWO, ONE], []) }),
          '0000:3d:00.0': at({ device: 'fffe' }),
          '0000:3e:00.0': at({ vendor: '1002', device: 'fffe', more: fpga([ONE], []) }),
          '0000:3f:00.0': at({ device: '09c5' }),
        }),
      },
      'h1',
    )
    const one = driver()
    const common = { driverName: 'intel', hostWork: true, programmable: true }
    const card = (bus: string, product: string) => ({
      type: 'FPGA',
      vendor: '0x8086',
      model: 'miss_model_info',
      stdBoardInfo: `{"product_id": "0x${product}"}`,
      vendorBoardInfo: 'miss_vb_info',
      controlPath: { type: 'PCI', info: pathOf(bus) },
    })
    const region = (id: string) => `CUSTOM_FPGA_REGION_INTEL_${id.toUpperCase()}`
    const loaded = (id: string) => `CUSTOM_FPGA_FUNCTION_ID_INTEL_${id.toUpperCase()}`
    expect(await one.discover(io)).toStrictEqual([
      {
        ...card('3b', '09c4'),
        deployables: [
          {
            name: NAME,
            numAccelerators: 2,
            ...common,
            attributes: [
              ...attributes(
                'CUSTOM_FPGA_INTEL',
                'CUSTOM_FPGA_INTEL_PAC_ARRIA10',
                loaded(ONE),
                loaded(TWO),
                region(INTEL.region),
              ),
              { key: 'region_uuid', value: INTEL.region },
            ],
            handles: ['1', '3'].map((fn) => handle('3b', fn, { physfn: '0000:3b:00.0' })),
          },
        ],
      },
      {
        ...card('3c', 'fffe'),
        deployables: [
          {
            name: 'h1_0000:3c:00.0',
            numAccelerators: 1,
            ...common,
            attributes: attributes('CUSTOM_FPGA_INTEL', region(ONE), region(TWO)),
            handles: [handle('3c', '0')],
          },
        ],
      },
    ])
    expect(await one.leftOut!(io)).toEqual([
      { address: '0000:3b:00.0', reason: 'its virtual functions are offered instead' },
    ])
  })
  test('is programmed by its tool, whose end is not enough: each function of the image must be there', async () => {
    const sys = pciTree({ '0000:3b:00.0': at({ more: fpga([INTEL.region], [TWO]) }) })
    const calls: unknown[] = []
    const io = recordedHostIo({ sys, images }, 'h1')
    const changing = { ...io, change: async (...call: unknown[]) => (calls.push(call), '') } as HostIo
    const signal = new AbortController().signal
    const program = (given: HostIo, path = '/images/design.gbs') =>
      driver('/own/fpgaconf').program!(given, NAME, path, signal)
    await expect(program(changing)).rejects.toThrow(
      `${NAME} does not show function ${ONE} of /images/design.gbs after programming, but ${TWO}`,
    )
    const args = ['--bus', '0x3b', '--device', '0x00', '--function', '0x0', '/images/design.gbs']
    expect(calls).toEqual([[NAME, '/own/fpgaconf', args, 600_000, signal]])
    const port = io.tree('/sys/bus/pci/devices/0000:3b:00.0/fpga/intel-fpga-dev.0')
    port['intel-fpga-port.1'] = { afu_id: ONE }
    await program(changing)
    expect((await driver().discover(io))[0]!.deployables[0]).toMatchObject({ bitstreamId: 'design' })
    // the region is part of what a card shows: another shell, another image
    port['intel-fpga-fme.0'] = { pr: { interface_id: ONE } }
    expect((await driver().discover(io))[0]!.deployables[0]).not.toHaveProperty('bitstreamId')
    await expect(program(changing)).rejects.toThrow(
      `/images/design.gbs is made for a region of type ${INTEL.region}, and ${NAME} has ${ONE}`,
    )
    delete port['intel-fpga-fme.0']
    await expect(program(changing)).rejects.toThrow(`of type ${INTEL.region}, and ${NAME} has none`)
    expect(calls).toHaveLength(2)
  })
  test('that shows nothing after programming is told so', async () => {
    const sys = pciTree({ '0000:3b:00.0': at({ more: fpga([INTEL.region], []) }) })
    const io = { ...recordedHostIo({ sys, images }, 'h1'), change: async () => '' }
    await expect(driver().program!(io, NAME, '/images/design.gbs', never)).rejects.toThrow(
      `${NAME} does not show function ${ONE}, ${TWO} of /images/design.gbs after programming, but none`,
    )
  })
  test('in a segment of its own is named with it', async () => {
    const sys = pciTree({ '0001:3b:00.0': at({ more: fpga([INTEL.region], [ONE, TWO]) }) })
    const calls: (readonly unknown[])[] = []
    const io = {
      ...recordedHostIo({ sys, images }, 'h1'),
      change: async (...call: unknown[]) => (calls.push(call), ''),
    } as HostIo
    await driver().program!(io, 'h1_0001:3b:00.0', '/images/design.gbs', never)
    expect(calls[0]!.slice(1, 3)).toEqual([
      '/usr/bin/fpgaconf',
      ['--segment', '0x0001', '--bus', '0x3b', '--device', '0x00', '--function', '0x0', '/images/design.gbs'],
    ])
  })
})

describe('the header of an xclbin', () => {
  const bytes = (text: string) => Buffer.from(text, 'latin1')
  test('is the first 456 bytes of the file, with a platform of up to 64 characters', () => {
    const whole = bytes(xclbin(UUID))
    expect(XCLBIN_HEAD_BYTES).toBe(456)
    expect(readXclbin(whole.subarray(0, 456)).uuid).toBe(UUID)
    expect(() => readXclbin(whole.subarray(0, 455))).toThrow('its header is cut off')
    whole.fill('p', 352, 416)
    expect(readXclbin(whole)).toEqual({ uuid: UUID, platform: 'p'.repeat(64) })
    whole.fill(0, 352, 416)
    expect(readXclbin(whole).platform).toBe('')
    expect(readXclbin(new Uint8Array(whole).subarray(0, 460)).uuid).toBe(UUID)
  })
  test('without a UUID is refused', () =>
    expect(() => readXclbin(bytes(xclbin('00000000-0000-0000-0000-000000000000')))).toThrow('its header holds no UUID'))
  test('of another format is refused', () => {
    for (const text of [`y${xclbin(UUID).slice(1)}`, `${xclbin(UUID).slice(0, 7)}x${xclbin(UUID).slice(8)}`, ''])
      expect(() => readXclbin(bytes(text))).toThrow('is not an xclbin')
  })
})

describe('the header of a GBS', () => {
  const file = (text: string, length = text.length): Buffer => {
    const size = Buffer.alloc(4)
    size.writeUInt32LE(length)
    return Buffer.concat([Buffer.from(gbs('', []).slice(0, 16), 'latin1'), size, Buffer.from(text)])
  }
  const header = (clusters: number, more: object = {}) =>
    JSON.stringify({
      'afu-image': {
        'interface-uuid': ` ${INTEL.region.toUpperCase()} `,
        'accelerator-clusters': Array.from({ length: clusters }, () => ({ 'accelerator-type-uuid': INTEL.function })),
        ...more,
      },
    })
  test('has a text of up to 64 KiB and up to 64 functions', () => {
    const padded = (length: number) => header(1).padEnd(length)
    expect(GBS_HEAD_BYTES).toBe(65_556)
    expect(readGbs(file(padded(65_536)))).toEqual({ region: INTEL.region, functions: [INTEL.function] })
    expect(() => readGbs(file(padded(65_537)))).toThrow('its header is cut off or longer than 64 KiB')
    expect(() => readGbs(file(header(1), header(1).length + 1))).toThrow('its header is cut off')
    expect(readGbs(Buffer.concat([file(header(2)), Buffer.from('bits')])).functions).toHaveLength(2)
    expect(readGbs(file(header(64))).functions).toHaveLength(64)
    expect(() => readGbs(file(header(65)))).toThrow(/^its header cannot be read: afu-image\.accelerator-clusters: /)
  })
  test.each<[string, string]>([
    [header(0), 'its header cannot be read: afu-image.accelerator-clusters: names no function'],
    ['{', 'its header cannot be read: JSON: '],
    ['{}', 'its header cannot be read: afu-image: '],
    [header(1, { 'interface-uuid': 'a'.repeat(31) }), 'its header cannot be read: afu-image.interface-uuid: '],
    [header(1, { 'interface-uuid': 'a'.repeat(33) }), 'its header cannot be read: afu-image.interface-uuid: '],
    [header(1, { 'interface-uuid': `${'a'.repeat(32)}${'-'.repeat(33)}` }), 'afu-image.interface-uuid: '],
  ])('of %j is refused', (text, reason) => expect(() => readGbs(file(text))).toThrow(reason))
  test('may write ids of up to 64 characters with hyphens', () =>
    expect(readGbs(file(header(1, { 'interface-uuid': `${'a'.repeat(32)}${'-'.repeat(32)}` }))).region).toBe(
      'a'.repeat(32),
    ))
  test('shorter than 20 bytes, or of another format, is refused', () => {
    const whole = file('')
    expect(whole).toHaveLength(20)
    expect(() => readGbs(whole)).toThrow('its header cannot be read')
    expect(() => readGbs(whole.subarray(0, 19))).toThrow('is not an Intel FPGA bitstream (GBS)')
    expect(() => readGbs(whole.with(15, 0))).toThrow('is not an Intel FPGA bitstream (GBS)')
  })
})
