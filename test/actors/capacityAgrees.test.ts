/** Capacity calls an accelerator free exactly where explain says that one more request fits. In clouds of any kind. */
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { newWork } from '../../src/services/kernel/kernel.ts'
import { ENTITIES } from '../../src/actors/entities.ts'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SimulatedDevice, SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { catalogueOf } from '../support/images.ts'
import { openPlane, value } from '../support/plane.ts'
import { type Plane, play, world } from './anyCloud.ts'

type Devices = SimulatedPlan['devices']
/** A card of which several functions go to one guest is given as a whole: one request alone never fits it. */
const single = (devices: Devices): SimulatedDevice[] =>
  devices.map(({ kind, handles, hostWork = false }) => ({ kind, handles, hostWork }))
const happening = fc.constantFrom('silence', 'stale', 'fail', 'disable', 'retire', 'take', 'take', 'unplug', 'divide')

const silence = async ({ plane }: Plane, name: string, liveness: 'stale' | 'down') => {
  const work = newWork({ ids: systemIds, clock: systemClock }, { by: 'liveness' }, (draft) =>
    draft.decide(ENTITIES['host']!, `host/${name}`, { type: 'SetLiveness', liveness, by: 'silence' }),
  )
  value(await plane.region.tell(`host/${name}`, work))
}
const fail = async ({ plane, discovered }: Plane, name: string, devices: Devices, at: number) => {
  const { controlPath } = (await discovered(name, { seed: 1, devices }))[at % devices.length]!
  const bad = { controlPath: controlPath.info, health: 'bad', reasons: ['hot'], numbers: {} } as const
  const measured = [{ driver: 'simulated_driver', at: 1, devices: [bad] }]
  const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
  const beat = { type: 'Heartbeat', host: name, bootId: randomUUID(), observedAt: 1, status, measured } as const
  value(await plane.reports.take(beat, randomUUID()))
}

/** Compares every line of every host; returns whether something was free, and whether something was not. */
const compare = async ({ control }: Plane): Promise<readonly boolean[]> => {
  const { lines } = value(await control.capacity())
  const seen: boolean[] = []
  for (const { resourceClass, traits, hosts } of lines)
    for (const { host: name } of hosts) {
      // one that has more traits than are asked for fits, too
      const isFree = lines.some(
        (line) =>
          line.resourceClass === resourceClass &&
          traits.every((trait) => line.traits.includes(trait)) &&
          line.hosts.some((one) => one.host === name && one.amount.free > 0),
      )
      const group = Object.fromEntries(traits.map((trait) => [`trait:${trait}`, 'required']))
      const groups = [{ [`resources:${resourceClass}`]: '1', ...group }]
      const judged = value(await control.profiles.check({ groups, host: name, limit: 1 }))
      expect(isFree, JSON.stringify([name, lines, judged])).toBe(judged.fits)
      seen.push(isFree)
    }
  return seen
}

test('capacity and explain are of one opinion', async () => {
  const seen: boolean[] = []
  await fc.assert(
    fc.asyncProperty(world, fc.array(fc.tuple(happening, fc.nat()), { maxLength: 6 }), async (given, happened) => {
      const plan = { ...given, hosts: given.hosts.map(single) }
      const options = { programWaitMs: 1, sweepEveryMs: 24 * 3_600_000 }
      const plane = await openPlane({ images: catalogueOf(), options })
      for (const [at, devices] of plan.hosts.entries()) await plane.shows(`h${at}`, { seed: 1, devices })
      for (const [what, at] of happened) {
        const name = `h${at % plan.hosts.length}`
        if (what === 'silence' || what === 'stale') await silence(plane, name, what === 'stale' ? 'stale' : 'down')
        else if (what === 'fail') await fail(plane, name, plan.hosts[at % plan.hosts.length]!, at)
        else await play(plane, plan, what, at)
      }
      for (const [step, at] of given.steps) await play(plane, plan, step, at)
      seen.push(...(await compare(plane)))
      await plane.plane.stop()
      await plane.store.close()
    }),
    { numRuns: 80 },
  )
  // neither half is empty
  expect(Math.min(...[true, false].map((free) => seen.filter((one) => one === free).length))).toBeGreaterThan(10)
})
