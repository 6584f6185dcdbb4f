/** After the database has lost rows, each host is compared with Placement: it may show what only lost rows said. */
import { expect, test } from 'vitest'
import type { EntityKey } from '../../src/vocabulary/identifiers.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const PLAN = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 4 }] }
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const AUDIT_MS = 60_000
const OPTIONS = { placementAuditMs: AUDIT_MS, staleAfterMs: 1e9, downAfterMs: 2e9 }
const NOTE = { by: 'ops', reason: 'the standby lacked rows' }

test('a provider that only lost rows knew is taken back, also below a host that counts as removed', async () => {
  const [clock, { ask, asked, placement }] = [handClock(), placementInMemory()]
  const world = await openPlane({ clock, options: OPTIONS, placement }, memoryStore({ now: clock.now }))
  const rest = async (ms = 2000) => {
    await clock.pass(ms)
    await world.plane.sweeper.idle()
  }
  const below = async () => {
    const tree = await placement.tree(ROOT)
    return tree.ok ? tree.value.flatMap(({ uuid, name }) => (uuid === ROOT ? [] : [name])) : null
  }
  ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
  await world.shows('h1', PLAN)
  await rest()
  expect(await below()).toHaveLength(1)
  value(await world.control.hosts.remove(NOVA, 'h1', NOTE, true))
  await rest()
  expect(await below()).toEqual([])

  // the host was restored and shown, and the rows that said so are lost
  const uuid = rpUuidOf('h1_card')
  ask('POST', '/resource_providers', { uuid, name: 'h1_card', parent_provider_uuid: ROOT })
  ask('PUT', `/resource_providers/${uuid}/traits`, { resource_provider_generation: 0, traits: ['OWNER_CYBORG'] })
  await rest(10 * AUDIT_MS)
  expect(await below()).toEqual(['h1_card'])
  expect(value(await world.plane.adoption(NOVA, [], NOTE))).toEqual({
    deployables: [],
    placement: { compared: 1, failed: [] },
  })
  await rest()
  expect(await below()).toEqual([])
  const before = asked.length
  await rest(10 * AUDIT_MS)
  expect(asked).toHaveLength(before)
  await world.plane.stop()
})

test('a host that was never compared is compared only when a lost row tells of a pass', async () => {
  const world = await openPlane({ clock: handClock(), options: OPTIONS }, memoryStore())
  await world.shows('h1', PLAN)
  const adopted = async (key: EntityKey) =>
    value(await world.plane.adoption(NOVA, [{ key, command: 'c', events: [] }], NOTE)).placement.compared
  expect(await adopted('host/h1')).toBe(0)
  expect(await adopted('placement/h1')).toBe(1)
  expect(await adopted('placement/gone')).toBe(1)
  await world.plane.stop()
})
