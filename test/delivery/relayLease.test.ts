import { describe, expect, test } from 'vitest'
import { noHints } from '../../src/actors/runtime/hints.ts'
import { type Sharing, openRelays, rising, type Step } from './relayLab.ts'

const fill = async (world: ReturnType<typeof openRelays>, count: number) => {
  for (let each = 0; each < count; each++) await world.append(each % 2 === 0 ? 'a' : 'b', `s${each}`)
}
const positions = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

test('of several relays one is active, the others wait', async () => {
  const world = openRelays()
  const one = await world.start('one')
  const two = await world.start('two')
  await fill(world, 5)
  await world.pass(10_000)
  expect([one, two].map(({ relay }) => relay.state().active)).toEqual([true, false])
  expect(world.facts()).toHaveLength(5)
  expect(two.relay.state()).toMatchObject({ position: '', rows: 0 })
  await Promise.all([one.relay.stop(), two.relay.stop()])
})

test('RELAY-3 an urgent row of a process without the lease is published at once, others soon', async () => {
  const world = openRelays({ urgent: ({ key }) => key === 'arq/a' })
  const one = await world.start('one')
  const two = await world.start('two')
  await world.pass(5000)
  one.stopNow()
  await world.append('a')
  one.goOn()
  await world.pass(1)
  expect(two.relay.state().active).toBe(false)
  expect(world.facts()).toHaveLength(1)
  one.stopNow()
  await world.append('b')
  one.goOn()
  await world.pass(1)
  expect(world.facts()).toHaveLength(1)
  await world.pass(60)
  expect(world.facts()).toHaveLength(2)
  await Promise.all([one.relay.stop(), two.relay.stop()])
})

test('RELAY-3 without hints, what others wrote is found soon while there is something, seldom when it is quiet', async () => {
  const world = openRelays({ hints: noHints })
  const one = await world.start('one')
  one.stopNow()
  await fill(world, 1)
  one.goOn()
  await world.pass(151)
  expect(world.facts()).toHaveLength(1)
  one.stopNow()
  await fill(world, 1)
  one.goOn()
  await world.pass(21)
  expect(world.facts()).toHaveLength(2)
  await one.relay.stop()
})

describe('a relay that dies', () => {
  test('is followed by another when the lease is over, which begins at the checkpoint (RELAY-7)', async () => {
    const world = openRelays()
    const one = await world.start('one')
    const two = await world.start('two')
    await fill(world, 6)
    await world.pass(150)
    await fill(world, 3)
    await world.pass(30)
    one.stopNow()
    await fill(world, 5)
    await world.pass(3900)
    expect(two.relay.state().active).toBe(false)
    await world.pass(2200)
    expect(two.relay.state()).toMatchObject({ active: true, epoch: 2 })
    expect(world.first()).toEqual(positions(14))
    // only what was told after the last save is told twice
    expect(world.facts()).toHaveLength(14 + 3)
    await two.relay.stop()
  })
  test('in the middle of a publish that has arrived has it told again', async () => {
    const world = openRelays()
    const one = await world.start('one')
    const two = await world.start('two')
    await fill(world, 4)
    await world.pass(30)
    one.stopNow()
    await world.pass(6100)
    expect(world.first()).toEqual(positions(4))
    expect(world.facts()).toHaveLength(8)
    await two.relay.stop()
  })
})

test('RELAY-8 a relay that is stopped lets the next one go on at once', async () => {
  const world = openRelays()
  const one = await world.start('one')
  const two = await world.start('two')
  await fill(world, 3)
  await world.pass(10)
  await one.relay.stop()
  await fill(world, 3)
  await world.pass(1001)
  expect(two.relay.state().active).toBe(true)
  expect(world.facts().map(({ position }) => Number(position))).toEqual(positions(6))
  await two.relay.stop()
})

describe('RELAY-9 a relay that does not reach the bus', () => {
  test('leaves the lease to one that does, in order and with nothing left out', async () => {
    const world = openRelays()
    const one = await world.start('one')
    const two = await world.start('two')
    await fill(world, 4)
    await world.pass(200)
    one.cutOff(true)
    await fill(world, 4)
    await world.pass(5900)
    expect(two.relay.state().active).toBe(false)
    await world.pass(6000)
    expect(two.relay.state()).toMatchObject({ active: true, epoch: 2 })
    expect(one.relay.state().active).toBe(false)
    await fill(world, 4)
    await world.pass(500)
    expect(world.first()).toEqual(positions(12))
    one.cutOff(false)
    await Promise.all([one.relay.stop(), two.relay.stop()])
  })
  test('has it again when nobody reaches the bus, and all is told when it is back', async () => {
    const world = openRelays()
    const one = await world.start('one')
    const two = await world.start('two')
    for (const each of [one, two]) each.cutOff(true)
    await fill(world, 4)
    await world.pass(60_000)
    expect(world.facts()).toEqual([])
    for (const each of [one, two]) each.cutOff(false)
    await world.pass(8000)
    expect(world.first()).toEqual(positions(4))
    await Promise.all([one.relay.stop(), two.relay.stop()])
  })
})

describe('RELAY-5 the lease is trusted by the own clock', () => {
  test('for 3.5 s after it was asked for, then nothing is told; and again when the store answers', async () => {
    const world = openRelays()
    let [answers, asked] = [true, 0]
    const silentAt = (sharing: Sharing): Sharing => ({
      ...sharing,
      acquire: async (...asking) => {
        asked++
        if (!answers) throw new Error('no database')
        return sharing.acquire(...asking)
      },
    })
    const one = await world.start('one', silentAt)
    await world.pass(2000)
    answers = false
    const before = asked
    await world.pass(3450)
    await fill(world, 2)
    await world.pass(20)
    expect(world.facts()).toHaveLength(2)
    await world.pass(100)
    await fill(world, 2)
    await world.pass(2000)
    expect(world.facts()).toHaveLength(2)
    expect(one.relay.state()).toMatchObject({ active: false, failures: 0 })
    expect(asked - before).toBeGreaterThan(3)
    answers = true
    await world.pass(1200)
    // the lease was over: what was told after the last save is told once more
    expect(world.first()).toEqual(positions(4))
    expect(one.log.said.filter(({ message }) => message === 'relay.leaseUnanswered')).toHaveLength(1)
    await one.relay.stop()
  })
})

/** One stands still for so long at a step, while the other takes over; then it goes on. */
const paused = async (step: Step, lie?: (sharing: Sharing) => Sharing) => {
  const world = openRelays()
  const one = await world.start('one', lie)
  const two = await world.start('two', lie)
  await fill(world, 4)
  await world.pass(200)
  one.stopAt(step)
  await fill(world, 6)
  await world.pass(200)
  const [stood, before] = [one.stands(), world.facts().length]
  for (let round = 0; round < 6; round++) {
    await world.append('a', `later ${round}`)
    await world.append('b', `later ${round}`)
    await world.pass(2000)
  }
  const taken = { active: two.relay.state().active, facts: world.facts().length }
  one.goOn()
  await world.pass(3000)
  await world.append('a', 'last')
  await world.pass(3000)
  return { world, one, two, stood, before, taken, stop: () => Promise.all([one.relay.stop(), two.relay.stop()]) }
}

describe.each(['feed', 'publish', 'saveUnder', 'publish states', 'read'] as const)(
  'a relay that stands still at: %s',
  (step) => {
    test('is followed by another, and what it does late harms nobody (RELAY-5, RELAY-6, RELAY-7)', async () => {
      const { world, one, two, stood, taken, stop } = await paused(step)
      expect(stood).toBe(true)
      expect(taken.active).toBe(true)
      expect(one.relay.state().active).toBe(false)
      expect(two.relay.state()).toMatchObject({ active: true, epoch: 2 })
      for (const key of ['arq/a', 'arq/b', undefined]) expect(rising(world.first(key))).toBe(true)
      expect(world.first()).toEqual(positions(23))
      const late = world.saves.filter((save) => save.startsWith('one') && save.endsWith('true'))
      expect(
        rising(world.saves.filter((save) => save.endsWith('true')).map((save) => Number(save.split(' ')[1]))),
      ).toBe(true)
      expect(late.length).toBeLessThan(world.saves.length)
      expect(world.statesOf('a').at(-1)).toBe('last')
      expect(world.statesOf('b').at(-1)).toBe('later 5')
      await stop()
    })
  },
)

test('what it read before it stood still is not told afterwards (RELAY-5)', async () => {
  const { world, taken, stop } = await paused('feed')
  const late = world.facts().slice(taken.facts)
  expect(late.map(({ position }) => Number(position))).toEqual([23])
  await stop()
})

test('without the epoch the checkpoint goes back, and both go on telling: the checks above would find it', async () => {
  const everybodys = (sharing: Sharing): Sharing => ({
    ...sharing,
    acquire: async () => ({ epoch: 1 }),
    saveUnder: async (_lease, reader, position) => sharing.saveUnder({ name: 'other', epoch: 1 }, reader, position),
  })
  const { world, one, two, stop } = await paused('saveUnder', (sharing) => {
    void sharing.acquire('other', 'nobody', 1)
    return everybodys(sharing)
  })
  expect([one, two].map(({ relay }) => relay.state().active)).toEqual([true, true])
  expect(rising(world.saves.map((save) => Number(save.split(' ')[1])))).toBe(false)
  await stop()
})
