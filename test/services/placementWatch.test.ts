/** Which hosts the watch over Placement has compared although no recorded moment says so, and how often it looks. */
import { expect, test } from 'vitest'
import { noPlacementCounts } from '../../src/actors/placement/counts.ts'
import { type Outcome, done } from '../../src/fault.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createPlacementWatch } from '../../src/services/placement/watch.ts'
import { REFUSED_AWAY } from '../support/kernelParts.ts'
import { handClock } from '../support/lab.ts'

const EVERY_MS = 600_000
const HOSTS = [
  { name: 'h1', liveness: 'up' },
  { name: 'h2', liveness: 'removed' },
  { name: 'h3', liveness: 'down' },
  { name: 'h4', liveness: 'up' },
]
const DUE = [
  { entity: 'placement/h1', kind: 'placement in_sync', at: 5 },
  { entity: 'placement-mark/h4', kind: 'placement-mark', at: 0 },
]
const WAITING = [
  { entity: 'placement/h5', kind: 'placement unreachable', at: 70 },
  { entity: 'placement/h6', kind: 'placement unreachable', at: 80 },
]

const opened = () => {
  const clock = handClock()
  const world = { recovered: 0, away: '' }
  const [asked, begun]: readonly [unknown[], unknown[]] = [[], []]
  const list = async (
    view: string,
    where: { readonly kind?: string | readonly string[] },
  ): Promise<Outcome<object>> => {
    asked.push([view, where])
    const isWaiting = where.kind === 'placement unreachable'
    if (world.away === (isWaiting ? 'waiting' : view)) return REFUSED_AWAY
    return done({ items: view === 'hosts' ? HOSTS : isWaiting ? WAITING : DUE, next: null })
  }
  const readCached = async () => REFUSED_AWAY
  const watch = createPlacementWatch({ clock, readers: { list }, region: { readCached } } as unknown as Kernel, {
    begin: (entity, read, at) => void begun.push([entity, read === readCached, at]),
    counts: () => ({ ...noPlacementCounts(), recovered: world.recovered }),
  })
  const round = async () => {
    asked.length = 0
    begun.length = 0
    await watch.round()
    return [asked.length, [...begun]]
  }
  return { clock, world, asked, round }
}
const UNLED = ['placement/h3', true, undefined]

test('a host that is not removed and has no row of due work is compared, at once and every ten minutes', async () => {
  const { clock, asked, round } = opened()
  expect(await round()).toEqual([2, [UNLED]])
  expect(asked[0]).toEqual(['hosts', {}])
  expect(asked[1]).toMatchObject(['due', { kind: expect.arrayContaining(['placement-mark', 'placement in_sync']) }])
  expect(await round()).toEqual([0, []])
  await clock.pass(EVERY_MS - 1)
  expect(await round()).toEqual([0, []])
  await clock.pass(1)
  expect(await round()).toEqual([2, [UNLED]])
})
test.each(['hosts', 'due'])('if the view of %s cannot be read, the next round looks again', async (view) => {
  const { world, round } = opened()
  world.away = view
  expect(await round()).toEqual([2, []])
  world.away = ''
  expect(await round()).toEqual([2, [UNLED]])
})
test('when Placement has answered again for a host, all that wait for it are compared, once', async () => {
  const { world, asked, round } = opened()
  await round()
  world.recovered = 1
  world.away = 'waiting'
  expect(await round()).toEqual([1, []])
  world.away = ''
  expect(await round()).toEqual([
    1,
    [
      ['placement/h5', true, 70],
      ['placement/h6', true, 80],
    ],
  ])
  expect(asked).toEqual([['due', { kind: 'placement unreachable' }]])
  expect(await round()).toEqual([0, []])
})
