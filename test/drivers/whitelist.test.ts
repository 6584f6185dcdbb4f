/** `[pci] passthrough_whitelist`: how it is read, and which functions an entry takes. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { driverByName } from '../../src/drivers/index.ts'
import { formatPciAddress, hexText } from '../../src/vocabulary/pci.ts'
import { driverOf, lookedAt, machine } from './machines.ts'

const problemsOf = (whitelist: unknown): readonly string[] => {
  const reading = driverByName('pci_driver', { pci: { whitelist } })
  return reading.ok ? [] : reading.problems.map(({ field, rule }) => `${field}: ${rule}`)
}
type Found = { readonly ids?: string; readonly physfn?: string; readonly eth?: string }
/** Whether the function is offered, or left out for another reason than that no entry takes it. */
const takes = async (whitelist: unknown, at = '0000:0a:00.1', { ids = '1b36:0010', physfn, eth }: Found = {}) => {
  const own = { is: `${ids} 120000`, physfn }
  const io = machine(physfn === undefined ? { [at]: own } : { [at]: own, [physfn]: { is: '8086:158b 120000' } })
  const device = { '->': `../../../devices/x/${physfn ?? at}` }
  if (eth !== undefined) io.tree('/sys')['class'] = { net: { [eth]: { device } } }
  const { offered, left } = await lookedAt(driverOf('pci_driver', { pci: { whitelist } }), io)
  return offered.includes(at) || left[at] !== undefined
}

describe('what an entry takes', () => {
  const addresses = (...all: readonly unknown[]) => all.map((address) => ({ address }))
  test.each([
    ...addresses('*:0a:00.*', '0a:00.1', ':0a:00.', '.1', '0a:*.*', '0000:0A:00.1'),
    ...addresses('0a:00', '*', ' : 0a : 00 . 1 ', '::.', '0:a:0.1', ''),
    ...addresses({}, { bus: '0' }, { bus: '0a', slot: '0[0-3]' }, { domain: '.*', function: '[01]' }),
    ...[{}, { vendor_id: '*' }, { vendor_id: '0x1B36' }, { vendor_id: '1b36', product_id: '10' }],
    ...[{ physical_network: 'net0' }, [{ vendor_id: '1af4' }, { address: '.1' }]],
  ])('%j takes 0000:0a:00.1', async (entry) => expect(await takes(entry)).toBe(true))
  test.each([
    ...addresses('.0', '0b:*.*', '0001:0a:00.1', '*:0a:01.*'),
    ...addresses({ bus: 'a' }, { bus: '0A' }, { function: '0' }, { bus: '0a', slot: '1' }),
    ...[{ vendor_id: '1af4' }, { vendor_id: '1b36', product_id: '11' }, { product_id: '10', address: '.0' }, []],
  ])('%j does not', async (entry) => expect(await takes(entry)).toBe(false))
  test('the vendor text inside a product id is no vendor', async () =>
    expect(await takes({ vendor_id: '10de' }, '0000:00:19.0', { ids: '8086:10de' })).toBe(false))

  const vf = { ids: '8086:154c', physfn: '0000:18:00.0' }
  test.each([
    [{ address: '0000:18:00.0' }, true],
    [{ address: '18:00.0' }, false],
    [{ address: '0000:18:00.0', product_id: '158b' }, false],
    [{ address: '0000:05:00.0' }, false],
  ])('a physical function named exactly brings its virtual functions, a glob does not: %j', async (entry, does) =>
    expect(await takes(entry, '0000:18:02.0', vf)).toBe(does),
  )
  test('a network interface brings its function and the virtual functions of it', async () => {
    const entry = { devname: 'ens24f0' }
    expect(await takes(entry, '0000:18:00.0', { eth: 'ens24f0' })).toBe(true)
    expect(await takes(entry, '0000:18:02.0', { ...vf, eth: 'ens24f0' })).toBe(true)
    expect(await takes(entry, '0000:18:00.0', { eth: 'other' })).toBe(false)
  })
  test.each([
    ['*:e1:00.0', true],
    ['e1:00.0', true],
    ['0000:e1:00.0', false],
    [{ domain: '10000$' }, true],
  ])('a domain of five digits is any, and can be named by an expression: %j', async (address, does) =>
    expect(await takes({ address }, '10000:e1:00.0')).toBe(does),
  )
})

describe('how the option is read', () => {
  const entry = { vendor_id: '1b36' }
  const text = JSON.stringify(entry)
  test.each([[entry], [text], [`[${text}]`], [[text]], [[entry]], [[`[${text}]`]]])('%j is one entry', async (given) =>
    expect([await takes(given), await takes(given, '0000:0a:00.1', { ids: '1af4:0010' })]).toEqual([true, false]),
  )
  test.each([undefined, null, '', [], '[]'])('%j is none', async (given) =>
    expect([problemsOf(given), await takes(given)]).toEqual([[], false]),
  )

  test.each([
    ['not json', 'pci.passthrough_whitelist: must be JSON: an object or a list of objects'],
    ['7', 'pci.passthrough_whitelist: must be an object'],
    ['"{}"', 'pci.passthrough_whitelist: must be JSON: an object or a list of objects'],
    [7, 'pci.passthrough_whitelist: must be JSON: an object or a list of objects'],
    ['[{}, 7]', 'pci.passthrough_whitelist[1]: must be an object'],
    ['[["{}"]]', 'pci.passthrough_whitelist[0]: must be an object'],
    [[[]], 'pci.passthrough_whitelist[0]: must be an object'],
    [{ vendor_id: 'acme' }, 'pci.passthrough_whitelist.vendor_id: must be hex text or *, is "acme"'],
    [{ vendor_id: 8086 }, 'pci.passthrough_whitelist.vendor_id: must be hex text or *, is 8086'],
    [{ vendor_id: null }, 'pci.passthrough_whitelist.vendor_id: must be hex text or *, is null'],
    [{ product_id: '12345' }, "pci.passthrough_whitelist.product_id: must not exceed ffff, is '12345'"],
    [{ address: 'xx:00.0' }, "pci.passthrough_whitelist.address.bus: must be hex or *, is 'xx'"],
    [
      { address: '100000000:0a:00.0' },
      "pci.passthrough_whitelist.address.domain: must not exceed ffffffff, is '100000000'",
    ],
    [{ address: '100:00.0' }, "pci.passthrough_whitelist.address.bus: must not exceed ff, is '100'"],
    [{ address: '0a:20.0' }, "pci.passthrough_whitelist.address.slot: must not exceed 1f, is '20'"],
    [{ address: '0a:00.8' }, "pci.passthrough_whitelist.address.function: must not exceed 7, is '8'"],
    [{ address: '0:0:0:0.0' }, 'pci.passthrough_whitelist.address: must have the form domain:bus:slot.function'],
    [{ address: '0a:00.1.1' }, "pci.passthrough_whitelist.address.function: must be hex or *, is '1.1'"],
    [{ address: { bus: '[' } }, 'pci.passthrough_whitelist.address.bus: must be a regular expression, is "["'],
    [{ address: { bus: 7 } }, 'pci.passthrough_whitelist.address.bus: must be a regular expression, is 7'],
    [
      { address: { device: '.*' } },
      'pci.passthrough_whitelist.address.device: is not a part of an address: domain, bus, slot, function',
    ],
    [{ address: 7 }, 'pci.passthrough_whitelist.address: must be text or an object of regular expressions'],
    [{ devname: '../eth0' }, 'pci.passthrough_whitelist.devname: must be the name of a network interface'],
    [{ devname: '..' }, 'pci.passthrough_whitelist.devname: must be the name of a network interface'],
    [{ devname: 'eth0', address: '.1' }, 'pci.passthrough_whitelist: must not have both address and devname'],
    [{ device_type: 'gpu' }, 'pci.passthrough_whitelist.device_type: must be one of GPU, FPGA, AICHIP, QAT, NIC, SSD'],
    [
      { resource_class: 'VCPU' },
      'pci.passthrough_whitelist.resource_class: must be FPGA, PGPU, VGPU or CUSTOM_ followed by A-Z, 0-9 and _',
    ],
    [
      { traits: ['custom_a'] },
      'pci.passthrough_whitelist.traits: must be a list, or text with commas, of names of A-Z, 0-9 and _',
    ],
    [
      { traits: [7] },
      'pci.passthrough_whitelist.traits: must be a list, or text with commas, of names of A-Z, 0-9 and _',
    ],
    [{ check: 1 }, 'pci.passthrough_whitelist.check: must be true or false'],
    [{ mode: 'PF' }, 'pci.passthrough_whitelist.mode: must be pf or vf'],
  ])('%j is refused', (given, problem) => expect(problemsOf(given)).toEqual([problem]))

  const long = (count: number, letter = 'A'): string => letter.repeat(count)
  test.each<[string, object, object]>([
    ['ids', { vendor_id: 'ffff' }, { vendor_id: '10000' }],
    ['names of interfaces', { devname: long(127) }, { devname: long(128) }],
    ['names of traits', { traits: [long(255)] }, { traits: [long(256)] }],
    ['traits, of which each is a name', { traits: 'A,B' }, { traits: 'A,,B' }],
    ['resource classes', { resource_class: `CUSTOM_${long(248)}` }, { resource_class: `CUSTOM_${long(249)}` }],
    ['resource classes, which are whole', { resource_class: 'FPGA' }, { resource_class: 'XFPGA' }],
    ['resource classes, to their end', { resource_class: 'PGPU' }, { resource_class: 'PGPUX' }],
    ['names of networks', { physical_network: long(100) }, { physical_network: long(101) }],
    ['names of networks, without blanks', { physical_network: 'a' }, { physical_network: 'a b' }],
    ['expressions', { address: { bus: long(1000) } }, { address: { bus: long(1001) } }],
    ['interfaces, but no part of a path', { devname: '...' }, { devname: '.' }],
    ['interfaces, but no blank', { devname: 'a-b' }, { devname: 'a b' }],
  ])('%s have limits', (_, fits, not) => {
    expect([problemsOf(fits), problemsOf(not).length]).toEqual([[], 1])
  })
  test('all problems are named at once', () =>
    expect(problemsOf([{ vendor_id: 'x', product_id: 'y' }, '{"check": 1}', '[{}, {"address": 1}]', 'junk'])).toEqual([
      'pci.passthrough_whitelist[0].vendor_id: must be hex text or *, is "x"',
      'pci.passthrough_whitelist[0].product_id: must be hex text or *, is "y"',
      'pci.passthrough_whitelist[1].check: must be true or false',
      'pci.passthrough_whitelist[2][1].address: must be text or an object of regular expressions',
      'pci.passthrough_whitelist[3]: must be JSON: an object or a list of objects',
    ]))
})

describe('for any function and any value', () => {
  const part = (max: number, digits: number) => fc.nat({ max }).map((value) => hexText(value, digits))
  const address = fc.record({
    domain: part(0xffff, 4),
    bus: part(0xff, 2),
    device: part(0x1f, 2),
    function: part(7, 1),
  })
  const blank = fc.constantFrom('', '*', ' ')

  test('a glob with some fields blanked takes the function it came from, and an exact one no other', () => {
    const blanks = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 })
    return fc.assert(
      fc.asyncProperty(address, address, blanks, blank, fc.boolean(), async (one, other, blanked, any, upper) => {
        const [domain, bus, slot, fn] = [one.domain, one.bus, one.device, one.function].map((own, at) =>
          blanked[at] ? any : own,
        )
        const glob = `${domain}:${bus}:${slot}.${fn}`
        expect(await takes({ address: upper ? glob.toUpperCase() : glob }, formatPciAddress(one))).toBe(true)
        const same = formatPciAddress(one) === formatPciAddress(other)
        expect(await takes({ address: formatPciAddress(one) }, formatPciAddress(other))).toBe(same)
      }),
    )
  })
  test('the form as JSON text and the decoded form are read the same', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const entry = fc.dictionary(fc.constantFrom('vendor_id', 'address', 'traits', 'x'), value)
    fc.assert(
      fc.property(fc.oneof(fc.array(entry), fc.dictionary(fc.string(), value)), (given) => {
        expect(problemsOf(JSON.stringify(given))).toEqual(problemsOf(given))
      }),
    )
  })
  test('nothing makes the reader throw, and a problem names field and rule', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (given) => {
        for (const problem of problemsOf(given)) expect(problem).toMatch(/^pci\.\S.*: .+/)
      }),
    )
  })
})
