/** When a provider is taken to agree without being read. */
import { expect, test } from 'vitest'
import type { Wanted } from '../../src/actors/placement/wanted.ts'
import { agreedIn, createAgreements } from '../../src/services/placement/agreements.ts'

const wanted: Wanted = {
  uuid: 'u1',
  name: 'h1_card',
  deployable: 'd1',
  resourceClass: 'FPGA',
  total: 4,
  reserved: 0,
  reasons: [],
  traits: ['OWNER_CYBORG'],
}
const at = (generation: number) => ({ uuid: 'u1', name: 'h1_card', parent: 'r', root: 'r', generation })
const times = (count: number, ask: () => boolean) => Array.from({ length: count }, ask)

test('AGREED-1 only in the generation in which it agreed, and with the same wanted of it', () => {
  const agreements = createAgreements()
  expect(agreements.holds(wanted, at(3), undefined)).toBe(false)
  agreements.note(wanted, at(3))
  expect(agreements.holds(wanted, at(3), undefined)).toBe(true)
  expect(agreements.holds(wanted, at(4), undefined)).toBe(false)
  expect(agreements.holds({ ...wanted, reserved: 1 }, at(3), undefined)).toBe(false)
})
test('AGREED-2 a process that has read nothing yet goes by what is recorded', () => {
  const recorded = agreedIn(wanted, 3)
  const holds = (...[change, generation]: [Partial<Wanted>, number]) =>
    createAgreements().holds({ ...wanted, ...change }, at(generation), recorded)
  expect(holds({}, 3)).toBe(true)
  expect(holds({}, 4)).toBe(false)
  expect(holds({}, 2)).toBe(false)
  expect(holds({ total: 5 }, 3)).toBe(false)
  expect(holds({ traits: ['CUSTOM_A', 'OWNER_CYBORG'] }, 3)).toBe(false)
})
test('AGREED-2 what another process has recorded later counts more than the own memory', () => {
  const agreements = createAgreements()
  agreements.note(wanted, at(3))
  expect(agreements.holds(wanted, at(7), agreedIn(wanted, 7))).toBe(true)
})
test('AGREED-3 it is read after five times, also where it is recorded; then it is relied on anew', () => {
  for (const recorded of [undefined, agreedIn(wanted, 3)]) {
    const agreements = createAgreements()
    if (!recorded) agreements.note(wanted, at(3))
    const ask = () => agreements.holds(wanted, at(3), recorded)
    expect(times(7, ask)).toEqual([true, true, true, true, true, false, false])
    agreements.note(wanted, at(3))
    expect(times(6, ask)).toEqual([true, true, true, true, true, false])
  }
})
