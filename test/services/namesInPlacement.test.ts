/** The names of device profiles that Placement is told: which, in which order, how many at once, and when again. */
import { expect, test } from 'vitest'
import { type Outcome, done } from '../../src/fault.ts'
import type { Group } from '../../src/actors/arq/messages.ts'
import type { PlacementError, PlacementResult } from '../../src/actors/placement/port.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createNaming, createNamingRound } from '../../src/services/profiles/profileNames.ts'
import { REFUSED_AWAY } from '../support/kernelParts.ts'
import { handClock, memoryLog, quiet, until } from '../support/lab.ts'

const group = (name: string): Group => ({ [`resources:CUSTOM_${name}`]: '1', [`trait:CUSTOM_${name}_T`]: 'required' })

const opened = () => {
  const [clock, log, asked] = [handClock(), memoryLog(), [] as string[]]
  const world: { faults: Record<string, PlacementError>; gate: Promise<void>; profiles: Outcome<object> } = {
    faults: {},
    gate: Promise.resolve(),
    profiles: done({ items: [{ groups: [group('A')] }, { groups: [group('B')] }], next: null }),
  }
  const ensure =
    (what: string) =>
    async (name: string): Promise<PlacementResult<null>> => {
      asked.push(`${what} ${name}`)
      await world.gate
      const error = world.faults[name]
      return error === undefined ? { ok: true, value: null } : { ok: false, error, reason: `it is ${error}` }
    }
  const placement = { ensureClass: ensure('class'), ensureTrait: ensure('trait') }
  const readers = { list: async () => world.profiles }
  const parts = { clock, log, placement, readers } as unknown as Kernel
  return { clock, log, asked, world, parts }
}
const ALL = ['class CUSTOM_A', 'class CUSTOM_B', 'trait CUSTOM_A_T', 'trait CUSTOM_B_T']

test('a round names all of all profiles, and the next one does it after ten minutes', async () => {
  const { clock, asked, parts } = opened()
  const round = createNamingRound(parts)
  await round()
  expect(asked).toEqual(ALL)
  await clock.pass(599_999)
  await round()
  expect(asked).toHaveLength(4)
  await clock.pass(1)
  await round()
  expect(asked).toEqual([...ALL, ...ALL])
})
test.each([
  ['refused', 4],
  ['unknownName', 4],
  ['unanswered', 1],
  ['denied', 1],
] as const)('a name that is %s leads to another round after thirty seconds', async (error, count) => {
  const { clock, log, asked, parts, world } = opened()
  world.faults = { CUSTOM_A: error }
  const round = createNamingRound(parts)
  await round()
  expect(asked).toEqual(ALL.slice(0, count))
  const detail = { name: 'CUSTOM_A', trouble: error, reason: `it is ${error}` }
  expect(log.said).toEqual([{ level: 'warn', message: 'placement.nameUnknown', detail }])
  world.faults = {}
  await clock.pass(29_999)
  await round()
  expect(asked).toHaveLength(count)
  await clock.pass(1)
  await round()
  expect(asked.slice(count)).toEqual(ALL)
  await clock.pass(599_999)
  await round()
  expect(asked).toHaveLength(count + 4)
})
test('profiles that cannot be read are read again after thirty seconds', async () => {
  const { clock, log, asked, parts, world } = opened()
  const readable = world.profiles
  world.profiles = REFUSED_AWAY
  const round = createNamingRound(parts)
  await round()
  expect(log.said).toEqual([
    { level: 'warn', message: 'placement.profilesUnread', detail: { fault: REFUSED_AWAY.fault } },
  ])
  world.profiles = readable
  await clock.pass(29_999)
  await round()
  expect(asked).toEqual([])
  await clock.pass(1)
  await round()
  expect(asked).toEqual(ALL)
})
test('a round names ten thousand at most', async () => {
  const { asked, parts, world } = opened()
  const groups = Array.from({ length: 5001 }, (_, n) => group(String(n)))
  world.profiles = done({ items: [{ groups }], next: null })
  await createNamingRound(parts)()
  expect([asked.length, asked[5000], asked[5001]]).toEqual([10_000, 'class CUSTOM_999', 'trait CUSTOM_0_T'])
})
test('profiles are named one after the other, a hundred wait at most, and each that is done makes room', async () => {
  const { asked, parts, world } = opened()
  let open = () => {}
  world.gate = new Promise((resolve) => (open = resolve))
  const name = createNaming(parts)
  for (let n = 0; n < 101; n++) name([group(`N${n}`)])
  await quiet()
  expect(asked).toEqual(['class CUSTOM_N0'])
  open()
  await until(() => asked.length >= 200)
  await quiet()
  expect([asked.length, asked.at(-1)]).toEqual([200, 'trait CUSTOM_N99_T'])
  name([group('LATER')])
  await quiet()
  expect(asked.slice(200)).toEqual(['class CUSTOM_LATER', 'trait CUSTOM_LATER_T'])
})
test('without Placement nothing is named', async () => {
  const { asked, log, parts } = opened()
  const without = { ...parts, placement: null }
  createNaming(without)([group('A')])
  await createNamingRound(without)()
  await quiet()
  expect([asked, log.said]).toEqual([[], []])
})
