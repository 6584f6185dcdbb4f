/** In Placement, ours is what this journal has made or taken over: another Cyborg beside it keeps its providers. */
import { expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const [FREE, USED] = ['h1_0000:af:00.0', 'h1_0000:d8:00.0']
const SERVER = '11111111-1111-4111-8111-111111111111'
const FPGA = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 4 }] }
const INVENTORY = { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 }
const NOTE = { by: 'ops', reason: 'the other Cyborg stays' }

/** A host with the providers of a Cyborg that runs beside this one; a server has a unit of the second. */
const beside = async () => {
  const [clock, cloud] = [handClock(), placementInMemory()]
  const { ask } = cloud
  ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
  for (const name of [FREE, USED]) {
    const at = `/resource_providers/${rpUuidOf(name)}`
    ask('POST', '/resource_providers', { uuid: rpUuidOf(name), name, parent_provider_uuid: ROOT })
    ask('PUT', `${at}/inventories`, { resource_provider_generation: 0, inventories: { PGPU: INVENTORY } })
    ask('PUT', `${at}/traits`, { resource_provider_generation: 1, traits: ['OWNER_CYBORG'] })
  }
  ask('PUT', `/allocations/${SERVER}`, {
    allocations: { [rpUuidOf(USED)]: { resources: { PGPU: 1 } } },
    project_id: 'p',
    user_id: 'u',
    consumer_generation: null,
    consumer_type: 'INSTANCE',
  })
  const store = memoryStore({ now: clock.now })
  const options = { staleAfterMs: 1e9, downAfterMs: 2e9 }
  const world = await openPlane({ clock, options, placement: cloud.placement }, store)
  await world.shows('h1', FPGA)
  await clock.pass(5000)
  const shown = (name: string) =>
    (ask('GET', `/resource_providers?name=${name}`) as { readonly resource_providers: readonly object[] })
      .resource_providers[0]
  const drift = async () =>
    value(await world.control.drift.list('h1', {})).items[0]!.entries.map(({ uuid, name, state }) => ({
      uuid,
      name,
      state,
    }))
  const heal = async () => {
    const healing = world.control.drift.heal(NOVA, 'h1')
    await clock.pass(5000)
    value(await healing)
  }
  const violations = async () => check({ journal: await store.journal.feed('', 10_000), now: clock.now() })
  return { ...world, clock, ask, shown, drift, heal, violations }
}
const reserved = ({ ask }: Awaited<ReturnType<typeof beside>>) =>
  (
    ask('GET', `/resource_providers/${rpUuidOf(USED)}/inventories`) as {
      readonly inventories: { readonly PGPU: { readonly reserved: number } }
    }
  ).inventories.PGPU.reserved

test('the first passes over a host leave the providers of another Cyborg as they are, and drift tells of them', async () => {
  const host = await beside()
  const before = [host.shown(FREE), host.shown(USED)]
  expect(before).toEqual([
    expect.objectContaining({ uuid: rpUuidOf(FREE), generation: 2 }),
    expect.objectContaining({ uuid: rpUuidOf(USED), generation: 3 }),
  ])
  expect(reserved(host)).toBe(0)
  await host.clock.pass(3_600_000)
  expect([host.shown(FREE), host.shown(USED)]).toEqual(before)
  expect(await host.drift()).toEqual(
    [FREE, USED].map((name) => ({ name, state: 'placement_conflict', uuid: expect.any(String) })),
  )
  expect(await host.violations()).toEqual([])
  await host.plane.stop()
})

test('an operator who orders it has them deleted, or reserved while they are used; what is ignored stays', async () => {
  const host = await beside()
  const [free] = await host.drift()
  const until = host.clock.now() + 86_400_000
  value(await host.control.drift.ignore(NOVA, { host: 'h1', difference: free!.uuid, until }, NOTE))
  await host.heal()
  expect(host.shown(FREE)).toMatchObject({ generation: 2 })
  expect(reserved(host)).toBe(1)
  expect(await host.drift()).toMatchObject([{ name: FREE }, { name: USED, state: 'pending' }])
  value(await host.control.drift.unignore(NOVA, free!.uuid, NOTE))
  host.ask('DELETE', `/allocations/${SERVER}`)
  await host.heal()
  expect([host.shown(FREE), host.shown(USED)]).toEqual([undefined, undefined])
  expect(await host.drift()).toEqual([])
  expect(await host.violations()).toEqual([])
  await host.plane.stop()
})
