import { expect, test } from 'vitest'
import { readOrder } from '../../src/wire/message.ts'
import { openRelays } from './relayLab.ts'

test('the state of an entity is told soon after its facts, several changes as one, and says at least as of which row', async () => {
  const world = openRelays()
  const one = await world.start('one')
  await world.append('a', 'first')
  await world.append('a', 'second')
  await world.append('b', 'other')
  await world.pass(40)
  expect(world.facts()).toHaveLength(3)
  expect(world.statesOf('a')).toEqual([])
  await world.pass(150)
  expect(world.statesOf('a')).toEqual(['second'])
  expect(world.statesOf('b')).toEqual(['other'])
  const record = world.stored.find(({ topic }) => topic === 'arq.state.v1')!
  expect(JSON.parse(record.value)).toMatchObject({
    type: 'accelerando.state.arq',
    position: '2',
    data: { entity: 'arq/a', version: 2, state: { uuid: 'a', state: 'second' } },
  })
  expect(one.relay.state().states).toBe(2)
  await one.relay.stop()
})

test('an entity that is gone is a tombstone', async () => {
  const world = openRelays()
  const one = await world.start('one')
  await world.append('a', 'there')
  await world.pass(200)
  await world.append('a', null)
  await world.pass(200)
  expect(world.statesOf('a')).toEqual(['there', null])
  expect(world.stored.filter(({ tombstone }) => tombstone)).toMatchObject([{ key: 'a', value: '' }])
  expect(readOrder(world.stored.at(-1)!).ok).toBe(false)
  await one.relay.stop()
})

test('T2 no checkpoint is saved before the states are told', async () => {
  const world = openRelays()
  const one = await world.start('one')
  one.stopAt('publish states')
  await world.append('a', 'there')
  await world.pass(500)
  expect([one.stands(), world.facts().length, world.saves]).toEqual([true, 1, []])
  one.goOn()
  await world.pass(500)
  expect(world.saves).toEqual(['one 1 true'])
  expect(world.statesOf('a')).toEqual(['there'])
  await one.relay.stop()
})

test('T3 after a change of holders all that may have been under way is told once more, after the grace', async () => {
  const world = openRelays({ graceMs: 30_000 })
  const one = await world.start('one')
  const two = await world.start('two')
  // the first one has had its own grace
  await world.pass(31_000)
  await world.append('a', 'saved')
  await world.pass(500)
  one.stopAt('publish states')
  await world.append('b', 'old')
  await world.pass(200)
  await world.append('b', 'new')
  await world.pass(6500)
  expect(world.statesOf('b')).toEqual(['new'])
  // what the dead one sent arrives now, and it never learns of it
  one.stopAt('read')
  one.goOn()
  await world.pass(1)
  expect(world.statesOf('b')).toEqual(['new', 'old'])
  await world.pass(31_000)
  expect(world.statesOf('b')).toEqual(['new', 'old', 'new'])
  expect(world.statesOf('a')).toEqual(['saved'])
  expect(await world.store.journal.checkpoint('relay.unsettled')).toBe('settled')
  await two.relay.stop()
})

test('T3 that is not forgotten when the next holder ends before the grace', async () => {
  const world = openRelays({ graceMs: 30_000 })
  const [one, two] = [await world.start('one'), await world.start('two')]
  await world.pass(31_000)
  await world.append('a', 'saved')
  await world.pass(500)
  one.stopAt('publish states')
  await world.append('b', 'new')
  await world.pass(6500)
  await world.append('c', 'more')
  await world.pass(1000)
  await two.relay.stop()
  expect(world.statesOf('b')).toEqual(['new'])
  const three = await world.start('three')
  await world.pass(31_500)
  expect(world.statesOf('b')).toEqual(['new', 'new'])
  expect(world.statesOf('a')).toEqual(['saved'])
  await three.relay.stop()
})

test('T4 a relay that goes on after long finds that its states came late, and tells what is true', async () => {
  const world = openRelays({ graceMs: 10_000 })
  const [one, two] = [await world.start('one'), await world.start('two')]
  one.stopAt('publish states')
  await world.append('a', 'old')
  await world.pass(7000)
  await world.append('a', 'new')
  await world.pass(60_000)
  const before = world.statesOf('a').length
  expect(world.statesOf('a').at(-1)).toBe('new')
  one.goOn()
  await world.pass(10)
  expect(world.statesOf('a').slice(before)).toEqual(['old', 'new'])
  expect(one.log.said.map(({ message }) => message)).toContain('relay.statesLate')
  await Promise.all([one.relay.stop(), two.relay.stop()])
})

test('a state that is too long for any bus goes to the dead letters, and the rest is told', async () => {
  const world = openRelays()
  const one = await world.start('one')
  await world.append('a', 'x'.repeat(1_000_000))
  await world.append('b', 'short')
  await world.pass(200)
  expect(world.statesOf('b')).toEqual(['short'])
  expect(world.stored.map(({ topic }) => topic)).toContain('dead-letters.v1')
  expect(one.log.said).toMatchObject([{}, { message: 'relay.untold', detail: { key: 'arq/a' } }])
  await one.relay.stop()
})
