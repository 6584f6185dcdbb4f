/**
 * Compute nodes that are renamed, or deleted and registered anew (placement.md 8, P6 and T12). On the double over each
 * store, and on a real Placement.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Unanswered } from '../../src/neighbours/openstack/send.ts'
import { type PlacedHost, placedHost } from '../support/placedHost.ts'
import { type PlacementLab, record } from '../support/placementLab.ts'
import { type Source, openTestStore } from '../support/stores.ts'

type Case = readonly [
  name: string,
  /** What happened; answers with what is checked after the pass. */
  given: (host: PlacedHost, lab: PlacementLab) => Promise<() => Promise<unknown>>,
]
const FPGA = 'FPGA'
/** Moves are asked for in a version that does not have them. */
const withoutMoving: Parameters<PlacementLab['meddle']>[0] = (call, carryOut) =>
  call.method === 'PUT' && /^\/resource_providers\/[^/]+$/.test(call.path)
    ? carryOut({ ...call, headers: { ...call.headers, 'openstack-api-version': 'placement 1.36' } })
    : carryOut()
/** All providers of the host, with the UUIDs that are recorded. */
const isBelow = async (host: PlacedHost, root: string): Promise<void> => {
  expect(await host.drift()).toMatchObject({ root })
  for (const { rp_uuid: uuid } of await host.places()) expect(await host.shown(uuid!)).toMatchObject({ parent: root })
}

const MENDED: readonly Case[] = [
  [
    'P6 the compute node was renamed, and one of the host name is new',
    async (host, lab) => {
      await host.renameNode(host.root)
      const root = await host.node()
      return async () => {
        await isBelow(host, root)
        await lab.placement.update({ ...host.card, parent: host.root })
      }
    },
  ],
  [
    'P6 the same, and Placement does not let providers be moved (before 1.37): they are made anew',
    async (host, lab) => {
      await host.renameNode(host.root)
      const root = await host.node()
      lab.meddle(withoutMoving)
      return async () => {
        lab.meddle(null)
        await isBelow(host, root)
      }
    },
  ],
  [
    'T12 Nova deleted the compute node with all below it, and registered it anew',
    async (host) => {
      expect(await host.deleteNode(host.root)).toEqual([204, 204, 204])
      const root = await host.node()
      return () => isBelow(host, root)
    },
  ],
  [
    'T12 the same, while the service could not reach Placement',
    async (host, lab) => {
      await host.deleteNode(host.root)
      lab.meddle(() => Promise.reject(new Unanswered('connect ECONNREFUSED')))
      await host.heal()
      lab.meddle(null)
      const root = await host.node()
      await host.heal()
      return () => isBelow(host, root)
    },
  ],
]

export const driftOfNodesContract = (given: () => PlacementLab, stores: Source = openTestStore): void => {
  describe('compute nodes that are renamed or replaced', () => {
    let lab: PlacementLab
    const hosts: PlacedHost[] = []
    const open = async () => {
      const host = await placedHost(lab, { stores })
      hosts.push(host)
      return host
    }
    beforeAll(() => {
      lab = given()
    })
    afterEach(() => Promise.all(hosts.splice(0).map((host) => host.stop())))

    test.each(MENDED)('%s', async (_, happened) => {
      const host = await open()
      const before = await host.now()
      const check = await happened(host, lab)
      await host.heal()
      await check()
      await host.heal()
      expect({ ...(await host.now()), parent: null }).toEqual({ ...before, parent: null })
      await host.inStep()
    })
    test('P6 a provider of which units are allocated follows to the new compute node as well', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      await host.renameNode(host.root)
      const root = await host.node()
      await host.heal()
      expect(await host.now()).toMatchObject({ parent: root, inventories: { [FPGA]: record(4) } })
      // now the old one can be deleted
      expect(await host.deleteNode(host.root)).toEqual([204])
    })
    test('P6 one of which units are allocated, in a Placement before 1.37: it stays where it is, and that is told', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      await host.renameNode(host.root)
      const root = await host.node()
      lab.meddle(withoutMoving)
      await host.heal()
      expect(await host.now()).toMatchObject({ parent: host.root, inventories: { [FPGA]: record(4) } })
      const reason = expect.stringMatching(/moved.*1\.37.*allocated/)
      const reconciled = (await host.reconciled()).filter(({ uuid }) => uuid === host.card.uuid)
      expect(reconciled.at(-1)).toMatchObject({ state: 'pending', reason })
      await lab.release(consumer)
      await host.heal()
      expect(await host.now()).toMatchObject({ parent: root, inventories: { [FPGA]: record(4) } })
      lab.meddle(null)
      await host.inStep()
    })
    test('T12 Nova deletes the compute node while units are allocated: those providers stay, with all below it that can go made anew', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      const before = await host.now()
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      expect((await host.deleteNode(host.root)).filter((status) => status === 409)).toHaveLength(2)
      // Nova cannot register a node of that name beside the one that stays
      expect(await lab.ask('POST', '/resource_providers', { uuid: randomUUID(), name: host.host })).toMatchObject({
        status: 409,
      })
      await host.heal()
      expect(await host.now()).toEqual(before)
      await isBelow(host, host.root)
    })
  })
}
