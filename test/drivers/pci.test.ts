import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalInfo,
  comparePci,
  formatPciAddress,
  hexText,
  parsePciAddress,
  pciAddressOf,
  pciJson,
} from '../../src/vocabulary/pci.ts'

const hex = (max: number, digits: number) => fc.nat({ max }).map((value) => hexText(value, digits))
const address = fc.record({ domain: hex(0xffffffff, 4), bus: hex(0xff, 2), device: hex(0x1f, 2), function: hex(7, 1) })

/** Another spelling of the same field. */
const spelling = (text: string) =>
  fc
    .record({ zeros: fc.nat({ max: 3 }), upper: fc.boolean(), prefix: fc.boolean(), bare: fc.boolean() })
    .map(({ zeros, upper, prefix, bare }) => {
      const digits = bare ? text.replace(/^0+(?=.)/, '') : '0'.repeat(zeros) + text
      return (prefix ? '0x' : '') + (upper ? digits.toUpperCase() : digits)
    })
const spelt = address.chain((canonical) =>
  fc
    .record({
      domain: spelling(canonical.domain),
      bus: spelling(canonical.bus),
      device: spelling(canonical.device),
      function: spelling(canonical.function),
    })
    .chain((info) =>
      fc.tuple(fc.shuffledSubarray(Object.entries(info), { minLength: 4 }), fc.constantFrom('', ' ', '\n\t')),
    )
    .map(([entries, space]) => ({
      canonical,
      text: `{${entries.map(([key, value]) => `${space}"${key}"${space}:${space}"${value}"`).join(`${space},`)}}`,
    })),
)

describe('a PCI address', () => {
  test('is read back as it was written', () => {
    fc.assert(
      fc.property(address, (one) => {
        expect(parsePciAddress(formatPciAddress(one))).toEqual(one)
        expect(pciAddressOf(JSON.parse(pciJson(one)))).toEqual(one)
      }),
    )
  })

  test('has one canonical form in any order, spacing, padding and case', () => {
    fc.assert(
      fc.property(spelt, ({ canonical, text }) => {
        expect(pciAddressOf(JSON.parse(text))).toEqual(canonical)
        expect(canonicalInfo(text)).toBe(canonicalInfo(pciJson(canonical)))
      }),
    )
  })

  test('two addresses never share a canonical form', () => {
    fc.assert(
      fc.property(address, address, (one, other) => {
        const same = formatPciAddress(one) === formatPciAddress(other)
        expect(canonicalInfo(one) === canonicalInfo(other)).toBe(same)
        expect(comparePci(one, other) === 0).toBe(same)
        expect(comparePci(one, other)).toBe(-comparePci(other, one) + 0)
      }),
    )
  })

  test('no text makes the reader throw', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const read = parsePciAddress(text)
        if (read !== null) expect(parsePciAddress(formatPciAddress(read))).toEqual(read)
        expect(canonicalInfo(canonicalInfo(text))).toBe(canonicalInfo(text))
      }),
    )
  })

  test('is written as clients know it', () => {
    const known = parsePciAddress('0000:AF:00.0')!
    expect(pciJson(known)).toBe('{"bus": "af", "device": "00", "domain": "0000", "function": "0"}')
    expect(pciAddressOf({ domain: '0000', bus: '0c', device: '00', function: '0' })).toEqual(
      parsePciAddress('0000:0c:00.0'),
    )
  })

  test.each(['0000:0a:00.1', '10000:e1:00.0', 'FFFFFFFF:FF:1F.7'])('%s is one', (text) => {
    expect(formatPciAddress(parsePciAddress(text)!)).toBe(text.toLowerCase())
  })

  test.each([
    '',
    '0a:00.1',
    '0000:0a:00',
    '0000:0a:00.8',
    '0000:0a:20.0',
    '0000:1ff:00.0',
    '100000000:00:00.0',
    '0000:0a:00.1 ',
    '000g:0a:00.1',
  ])("'%s' is none", (text) => expect(parsePciAddress(text)).toBeNull())

  test.each([
    null,
    'x',
    7,
    [],
    {},
    { domain: '0000', bus: '0a', device: '00' },
    { domain: 0, bus: 10, device: 0, function: 1 },
  ])('%j is no decoded address', (info) => expect(pciAddressOf(info)).toBeNull())

  test('other members of an info keep their say', () => {
    const info = { domain: '0000', bus: 'AF', device: '0', function: '0', vgpu_mark: 'nvidia-223_0' }
    expect(canonicalInfo(info)).toBe(
      '{"bus":"af","device":"00","domain":"0000","function":"0","vgpu_mark":"nvidia-223_0"}',
    )
    expect(canonicalInfo('fake_vendor_info')).toBe('fake_vendor_info')
  })

  test('addresses sort as numbers', () => {
    const texts = ['10000:e1:00.0', '0000:0a:00.1', '0000:0a:00.0', '0001:00:00.0']
    expect(
      texts
        .map((text) => parsePciAddress(text)!)
        .toSorted(comparePci)
        .map(formatPciAddress),
    ).toEqual(['0000:0a:00.0', '0000:0a:00.1', '0001:00:00.0', '10000:e1:00.0'])
  })
})
