/** Names that other services take. */
import { expect, test } from 'vitest'
import { attributesOf, deployableName, traitName } from '../../src/drivers/names.ts'

test('a deployable is named by its host and its unit, in 200 characters at most', () => {
  expect(deployableName('h', '0000:01:00.0')).toBe('h_0000:01:00.0')
  expect(deployableName('h'.repeat(198), 'u')).toHaveLength(200)
  expect(() => deployableName('h'.repeat(199), 'u')).toThrow("hostname: '")
})
test.each([
  [['CUSTOM', 'Vendor, Inc.', 'x-1'], 'CUSTOM_VENDOR_INC__X_1'],
  [['CUSTOM', 'a  +  b', '_'], 'CUSTOM_A_B__'],
  [['CUSTOM', 'x'.repeat(300)], `CUSTOM_${'X'.repeat(248)}`],
])('a trait of %j', (parts, name) => expect(traitName(...parts)).toBe(name))
test('attributes are the class and each trait once', () => {
  expect(attributesOf('FPGA', ['A', 'B', 'A'])).toEqual([
    { key: 'rc', value: 'FPGA' },
    { key: 'trait0', value: 'A' },
    { key: 'trait1', value: 'B' },
  ])
})
