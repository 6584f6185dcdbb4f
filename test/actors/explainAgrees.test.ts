/**
 * What explain says fits, a bind takes; what it says does not fit, a bind refuses. In clouds, and for profiles, of any
 * kind.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { catalogueOf } from '../support/images.ts'
import { openPlane, value } from '../support/plane.ts'
import { type Plane, type World, play, tryBind, world } from './anyCloud.ts'

const waysOf = (groups: number, providers: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: groups }).reduce<readonly (readonly string[])[]>(
    (ways) => ways.flatMap((way) => providers.map((one) => [...way, one])),
    [[]],
  )

/** One host at a time: a bind that is taken changes the cloud. */
const compare = async ({ control }: Plane, { groups }: World, name: string) => {
  const explanation = value(await control.profiles.check({ groups, host: name, limit: 1 }))
  const judged = explanation.hosts[0]!
  const own = value(await control.deployables.list({}, {})).items.filter(({ hostname }) => hostname === name)
  const providers = own.flatMap(({ rp_uuid: uuid }) => uuid ?? [])
  if (groups.length === 1)
    for (const { provider, obstacles } of judged.groups[0]!.devices)
      if (obstacles.some(({ stops }) => stops.includes('bind')))
        expect(await tryBind(control, groups, [provider], name), JSON.stringify(obstacles)).toBe(false)
  let taken = false
  for (const way of waysOf(groups.length, providers)) {
    taken = await tryBind(control, groups, way, name)
    if (taken) break
  }
  expect(judged.bind, JSON.stringify(judged)).toBe(taken)
  return taken
}

test('explain and bind are of one opinion', async () => {
  const seen = { taken: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(world, fc.boolean(), async (given, answered) => {
      const plane = await openPlane(
        { images: catalogueOf(), options: { programWaitMs: 1 } },
        undefined,
        answered ? 'at once' : 'when told',
      )
      for (const [at, devices] of given.hosts.entries()) await plane.shows(`h${at}`, { seed: 1, devices })
      for (const [step, at] of given.steps) await play(plane, given, step, at)
      for (const at of given.hosts.keys()) seen[(await compare(plane, given, `h${at}`)) ? 'taken' : 'refused'] += 1
      await plane.plane.stop()
      await plane.store.close()
    }),
    { numRuns: 200 },
  )
  // neither half is empty
  expect(Math.min(seen.taken, seen.refused)).toBeGreaterThan(20)
})
