/**
 * What deployables and drift tell of Placement: for those who ask for the additive microversion, and for
 * administrators.
 */
import { expect, test } from 'vitest'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { createTestApp } from './app.ts'
import { speaker } from './cloud.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
const at = (minor: number) => ({ headers: { 'OpenStack-API-Version': `accelerator 2.${minor}` } })

test('a deployable shows how it stands in Placement, and drift why units are to be reserved', async () => {
  const { placement, ask } = placementInMemory()
  const world = await openPlane({ placement, options: { placementAuditMs: 3_600_000 } })
  await world.shows('sim-1', { seed: 1, devices: [{ kind: 'fpga', handles: 4, hostWork: false }] })
  const { must } = speaker(createTestApp(world.control, { additiveMicroversion: true }))
  const heal = async () => value(await world.control.drift.heal(NOVA, 'sim-1'))
  const one = async (minor: number) => {
    const [listed] = (await must(200, 'GET /v2/deployables', at(minor))).json.deployables
    expect((await must(200, `GET /v2/deployables/${listed.uuid}`, at(minor))).json).toEqual(listed)
    return listed
  }
  await heal()
  const state = { state: 'waiting_for_compute_node', reason: 'Placement has no compute node named sim-1' }
  expect((await one(4)).placement).toEqual({ ...state, since: TIME, reserving: [], compared_at: null })
  expect(await one(3)).not.toHaveProperty('placement')

  ask('POST', '/resource_providers', { uuid: '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01', name: 'sim-1' })
  await heal()
  const well = { state: 'in_sync', reason: null, since: TIME, reserving: [], compared_at: TIME }
  expect((await one(4)).placement).toEqual(well)

  const { uuid, rp_uuid: provider, device_uuid: device } = await one(4)
  value(await world.control.devices.setStatus(NOVA, device, 'maintaining'))
  await heal()
  expect((await one(4)).placement).toEqual({ ...well, reserving: ['device disabled'] })
  expect((await must(200, 'GET /v2/drift')).json.drift).toMatchObject([{ host: 'sim-1', trouble: null, entries: [] }])

  const inventories = { FPGA: { total: 4, reserved: 0 } }
  const answer = await placement.provider(provider)
  const generation = answer.ok ? answer.value.generation : null
  ask('PUT', `/resource_providers/${provider}/inventories`, { resource_provider_generation: generation, inventories })
  const [drift] = (await must(200, 'GET /v2/drift')).json.drift
  expect(drift.entries).toEqual([
    expect.objectContaining({
      kind: 'provider',
      deployable_uuid: uuid,
      repairs: ['inventory'],
      reserving: ['device disabled'],
    }),
  ])
  await world.plane.stop()
})

test('without a Placement there is nothing to show', async () => {
  const world = await openPlane()
  await world.shows('sim-1', { seed: 1, devices: [{ kind: 'gpu', handles: 1 }] })
  const { must } = speaker(createTestApp(world.control, { additiveMicroversion: true }))
  const [one] = (await must(200, 'GET /v2/deployables', at(4))).json.deployables
  expect(one.placement).toBeNull()
  await world.plane.stop()
})
