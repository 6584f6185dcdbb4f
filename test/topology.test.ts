/** Which documents of functions an image may carry (data-model.md 10). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bitstreamIn } from '../src/neighbours/images/metadata.ts'
import { functionAt, topologyOf, topologyProblem } from '../src/vocabulary/topology.ts'

const vf = (name: string, offset: unknown) => ({ name, pci_offset: offset })
const EXAMPLE = {
  pf_num: 2,
  vf_num: 2,
  pf: [
    { name: 'pf_1', capability: '', kpi: '', pci_offset: '0', vf: [vf('vf_1', '1')] },
    { name: 'pf_2', capability: '', kpi: '', pci_offset: '2', vf: [vf('vf_2', '3')] },
  ],
}
const alone = { name: 'pf_1', pci_offset: 0 }
/** Functions that differ in name and offset. */
const many = (count: number) => ({
  pf_num: count,
  vf_num: 0,
  pf: Array.from({ length: count }, (_, n) => ({ name: `f${n}`, pci_offset: n })),
})
const told = (document: unknown) => topologyProblem(JSON.stringify(document))

describe('a document of functions', () => {
  test.each<[string, unknown]>([
    ['the example', EXAMPLE],
    ['counts as text', { ...EXAMPLE, pf_num: '2', vf_num: '2' }],
    ['no lists of virtual functions', { pf_num: 1, vf_num: 0, pf: [alone] }],
    ['the last offset', { pf_num: 1, vf_num: 0, pf: [{ ...alone, pci_offset: '65535' }] }],
    ['other fields', { ...EXAMPLE, vendor: { any: 'thing' } }],
    [
      'a name of every kind of character',
      { pf_num: 1, vf_num: 0, pf: [{ ...alone, name: 'aZ0_.:-'.padEnd(64, 'x') }] },
    ],
    ['as many functions as there may be', many(4096)],
    ['words as long as they may be', { pf_num: 1, vf_num: 0, pf: [{ ...alone, kpi: 'k'.repeat(65_535) }] }],
    ['another kind of document', { slots: [1, 2] }],
    ['nothing', {}],
  ])('is taken with %s', (_, document) => expect(told(document)).toBe(null))
  test.each<[string, unknown, string]>([
    ['a wrong pf_num', { ...EXAMPLE, pf_num: 3 }, 'topology: pf_num is 3, and pf has 2 entries'],
    ['a wrong vf_num', { ...EXAMPLE, vf_num: '1' }, 'topology: vf_num is 1, and there are 2 virtual functions'],
    ['no pf_num', { vf_num: 0, pf: [alone] }, 'topology: pf_num: must be there'],
    ['no vf_num', { pf_num: 1 }, 'topology: vf_num: must be there'],
    ['a vf_num alone', { vf_num: 1 }, 'topology: pf_num: must be there'],
    ['a pf alone', { pf: [] }, 'topology: pf_num: must be there'],
    ['no pf', { pf_num: 0, vf_num: 0 }, 'topology: pf: must be there'],
    [
      'a function below a virtual one',
      {
        pf_num: 1,
        vf_num: 1,
        pf: [{ ...alone, vf: [{ name: 'v', pci_offset: 1, vf: [{ name: 'w', pci_offset: 2 }] }] }],
      },
      'topology: pf.0.vf.0.vf: a virtual function has no functions below it',
    ],
    [
      'a function without an offset',
      { pf_num: 1, vf_num: 0, pf: [{ name: 'p' }] },
      'topology: pf.0.pci_offset: must be there',
    ],
    ['a pf_num that is too large', { ...many(1), pf_num: 4097 }, 'topology: pf_num: must not be above 4096'],
    [
      'a function that is none',
      { pf_num: 1, vf_num: 0, pf: [{ ...alone, vf: ['x'] }] },
      'topology: pf.0.vf.0: must be an object with name and pci_offset',
    ],
    [
      'an offset of ten digits',
      { pf_num: 1, vf_num: 0, pf: [vf('a', '0000000001')] },
      'topology: pf.0.pci_offset: must be a number, or digits',
    ],
    ['a number for a name', { pf_num: 1, vf_num: 0, pf: [{ ...alone, name: 5 }] }, 'topology: pf.0.name: must be text'],
    ['a number for words', { pf_num: 1, vf_num: 0, pf: [{ ...alone, kpi: 5 }] }, 'topology: pf.0.kpi: must be text'],
    [
      'a line break in a name',
      { pf_num: 1, vf_num: 0, pf: [vf('a\n', 0)] },
      'topology: pf.0.name: must be of letters, digits and . : _ -',
    ],
    [
      'a dash before a name',
      { pf_num: 1, vf_num: 0, pf: [vf(' a', 0)] },
      'topology: pf.0.name: must be of letters, digits and . : _ -',
    ],
    [
      'a line break after an offset',
      { pf_num: 1, vf_num: 0, pf: [vf('a', '1\n')] },
      'topology: pf.0.pci_offset: must be a number, or digits',
    ],
    [
      'a sign before an offset',
      { pf_num: 1, vf_num: 0, pf: [vf('a', '+1')] },
      'topology: pf.0.pci_offset: must be a number, or digits',
    ],
    ['an empty pf', { pf_num: 0, vf_num: 0, pf: [] }, 'topology: pf: must not be empty'],
    ['a pf that is no list', { pf_num: 1, vf_num: 0, pf: alone }, 'topology: pf: must be a list'],
    [
      'an offset that is no number',
      { pf_num: 1, vf_num: 0, pf: [vf('a', '1a')] },
      'topology: pf.0.pci_offset: must be a number, or digits',
    ],
    [
      'a negative offset',
      { pf_num: 1, vf_num: 0, pf: [vf('a', -1)] },
      'topology: pf.0.pci_offset: must not be negative',
    ],
    [
      'half an offset',
      { pf_num: 1, vf_num: 0, pf: [vf('a', 0.5)] },
      'topology: pf.0.pci_offset: must be a whole number',
    ],
    [
      'an offset that is too large',
      { pf_num: 1, vf_num: 0, pf: [vf('a', 65_536)] },
      'topology: pf.0.pci_offset: must not be above 65535',
    ],
    [
      'a name with a space',
      { pf_num: 1, vf_num: 0, pf: [vf('a b', 0)] },
      'topology: pf.0.name: must be of letters, digits and . : _ -',
    ],
    [
      'a long name',
      { pf_num: 1, vf_num: 0, pf: [vf('a'.repeat(65), 0)] },
      'topology: pf.0.name: must not be longer than 64 characters',
    ],
    [
      'two of one name',
      { pf_num: 1, vf_num: 1, pf: [{ ...alone, vf: [vf('pf_1', 1)] }] },
      'topology: two functions have the name pf_1',
    ],
    [
      'two of one offset',
      { pf_num: 1, vf_num: 1, pf: [{ ...alone, vf: [vf('vf_1', '0')] }] },
      'topology: two functions have the pci_offset 0',
    ],
    [
      'too many functions',
      { pf_num: 1, vf_num: 0, pf: Array.from({ length: 4097 }, () => alone) },
      'topology: pf: must not have more than 4096 entries',
    ],
  ])('is refused with %s', (_, document, why) => expect(told(document)).toBe(why))
  test.each(['', 'x', '[]', '1', 'null'])('is refused as %j', (text) =>
    expect(topologyProblem(text)).toBe('topology must be a JSON object'),
  )
  test('of any text or JSON has a verdict', () => {
    const parts = fc.oneof(fc.string(), fc.nat(), fc.anything())
    const document = fc.record(
      { pf_num: parts, vf_num: parts, pf: fc.oneof(parts, fc.array(parts)) },
      { requiredKeys: [] },
    )
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      document.map((one) => JSON.stringify(one) ?? ''),
    )
    fc.assert(fc.property(texts, (text) => ['string', 'object'].includes(typeof topologyProblem(text))))
  })
})

test('a document that can be followed names the functions with their distances, and no other does', () => {
  const rich = {
    pf_num: 2,
    vf_num: '3',
    pf: [
      { name: 'p1', capability: 'c', kpi: 'k', pci_offset: '0', vf: [vf('v1', '1'), vf('v2', 2)] },
      { name: 'p2', pci_offset: 9, vf: [vf('v3', '10')] },
    ],
  }
  expect(topologyOf(JSON.stringify(rich))).toEqual([
    {
      name: 'p1',
      offset: 0,
      capability: 'c',
      kpi: 'k',
      vfs: [
        { name: 'v1', offset: 1 },
        { name: 'v2', offset: 2 },
      ],
    },
    { name: 'p2', offset: 9, capability: '', kpi: '', vfs: [{ name: 'v3', offset: 10 }] },
  ])
  expect([undefined, '{}', 'x', '{"pf_num": 1}'].map(topologyOf)).toEqual([null, null, null, null])
})
test('the address of a function counts bus, device and function together, up to the last of them', () => {
  const at = (bus: string, device: string, fn: string) => ({ domain: '10000', bus, device, function: fn })
  expect(functionAt(at('01', '02', '3'), 0)).toEqual(at('01', '02', '3'))
  expect(functionAt(at('01', '02', '3'), 256 + 8 + 1)).toEqual(at('02', '03', '4'))
  expect(functionAt(at('01', '1f', '7'), 1)).toEqual(at('02', '00', '0'))
  expect(functionAt(at('00', '00', '0'), 65_535)).toEqual(at('ff', '1f', '7'))
  expect(functionAt(at('00', '00', '1'), 65_535)).toBe(null)
})

test('an image whose document cannot be followed is no bitstream that can be used', () => {
  const image = { id: '4a3bd0ae-0000-4000-8000-000000000001', status: 'active', tags: ['FPGA'] }
  expect(bitstreamIn({ ...image, topology: JSON.stringify(EXAMPLE) })).toMatchObject({ found: true })
  expect(bitstreamIn({ ...image, topology: '{"pf_num": 1}' })).toMatchObject({ found: false, why: 'unusable' })
})
