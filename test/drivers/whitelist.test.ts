import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatPciAddress, hexText, parsePciAddress } from '../../src/pci.ts'
import { matchesEntry, readWhitelist, type WhitelistEntry } from '../../src/drivers/pci/whitelist.ts'

const entriesOf = (given: unknown): readonly WhitelistEntry[] => {
  const reading = readWhitelist(given)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.entries
}
const problemsOf = (given: unknown): readonly string[] => {
  const reading = readWhitelist(given)
  return reading.ok ? [] : reading.problems.map(({ field, rule }) => `${field}: ${rule}`)
}
const found = (address: string, ids = '1b36:0010', physfn: string | null = null) => ({
  address: parsePciAddress(address)!,
  vendor: ids.slice(0, 4),
  product: ids.slice(5),
  physfn: physfn === null ? null : parsePciAddress(physfn),
  totalVfs: 0,
})
const takes = (given: unknown, one: ReturnType<typeof found>, interfaces = new Map()): boolean =>
  entriesOf(given).some((entry) => matchesEntry(entry, one, interfaces))

describe('what an entry takes', () => {
  const one = found('0000:0a:00.1')

  test.each(['*:0a:00.*', '0a:00.1', ':0a:00.', '.1', '0a:*.*', '0000:0A:00.1'])(
    'the glob %s takes 0000:0a:00.1',
    (address) => expect(takes({ address }, one)).toBe(true),
  )
  test.each(['0a:00', '*', ' : 0a : 00 . 1 ', '::.', '0:a:0.1', ''])("so does '%s'", (address) =>
    expect(takes({ address }, one)).toBe(true),
  )
  test.each(['.0', '0b:*.*', '0001:0a:00.1', '*:0a:01.*'])('the glob %s does not', (address) =>
    expect(takes({ address }, one)).toBe(false),
  )

  test.each([{}, { bus: '0' }, { bus: '0a', slot: '0[0-3]' }, { domain: '.*', function: '[01]' }])(
    'the expressions %j take it',
    (address) => expect(takes({ address }, one)).toBe(true),
  )
  test.each([{ bus: 'a' }, { bus: '0A' }, { function: '0' }, { bus: '0a', slot: '1' }])(
    'the expressions %j do not',
    (address) => expect(takes({ address }, one)).toBe(false),
  )
  test('an expression says the same each time it is asked', () => {
    const [entry] = entriesOf({ address: { bus: '0' } })
    expect([1, 2, 3].map(() => matchesEntry(entry!, one, new Map()))).toEqual([true, true, true])
  })

  test.each([
    {},
    { vendor_id: '*' },
    { vendor_id: '0x1B36' },
    { vendor_id: '1b36', product_id: '10' },
    { physical_network: 'net0' },
  ])('%j takes it', (entry) => expect(takes(entry, one)).toBe(true))
  test.each([{ vendor_id: '1af4' }, { vendor_id: '1b36', product_id: '11' }, { product_id: '10', address: '.0' }])(
    '%j does not: all keys must match',
    (entry) => expect(takes(entry, one)).toBe(false),
  )
  test('entries are alternatives', () => {
    expect(takes([{ vendor_id: '1af4' }, { address: '.1' }], one)).toBe(true)
    expect(takes([], one)).toBe(false)
  })
  test('the vendor text inside a product id is no vendor', () =>
    expect(takes({ vendor_id: '10de' }, found('0000:00:19.0', '8086:10de'))).toBe(false))

  test('a physical function named exactly brings its virtual functions, a glob does not', () => {
    const vf = found('0000:18:02.0', '8086:154c', '0000:18:00.0')
    expect(takes({ address: '0000:18:00.0' }, vf)).toBe(true)
    expect(takes({ address: '18:00.0' }, vf)).toBe(false)
    expect(takes({ address: '0000:18:00.0', product_id: '158b' }, vf)).toBe(false)
    expect(takes({ address: '0000:05:00.0' }, vf)).toBe(false)
  })
  test('a network interface brings its function and the virtual functions of it', () => {
    const interfaces = new Map([['ens24f0', parsePciAddress('0000:18:00.0')!]])
    expect(takes({ devname: 'ens24f0' }, found('0000:18:00.0'), interfaces)).toBe(true)
    expect(takes({ devname: 'ens24f0' }, found('0000:18:02.0', '8086:154c', '0000:18:00.0'), interfaces)).toBe(true)
    expect(takes({ devname: 'ens24f0' }, one, interfaces)).toBe(false)
    expect(takes({ devname: 'gone' }, one, interfaces)).toBe(false)
  })

  test('five-digit domains: any takes them, and an expression can name them', () => {
    const vmd = found('10000:e1:00.0')
    expect(takes({ address: '*:e1:00.0' }, vmd)).toBe(true)
    expect(takes({ address: 'e1:00.0' }, vmd)).toBe(true)
    expect(takes({ address: '0000:e1:00.0' }, vmd)).toBe(false)
    expect(takes({ address: { domain: '10000$' } }, vmd)).toBe(true)
  })
})

describe('how the option is read', () => {
  const entry = { vendor_id: '1b36' }
  test.each([
    [entry],
    [JSON.stringify(entry)],
    [JSON.stringify([entry])],
    [[JSON.stringify(entry)]],
    [[entry]],
    [[JSON.stringify([entry])]],
  ])('%j is one entry', (given) => expect(entriesOf(given)).toMatchObject([{ vendorId: '1b36', productId: null }]))
  test.each([undefined, null, '', [], '[]'])('%j is none', (given) => expect(entriesOf(given)).toEqual([]))

  test('what is reported may be said, other keys are kept as tags', () => {
    const given = {
      device_type: 'NIC',
      resource_class: 'CUSTOM_NIC',
      traits: 'CUSTOM_A, CUSTOM_B',
      check: 'true',
      trusted: true,
    }
    expect(entriesOf(given)).toMatchObject([
      {
        deviceType: 'NIC',
        resourceClass: 'CUSTOM_NIC',
        traits: ['CUSTOM_A', 'CUSTOM_B'],
        mode: null,
        tags: { trusted: true },
      },
    ])
  })

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

  const NONE = {
    vendorId: null,
    productId: null,
    address: null,
    devname: null,
    deviceType: null,
    resourceClass: null,
    traits: [],
    mode: null,
    physicalNetwork: null,
    tags: {},
  }
  test('an entry has what it says, in one form, and nothing else', () => {
    expect(entriesOf({})).toEqual([NONE])
    const whole = {
      vendor_id: '0X1B36',
      product_id: '10',
      devname: 'eth0',
      device_type: 'QAT',
      resource_class: 'VGPU',
      traits: ['CUSTOM_A', 'B_2'],
      check: true,
      mode: 'vf',
      physical_network: 'physnet-1',
      other: { a: [1] },
    }
    expect(entriesOf(whole)).toEqual([
      {
        ...NONE,
        vendorId: '1b36',
        productId: '0010',
        devname: 'eth0',
        deviceType: 'QAT',
        resourceClass: 'VGPU',
        traits: ['CUSTOM_A', 'B_2'],
        mode: 'vf',
        physicalNetwork: 'physnet-1',
        tags: { other: { a: [1] } },
      },
    ])
    expect(entriesOf({ physical_network: null })).toEqual([NONE])
    expect(entriesOf({ vendor_id: '*', product_id: '*', check: 'false', traits: 'A' })).toEqual([
      { ...NONE, traits: ['A'] },
    ])
  })
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
  test('what is no expression is shown by its beginning', () => {
    const rule = (source: unknown) => problemsOf({ address: { bus: source } })[0]!.split('expression, is ')[1]
    expect([rule(['x'.repeat(200)]), rule(null)]).toEqual([`["${'x'.repeat(98)}`, 'null'])
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

  test('a glob with some fields blanked takes the function it came from', () => {
    fc.assert(
      fc.property(
        address,
        fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
        blank,
        fc.boolean(),
        (one, blanked, any, upper) => {
          const [domain, bus, slot, fn] = [one.domain, one.bus, one.device, one.function].map((text, at) =>
            blanked[at] ? any : text,
          )
          const glob = `${domain}:${bus}:${slot}.${fn}`
          expect(takes({ address: upper ? glob.toUpperCase() : glob }, found(formatPciAddress(one)))).toBe(true)
        },
      ),
    )
  })

  test('an exact glob takes one function alone', () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        const same = formatPciAddress(one) === formatPciAddress(other)
        expect(takes({ address: formatPciAddress(one) }, found(formatPciAddress(other)))).toBe(same)
      }),
    )
  })

  test('the form as JSON text and the decoded form are read the same', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(fc.dictionary(fc.constantFrom('vendor_id', 'address', 'traits', 'x'), value)),
          fc.dictionary(fc.string(), value),
        ),
        (given) => {
          const [text, decoded] = [readWhitelist(JSON.stringify(given)), readWhitelist(given)]
          expect(JSON.stringify(text)).toBe(JSON.stringify(decoded))
        },
      ),
    )
  })

  test('nothing makes the reader throw, and a problem names field and rule', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (given) => {
        const reading = readWhitelist(given)
        if (!reading.ok)
          for (const { field, rule } of reading.problems) expect(`${field}: ${rule}`).toMatch(/^pci\.\S.*: .+/)
      }),
    )
  })
})
