/**
 * The names that drivers give their devices, as Placement takes them: on the double, and on the real Placement of the
 * rig.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyDriver, everyDriverHost } from '../drivers/everyDriverHost.ts'
import { type PlacementLab, placementLab, record } from '../support/placementLab.ts'
import { sessionOptions } from './keystone.contract.ts'
import type { Cloud } from './placement.contract.ts'

export const driverNamesContract = (cloud: () => Cloud): void => {
  let lab: PlacementLab
  beforeAll(() => void (lab = placementLab(sessionOptions(cloud().authUrl))))
  afterAll(() => lab.close())
  describe('Placement: what drivers report', () => {
    test.each(everyDriver().map((driver) => [driver.name, driver] as const))(
      'of %s is taken',
      async (_name, driver) => {
        const root = await lab.node()
        const deployables = (await driver.discover(everyDriverHost())).flatMap((device) => device.deployables)
        expect(deployables.length).toBeGreaterThan(0)
        for (const { name, attributes, numAccelerators } of deployables) {
          const valuesOf = (prefix: string) =>
            attributes.flatMap(({ key, value }) => (key.startsWith(prefix) ? value : []))
          const [uuid, traits, [rc]] = [randomUUID(), valuesOf('trait'), valuesOf('rc')]
          expect(await lab.placement.ensureClass(rc!)).toMatchObject({ ok: true })
          for (const trait of traits) expect(await lab.placement.ensureTrait(trait)).toMatchObject({ ok: true })
          // several drivers of one host may name the same function
          expect(
            await lab.placement.create({
              uuid,
              name: `${driver.name.slice(0, 3)}${root.slice(0, 8)}_${name}`,
              parent: root,
            }),
          ).toMatchObject({ ok: true })
          const total = Math.max(1, numAccelerators)
          expect(await lab.setInventories(uuid, { [rc!]: record(total, total - numAccelerators) })).toMatchObject({
            ok: true,
          })
          expect(await lab.setTraits(uuid, traits)).toMatchObject({ ok: true })
        }
      },
    )
  })
}
