/** Versions of device profiles: which one is used, what requests keep, who sees what. On every store. */
import { expect, test } from 'vitest'
import { expectRebuilt } from '../actors/rebuilt.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import type { Source } from '../support/stores.ts'

/** So many versions of a profile are kept. */
const VERSIONS_KEPT = 32

const ONE = [{ 'resources:PGPU': '1' }]
const TWO = [{ 'resources:PGPU': '1', 'trait:CUSTOM_A': 'required' }]
const NO_CHANGE = { ifVersion: null, enabled: true, versions: [] } as const

export const profileVersionsContract = (stores: Source): void => {
  const open = async () => {
    const world = await openPlane({}, await stores(Date.now))
    const { uuid } = value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups: ONE }))
    const update = (change: object) => world.control.profiles.update(NOVA, uuid, { ...NO_CHANGE, ...change }, 'because')
    const ask = async () => {
      const made = await world.control.arqs.create(TENANT, 'p')
      return made.ok ? [made.value[0]!.profile_version, made.value[0]!.group] : made.fault.kind
    }
    const close = async () => {
      await expectRebuilt(world.store)
      await world.plane.stop()
      await world.store.close()
    }
    return { ...world, uuid, update, ask, close }
  }
  const names = async ({ control }: Awaited<ReturnType<typeof open>>, viewer: object, limit?: number) =>
    value(await control.profiles.list(null, limit ? { limit } : {}, viewer as never))
      .items.map(({ name }) => name)
      .toSorted()

  test('requests keep the version that they were made with; the newest enabled one is used', async () => {
    const world = await open()
    const [first] = value(await world.control.arqs.create(TENANT, 'p'))
    expect(value(await world.update({ groups: TWO }))).toMatchObject({ version: 2, groups: TWO, enabled: true })
    expect(await world.ask()).toEqual([2, TWO[0]])
    expect(value(await world.update({ versions: [{ version: 2, enabled: false }] }))).toMatchObject({ version: 1 })
    expect(await world.ask()).toEqual([1, ONE[0]])
    expect(value(await world.update({ versions: [{ version: 1, enabled: false }] })).enabled).toBe(false)
    expect(await world.ask()).toBe('not_found')
    const kept = value(await world.control.arqs.get(NOVA, first!.uuid))
    expect([kept.profile_version, kept.group]).toEqual([1, ONE[0]])
    const versions = value(await world.control.profiles.versions(world.uuid))
    expect(versions.map(({ version, enabled }) => [version, enabled])).toEqual([
      [1, false],
      [2, false],
    ])
    await world.close()
  })

  test('a migration makes a version, and one of the same content is none', async () => {
    const world = await open()
    const change = { uuid: world.uuid, name: 'p', was: ONE, groups: TWO }
    value(await world.control.profiles.regroup(NOVA, [change], 'renamed'))
    expect(value(await world.update({ groups: TWO, ifVersion: 2 })).version).toBe(2)
    expect(await world.update({ groups: ONE, ifVersion: 1 })).toMatchObject({ fault: { kind: 'conflict' } })
    expect(await world.update({ versions: [{ version: 3, enabled: true }] })).toMatchObject({
      fault: { kind: 'invalid', field: 'versions.3' },
    })
    expect(value(await world.update({ groups: ONE, enabled: false }))).toMatchObject({ version: 2, groups: TWO })
    await world.close()
  })

  test('a profile is shared with projects, and is not there for others', async () => {
    const world = await open()
    value(await world.control.profiles.create(NOVA, { name: 'q', description: null, groups: ONE }))
    value(await world.update({ projects: ['elsewhere'] }))
    const [tenant, admin] = [
      { caller: TENANT, disabled: true },
      { caller: NOVA, disabled: false },
    ]
    expect([await names(world, tenant), await names(world, tenant, 1), await names(world, admin)]).toEqual([
      ['q'],
      ['q'],
      ['p', 'q'],
    ])
    expect(await world.control.profiles.byName('p', tenant)).toMatchObject({ fault: { kind: 'not_found' } })
    expect(await world.ask()).toBe('not_found')
    value(await world.update({ projects: [TENANT.projectId, 'elsewhere'] }))
    expect(await world.ask()).toEqual([1, ONE[0]])
    value(await world.update({ versions: [{ version: 1, enabled: false }] }))
    expect([await names(world, tenant), await names(world, admin)]).toEqual([['q'], ['q']])
    expect(await names(world, { ...admin, disabled: true })).toEqual(['p', 'q'])
    await world.close()
  })

  test('the last versions are kept', async () => {
    const world = await open()
    for (let n = 2; n <= VERSIONS_KEPT + 2; n++) value(await world.update({ description: `number ${n}` }))
    const versions = value(await world.control.profiles.versions(world.uuid))
    expect([versions.length, versions[0]!.version, versions.at(-1)!.version]).toEqual([
      VERSIONS_KEPT,
      3,
      VERSIONS_KEPT + 2,
    ])
    await world.close()
  })
}
