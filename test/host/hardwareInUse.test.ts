/** What is in use on a host: what drivers say of it, and how much of that is reported. */
import { expect, test } from 'vitest'
import { functionOf } from '../../src/attachedFunctions.ts'
import { hardwareInUse, roomInUse, unexplained } from '../../src/host/hardwareInUse.ts'
import { roomForSlots } from '../../src/host/preparedSlots.ts'
import { silent } from '../../src/log.ts'

const handle = (bus: string) => ({ type: 'PCI' as const, info: { domain: '0000', bus, device: '00', function: '0' } })
const used = (bus: string, by = 'vm') => ({ ...handle(bus), by })
const said = (watches: readonly { readonly name: string; readonly inUse: () => Promise<unknown> }[]) =>
  hardwareInUse(watches as never, { host: 'h', log: silent })
const telling = (...all: readonly object[]) => ({ name: 'a', inUse: async () => all })
const mute = { name: 'b', inUse: async () => null }
const failing = { name: 'c', inUse: () => Promise.reject(new Error('no')) }

test('drivers that cannot tell or fail say nothing, the others what they see', async () => {
  expect(await said([])).toBe(null)
  expect(await said([mute, failing])).toBe(null)
  expect(await said([mute, telling(), failing])).toEqual([])
  expect(await said([telling(used('01')), failing, telling(used('02'), used('03'))])).toEqual(
    ['01', '02', '03'].map((bus) => ({ function: functionOf(handle(bus)), by: 'vm' })),
  )
})
test('who uses it is cut after 300 characters', async () => {
  const by = async (text: string) => (await said([telling(used('01', text))]))![0]!.by.length
  expect([await by('x'.repeat(300)), await by('x'.repeat(301))]).toEqual([300, 300])
})
test('at most a thousand are told', () => {
  const all = Array.from({ length: 1001 }, (_, at) => ({ function: String(at), by: '' }))
  expect(unexplained(all, [], 1e9)).toEqual(all.slice(0, 1000))
})
test('what fits to the byte is told', () => {
  const [one, two] = [
    { function: 'a', by: 'é' },
    { function: 'b', by: 'x' },
  ]
  const [first, second] = [one, two].map((each) => Buffer.byteLength(JSON.stringify(each)) + 1) as [number, number]
  expect(unexplained([one, two], [], first + second)).toEqual([one, two])
  expect(unexplained([one, two], [], first + second - 1)).toEqual([one])
  expect(unexplained([one, two], [], first - 1)).toEqual([])
})
test('half of the room at most is taken by what is in use, the slots get the rest', () => {
  expect([65_538, 65_536, 65_534, 0].map(roomInUse)).toEqual([32_768, 32_768, 32_767, 0])
  expect(roomForSlots(131_073, 0)).toBe(131_072)
  expect(roomForSlots(131_073, 1)).toBe(131_072)
  expect(roomForSlots(131_073, 2)).toBe(131_071)
  expect(roomForSlots(10, 20)).toBe(-10)
})
