/** Which attach handles are the same hardware. */
import { expect, test } from 'vitest'
import {
  type Attaching,
  canonicalAddress,
  dividedBy,
  functionOf,
  openClaims,
} from '../../src/vocabulary/attachedFunctions.ts'

const at = (bus: string, fn = '0') => ({ domain: '0000', bus, device: '00', function: fn })
const pci = (bus: string, fn = '0', physfn?: string): Attaching => ({
  type: 'PCI',
  info: at(bus, fn),
  ...(physfn === undefined ? {} : { physfn }),
})
const mdev = (bus: string, mark: string, fn = '0', physfn?: string): Attaching => ({
  type: 'MDEV',
  info: { ...at(bus, fn), asked_type: 'nvidia-1', vgpu_mark: mark },
  ...(physfn === undefined ? {} : { physfn }),
})
const clash = (one: Attaching, other: Attaching) => {
  const claims = openClaims()
  claims.add('one', [one])
  return claims.against('other', [other]) !== null
}

test.each<[string, Attaching, Attaching, boolean]>([
  ['two functions', pci('af'), pci('b0'), false],
  ['one function in two spellings', pci('af'), { type: 'PCI', info: { ...at('AF'), domain: '0' } }, true],
  ['a function and a mediated device of it', pci('af'), mdev('af', 'a_0'), true],
  ['two mediated devices of a function', mdev('af', 'a_0'), mdev('af', 'a_1'), false],
  ['one mediated device', mdev('af', 'a_0'), mdev('af', 'a_0'), true],
  [
    'a mediated device of a virtual function, and its physical function',
    mdev('af', 'a_0', '4', '0000:af:00.0'),
    pci('af'),
    true,
  ],
  [
    'a mediated device of a virtual function, and another virtual function',
    mdev('af', 'a_0', '4', '0000:af:00.0'),
    pci('af', '5', '0000:af:00.0'),
    false,
  ],
  ['a function and a virtual function of it', pci('af'), pci('af', '4', '0000:af:00.0'), true],
  ['what only a test attaches', { type: 'TEST_PCI', info: at('af') }, pci('af'), false],
])('%s', (_what, one, other, same) => {
  expect([clash(one, other), clash(other, one)]).toEqual([same, same])
})

test('what is divided where a handle is attached', () => {
  expect(dividedBy(pci('af'))).toEqual([])
  expect(dividedBy(mdev('af', 'a_0', '4', '0000:af:00.0'))).toEqual(['0000:af:00.0', '0000:af:00.4'])
  expect(dividedBy({ type: 'MDEV', info: {} })).toEqual([])
})

test('the reason against a handle names the function, and says whether a part or the whole is attached', () => {
  const claims = openClaims()
  claims.add('one', [pci('af'), pci('b0', '4', '0000:b0:00.0'), mdev('c0', 'a')])
  claims.add('two', [pci('d0')])
  const against = (...handles: readonly Attaching[]) => claims.against('other', handles)
  expect(against(pci('af'))).toBe('function 0000:af:00.0 is offered or attached already')
  expect(against(pci('e0'), pci('b0'))).toBe('parts of function 0000:b0:00.0 are offered or attached already')
  expect(against(pci('c0'))).toBe('parts of function 0000:c0:00.0 are offered or attached already')
  expect(against(pci('af', '5', '0000:af:00.0'))).toBe(
    'function 0000:af:00.0, of which 0000:af:00.5 is a part, is offered or attached already',
  )
  expect([against(), against(pci('e0'))]).toEqual([null, null])
  expect(claims.against('one', [pci('af'), pci('b0'), pci('c0')])).toBe(null)
  expect(claims.against('one', [pci('d0')])).toBe('function 0000:d0:00.0 is offered or attached already')
  claims.add('two', [pci('af')])
  expect(claims.against('one', [pci('af')])).toBe('function 0000:af:00.0 is offered or attached already')
})
test('an address has one spelling, and what attaches no PCI function is known by its description', () => {
  expect([canonicalAddress('0000:AF:00.1'), canonicalAddress('af:00.1'), canonicalAddress('')]).toEqual([
    '0000:af:00.1',
    null,
    null,
  ])
  expect(functionOf(pci('AF', '1'))).toBe('0000:af:00.1')
  expect(functionOf({ type: 'PCI', info: { b: '2', a: '1' } })).toBe('PCI:{"a":"1","b":"2"}')
  expect(functionOf(mdev('AF', 'x'))).toBe(
    'MDEV:{"asked_type":"nvidia-1","bus":"af","device":"00","domain":"0000","function":"0","vgpu_mark":"x"}',
  )
})
