/**
 * What Nova does with Placement, as far as it concerns the providers of this service (placement.md 5.1, 10): on the
 * double, and on the real one.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customName, type PlacementLab, placementLab, record, well } from '../support/placementLab.ts'
import { sessionOptions } from './keystone.contract.ts'
import type { Cloud } from './placement.contract.ts'

const VGPU_8 = { VGPU: record(8) }

export const placementAsNovaContract = (cloud: () => Cloud): void => {
  let lab: PlacementLab
  let placement: PlacementLab['placement']
  beforeAll(() => {
    lab = placementLab(sessionOptions(cloud().authUrl))
    placement = lab.placement
  })
  afterAll(() => lab.close())

  describe('Placement: allocations', () => {
    test('they name the consumer, and what it holds of each class', async () => {
      const { uuid, root } = await lab.ours()
      await lab.setInventories(uuid, { VGPU: record(8), FPGA: record(1) })
      const [one, other] = [randomUUID(), randomUUID()]
      expect(await placement.allocations(uuid)).toEqual(well({ generation: 1, consumers: {} }))
      await lab.allocate(one, { [uuid]: { VGPU: 2, FPGA: 1 }, [root]: { VCPU: 1 } })
      await lab.allocate(other, { [uuid]: { VGPU: 1 } })
      const consumers = { [one]: { VGPU: 2, FPGA: 1 }, [other]: { VGPU: 1 } }
      expect(await placement.allocations(uuid)).toEqual(well({ generation: 3, consumers }))
    })
    test('beyond the capacity, of what is not offered, by an older copy: nothing is allocated', async () => {
      const { uuid } = await lab.ours()
      await lab.setInventories(uuid, { VGPU: { ...record(8), max_unit: 4, step_size: 2 } })
      const consumer = randomUUID()
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 6 } })).toBe(409)
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 3 } })).toBe(409)
      expect(await lab.allocate(consumer, { [uuid]: { FPGA: 1 } })).toBe(409)
      expect(await lab.allocate(consumer, { [uuid]: { [customName()]: 1 } })).toBe(400)
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 4 } })).toBe(204)
      const again = {
        allocations: { [uuid]: { resources: { VGPU: 4 } } },
        project_id: 'p',
        user_id: 'u',
        consumer_type: 'INSTANCE',
      }
      expect((await lab.ask('PUT', `/allocations/${consumer}`, { ...again, consumer_generation: null })).status).toBe(
        409,
      )
      expect([await lab.release(consumer), await lab.release(consumer)]).toEqual([204, 404])
    })
    test('an allocation on an unknown provider leaves the consumer behind, with the generation 0', async () => {
      const { uuid } = await lab.ours()
      await lab.setInventories(uuid, VGPU_8)
      const consumer = randomUUID()
      expect(await lab.allocate(consumer, { [randomUUID()]: { VGPU: 1 } })).toBe(400)
      expect((await lab.ask('GET', `/allocations/${consumer}`)).body).toEqual({ allocations: {} })
      expect(await lab.release(consumer)).toBe(404)
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 1 } })).toBe(409)
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 1 } }, 0)).toBe(204)
    })
  })

  describe('Placement: allocation candidates, as Nova asks for accelerators', () => {
    type Candidates = {
      readonly allocation_requests: readonly {
        readonly allocations: Readonly<Record<string, { readonly resources: Readonly<Record<string, number>> }>>
        readonly mappings: Readonly<Record<string, readonly string[]>>
      }[]
      readonly provider_summaries: Readonly<Record<string, unknown>>
    }
    const ask = async (query: string) => {
      const { status, body } = await lab.ask('GET', `/allocation_candidates?${query}`)
      return { status, ...(body as Candidates) }
    }
    /** A node with two providers of a class that nobody else has. */
    const cards = async () => {
      const [root, name] = [await lab.node(), customName()]
      await placement.ensureClass(name)
      await placement.ensureTrait(name)
      const [one, other] = [await lab.child(root), await lab.child(root)]
      for (const uuid of [one, other]) await lab.setInventories(uuid, { [name]: record(2) })
      await lab.setTraits(one, ['OWNER_CYBORG', name])
      return { root, name, one, other }
    }
    test('a group is served by one provider, and the mapping says by which', async () => {
      const { root, name, one, other } = await cards()
      const both = await ask(`resourcesdevice_profile_0=${name}:1`)
      expect(both.allocation_requests.map(({ mappings }) => String(mappings['device_profile_0'])).toSorted()).toEqual(
        [one, other].toSorted(),
      )
      const query = `resourcesdevice_profile_0=${name}:1&requireddevice_profile_0=${name}&root_required=COMPUTE_ACCELERATORS&resources=VCPU:1`
      const { status, allocation_requests: requests, provider_summaries: summaries } = await ask(query)
      const allocations = { [one]: { resources: { [name]: 1 } }, [root]: { resources: { VCPU: 1 } } }
      const mappings = { '': [root], device_profile_0: [one] }
      expect([status, requests]).toEqual([200, [{ allocations, mappings }]])
      expect(Object.keys(summaries).toSorted()).toEqual([root, one, other].toSorted())
      expect(summaries[one]).toEqual({
        resources: { [name]: { capacity: 2, used: 0 } },
        traits: expect.arrayContaining(['OWNER_CYBORG', name]),
        parent_provider_uuid: root,
        root_provider_uuid: root,
      })
    })
    test('forbidden traits, what is taken, reserved, or more than there is', async () => {
      const { root, name, one, other } = await cards()
      const providers = async (more: string, amount = 1) => {
        const { allocation_requests: found } = await ask(`resources_a=${name}:${amount}${more}`)
        return found.map(({ mappings }) => String(mappings['_a'])).toSorted()
      }
      expect(await providers(`&required_a=!${name}`)).toEqual([other])
      expect(await providers('&root_required=COMPUTE_MANAGED_PCI_DEVICE')).toEqual([])
      expect(await providers('', 3)).toEqual([])
      await lab.setInventories(one, { [name]: record(2, 2) })
      await lab.allocate(randomUUID(), { [other]: { [name]: 1 }, [root]: { VCPU: 1 } })
      expect([await providers('', 1), await providers('', 2)]).toEqual([[other], []])
    })
    test('two groups may share a provider, unless they are to be isolated', async () => {
      const { name, one, other } = await cards()
      const query = `resources_a=${name}:2&resources_b=${name}:2`
      expect((await ask(query)).status).toBe(400)
      const sorted = async (policy: string) =>
        (await ask(`${query}&group_policy=${policy}`)).allocation_requests
          .map(({ mappings }) => `${String(mappings['_a'])} ${String(mappings['_b'])}`)
          .toSorted()
      // each has two
      expect(await sorted('none')).toEqual([`${one} ${other}`, `${other} ${one}`].toSorted())
      const small = `resources_a=${name}:1&resources_b=${name}:1`
      const count = async (policy: string) => (await ask(`${small}&group_policy=${policy}`)).allocation_requests.length
      expect([await count('none'), await count('isolate')]).toEqual([4, 2])
    })
    test('an unknown trait or class: 400, not an empty list', async () => {
      const name = customName()
      const statusOf = async (query: string) => (await ask(query)).status
      expect(await statusOf(`resources_a=VGPU:1&required_a=${name}`)).toBe(400)
      expect(await statusOf(`resources_a=VGPU:1&required_a=!${name}`)).toBe(400)
      expect(await statusOf(`resources_a=${name}:1`)).toBe(400)
      expect(await statusOf('required_a=OWNER_CYBORG')).toBe(400)
    })
  })
}
