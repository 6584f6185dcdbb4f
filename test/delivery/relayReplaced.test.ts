/** RELAY-10: what a relay saves around the moment at which the database server is replaced. */
import { expect, test } from 'vitest'
import { type Sharing, openRelays } from './relayLab.ts'

const openWorld = async (lie?: (sharing: Sharing) => Sharing) => {
  const world = openRelays({ saveEveryMs: 500 })
  const one = await world.start('one', lie)
  await world.pass(100)
  for (const state of ['s1', 's2', 's3']) await world.append('a', state)
  return { world, one }
}

test('RELAY-10 a save that waits for its states when the server is replaced is dropped', async () => {
  const { world, one } = await openWorld()
  const { promise, resolve } = Promise.withResolvers<void>()
  one.holdAnswers(promise)
  await world.pass(2000)
  expect([world.facts().length, world.saves]).toEqual([3, []])
  world.replaceServer()
  one.cutOff(true)
  await world.append('a', 's4')
  await world.pass(2000)
  resolve()
  await world.pass(2000)
  // nothing has been published from the checkpoint of the new server on
  expect(world.saves).toEqual([])
  one.cutOff(false)
  await world.pass(20_000)
  expect(world.saves.at(-1)).toBe('one 4 true')
  await one.relay.stop()
})

test('RELAY-10 a save that the store has already is waited for, so the checkpoint does not go back', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { world, one } = await openWorld((sharing) => ({
    ...sharing,
    saveUnder: async (lease, reader, position) => {
      if (reader === 'relay') await promise
      return sharing.saveUnder(lease, reader, position)
    },
  }))
  await world.pass(2000)
  expect([world.facts().length, world.saves]).toEqual([3, []])
  world.replaceServer()
  one.cutOff(true)
  await world.append('a', 's4')
  await world.pass(2000)
  resolve()
  await world.pass(5000)
  one.cutOff(false)
  await world.pass(20_000)
  const saved = world.saves.map((save) => Number(save.split(' ')[1]))
  expect([saved[0], saved.at(-1), saved]).toEqual([3, 4, saved.toSorted((one, other) => one - other)])
  // the three rows before the checkpoint were not published again
  expect(world.facts()).toHaveLength(4)
  await one.relay.stop()
})
