/** Which attach handles are the same hardware. */
import { expect, test } from 'vitest'
import { type Attaching, dividedBy, openClaims } from '../../src/attachedFunctions.ts'

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
