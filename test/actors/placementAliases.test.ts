/**
 * Hosts that have other names: their compute node in Placement is found by these, and two hosts with one compute node
 * leave each other's providers alone.
 */
import { afterEach, expect, test } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const AUDIT_MS = 60_000
const OPTIONS = { placementAuditMs: AUDIT_MS, staleAfterMs: 1e9, downAfterMs: 2e9, missingRounds: 1 }
let stop = async () => {}
afterEach(() => stop())

const open = async () => {
  const [clock, cloud] = [handClock(), placementInMemory()]
  const { placement } = cloud
  const world = await openPlane({ clock, options: OPTIONS, placement }, memoryStore({ now: clock.now }))
  stop = world.plane.stop
  const rest = async (ms = 2000) => {
    await clock.pass(ms)
    await world.plane.sweeper.idle()
  }
  const node = (name: string): string => {
    const uuid = crypto.randomUUID()
    cloud.ask('POST', '/resource_providers', { uuid, name })
    return uuid
  }
  const shows = async (host: string, aliases: readonly string[]) => {
    const devices = await world.discovered(host, { seed: 1, devices: [{ kind: 'fpga', handles: 2 }] })
    const found = [{ driver: 'simulated_driver', status: 'ok', devices }] as const
    await world.report(host, found, undefined, { aliases })
    await rest()
  }
  const below = async (root: string) => {
    const tree = await placement.tree(root)
    if (!tree.ok) throw new Error(tree.reason)
    return tree.value.map(({ uuid }) => uuid).filter((uuid) => uuid !== root)
  }
  const providerOf = async (host: string) => {
    const { items } = value(await world.control.deployables.list({}, {}))
    return items.find(({ hostname }) => hostname === host)!.rp_uuid!
  }
  return { ...world, ...cloud, rest, node, shows, below, providerOf }
}

test('a compute node that was given another name has the devices of its host below it again', async () => {
  const { node, shows, below, providerOf, rest, control } = await open()
  const former = node('c1')
  await shows('c1', [])
  const provider = await providerOf('c1')
  expect(await below(former)).toEqual([provider])
  const renamed = node('c1.example.org')
  await shows('c1', ['c1.example.org'])
  await rest(2 * AUDIT_MS)
  expect([await below(former), await below(renamed)]).toEqual([[], [provider]])
  expect(value(await control.drift.list(null, {})).items).toMatchObject([{ root: renamed, trouble: null, entries: [] }])
})

test("two hosts that find the same compute node do not take back what is the other one's", async () => {
  const { node, shows, below, providerOf, rest, asked, control } = await open()
  const root = node('c1')
  await shows('c1', [])
  await shows('c2', ['c1'])
  const both = [await providerOf('c1'), await providerOf('c2')].toSorted()
  expect((await below(root)).toSorted()).toEqual(both)
  const before = asked.length
  await rest(5 * AUDIT_MS)
  expect(asked.slice(before).filter((line) => !line.startsWith('GET'))).toEqual([])
  expect((await below(root)).toSorted()).toEqual(both)
  // nor when an operator orders that what nothing explains is taken back
  expect(value(await control.drift.list(null, {})).items.flatMap(({ entries }) => entries)).toEqual([])
  value(await control.drift.heal(NOVA, null, {}))
  expect((await below(root)).toSorted()).toEqual(both)
})

test('a host without compute node says by which names it was looked for', async () => {
  const { shows, control } = await open()
  await shows('c1', ['c1.example.org'])
  const [host] = value(await control.drift.list('c1', {})).items
  expect(host!.trouble!.reason).toBe('Placement has no compute node named c1.example.org or c1')
})
