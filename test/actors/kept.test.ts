/** Answers that are kept because they are expensive (COUNTED-1 to COUNTED-3). */
import { expect, test } from 'vitest'
import { type Outcome, done, refuse } from '../../src/fault.ts'
import { keptAnswer } from '../../src/services/overview/kept.ts'

/** `took`: how long the next computations take. */
const open = () => {
  const world = { now: 0, took: 0, computed: 0, ok: true }
  const compute = async (): Promise<Outcome<number>> => {
    world.computed += 1
    const number = world.computed
    await Promise.resolve()
    world.now += world.took
    return world.ok ? done(number) : refuse({ kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 })
  }
  const ask = keptAnswer({ monotonic: () => world.now }, 1000, compute)
  const at = async (now: number) => {
    world.now = now
    const outcome = await ask()
    return outcome.ok ? outcome.value : null
  }
  return { world, ask, at }
}

test('what is quick to compute is computed at most once in the least time', async () => {
  const { at, world } = open()
  world.took = 10
  expect([await at(0), await at(500), await at(999), await at(1000), await at(1500)]).toEqual([1, 1, 1, 2, 2])
})
test('what took long is kept twenty times as long, so that a twentieth of the time goes to it at most (COUNTED-2)', async () => {
  const { at, world } = open()
  world.took = 300
  expect([await at(0), await at(1000), await at(5999), await at(6000)]).toEqual([1, 1, 1, 2])
})
test('nothing is kept longer than a minute', async () => {
  const { at, world } = open()
  world.took = 20_000
  expect([await at(0), await at(59_999), await at(60_000)]).toEqual([1, 1, 2])
})
test('who asks while it is computed waits for the same answer (COUNTED-1)', async () => {
  let finish: (outcome: Outcome<string>) => void = () => {}
  let [now, computed] = [0, 0]
  const ask = keptAnswer({ monotonic: () => now }, 1000, () => {
    computed += 1
    return new Promise<Outcome<string>>((resolve) => (finish = resolve))
  })
  const first = ask()
  now = 5000
  const second = ask()
  finish(done('counted'))
  expect([await first, await second, computed]).toEqual([done('counted'), done('counted'), 1])
})
test('a refusal is forgotten after the least time, however long it took (COUNTED-3)', async () => {
  const { at, world } = open()
  Object.assign(world, { took: 8000, ok: false })
  expect(await at(0)).toBe(null)
  Object.assign(world, { took: 0, ok: true })
  expect(await at(8001)).toBe(2)
})
test('a computation that breaks is begun anew after the least time, and not before', async () => {
  let [now, computed] = [0, 0]
  const ask = keptAnswer({ monotonic: () => now }, 1000, async () => {
    computed += 1
    if (computed === 1) throw new Error('broken')
    return done(computed)
  })
  await expect(ask()).rejects.toThrow('broken')
  now = 999
  await expect(ask()).rejects.toThrow('broken')
  now = 1000
  expect(await ask()).toEqual(done(2))
})
