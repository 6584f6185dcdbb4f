import { expect, test } from 'vitest'
import { customNamesIn } from '../../src/actors/placement/names.ts'

test('the custom names of groups, each once and in order; what is standard or cannot be a name is left out', () => {
  const groups = [
    { 'resources:CUSTOM_B': '1', 'trait:CUSTOM_Y': 'required', 'trait:OWNER_CYBORG': 'required' },
    { 'resources:FPGA': '1', 'resources:CUSTOM_A': '2', 'trait:CUSTOM_Y': 'forbidden', 'trait:CUSTOM_X': 'required' },
    { 'resources:CUSTOM_': '1', 'trait:CUSTOM_lower': 'required', 'accel:CUSTOM_Z': '1' },
    { [`trait:CUSTOM_${'L'.repeat(248)}`]: 'required', [`trait:CUSTOM_${'M'.repeat(249)}`]: 'required' },
  ]
  expect(customNamesIn(groups)).toEqual({
    classes: ['CUSTOM_A', 'CUSTOM_B'],
    traits: [`CUSTOM_${'L'.repeat(248)}`, 'CUSTOM_X', 'CUSTOM_Y'],
  })
  expect(customNamesIn([])).toEqual({ classes: [], traits: [] })
})
