/** What is read of a provider in two requests is written back only if nobody wrote between them (placement 5.2). */
import { expect, it } from 'vitest'
import type { Placement } from '../../src/actors/placement/port.ts'
import { contentOf } from '../../src/services/placement/content.ts'
import { placementInMemory } from '../support/placement.ts'

const UUID = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a02'
const CLASS = { FPGA: { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1 } }

it.each(['inventories', 'traits'] as const)(
  'a write of others before the %s are read makes the whole out of date',
  async (last) => {
    const { ask, placement } = placementInMemory()
    ask('POST', '/resource_providers', { uuid: UUID, name: 'card' })
    const first = Promise.withResolvers<void>()
    const others = async () => {
      await first.promise
      ask('PUT', `/resource_providers/${UUID}/inventories`, { resource_provider_generation: 0, inventories: CLASS })
    }
    const torn: Placement = {
      ...placement,
      inventories: async (uuid) => {
        if (last === 'inventories') await others()
        return placement.inventories(uuid).finally(first.resolve)
      },
      traits: async (uuid) => {
        if (last === 'traits') await others()
        return placement.traits(uuid).finally(first.resolve)
      },
    }
    const content = await contentOf(torn, UUID)
    expect(content).toMatchObject({ ok: true, value: { generation: 0 } })
    const written = await placement.setTraits({ uuid: UUID, generation: 0, traits: [] })
    expect(written).toMatchObject({ ok: false })
  },
)
