/** Which documents of functions an image may carry (data-model.md 10). */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bitstreamIn } from '../src/neighbours/images/metadata.ts'
import { topologyProblem } from '../src/topology.ts'

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
const told = (document: unknown) => topologyProblem(JSON.stringify(document))

describe('a document of functions', () => {
  test.each<[string, unknown]>([
    ['the example', EXAMPLE],
    ['counts as text', { ...EXAMPLE, pf_num: '2', vf_num: '2' }],
    ['no lists of virtual functions', { pf_num: 1, vf_num: 0, pf: [alone] }],
    ['the last offset', { pf_num: 1, vf_num: 0, pf: [{ ...alone, pci_offset: '65535' }] }],
    ['other fields', { ...EXAMPLE, vendor: { any: 'thing' } }],
    ['another kind of document', { slots: [1, 2] }],
    ['nothing', {}],
  ])('is taken with %s', (_, document) => expect(told(document)).toBe(null))
  test.each<[string, unknown, string]>([
    ['a wrong pf_num', { ...EXAMPLE, pf_num: 3 }, 'topology: pf_num is 3, and pf has 2 entries'],
    ['a wrong vf_num', { ...EXAMPLE, vf_num: '1' }, 'topology: vf_num is 1, and there are 2 virtual functions'],
    ['no pf_num', { vf_num: 0, pf: [alone] }, 'topology: pf_num: '],
    ['no pf', { pf_num: 0, vf_num: 0 }, 'topology: pf: '],
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
  ])('is refused with %s', (_, document, why) => expect(told(document)).toContain(why))
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

test('an image whose document cannot be followed is no bitstream that can be used', () => {
  const image = { id: '4a3bd0ae-0000-4000-8000-000000000001', status: 'active', tags: ['FPGA'] }
  expect(bitstreamIn({ ...image, topology: JSON.stringify(EXAMPLE) })).toMatchObject({ found: true })
  expect(bitstreamIn({ ...image, topology: '{"pf_num": 1}' })).toMatchObject({ found: false, why: 'unusable' })
})
