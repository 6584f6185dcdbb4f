/**
 * The reconciler from an empty Placement to a hundred hosts with a thousand deployables, on the real one; then a
 * comparison of them all.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { describeWith } from '../support/needs.ts'
import { type PlacementLab, placementLab, uniqueName } from '../support/placementLab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

const HOSTS = 100
const DEVICES = 10
const COUNT = HOSTS * DEVICES
/** Each so many-th host is read as a whole in the end. */
const SAMPLE = 10
const OPTIONS = { placementAuditMs: 86_400_000, staleAfterMs: 86_400_000, downAfterMs: 172_800_000 }
/** One FPGA of four units and nine cards of two, different on each host. */
const planOf = (seed: number) => ({
  seed,
  devices: Array.from({ length: DEVICES }, (_, at) =>
    at === 0 ? ({ kind: 'fpga', handles: 4 } as const) : ({ kind: 'gpu', handles: 2 } as const),
  ),
})

describeWith(CLOUD, 'a hundred hosts beside a real Placement', (rig) => {
  let cloud: RiggedCloud
  let lab: PlacementLab
  let world: Awaited<ReturnType<typeof openPlane>>
  const roots = new Map<string, string>()
  beforeAll(async () => {
    cloud = await startCloud(rig, 3600)
    lab = placementLab(sessionOptions(cloud.authUrl))
    world = await openPlane({ placement: lab.placement, options: OPTIONS })
    for (const host of Array.from({ length: HOSTS }, uniqueName)) roots.set(host, await lab.node(host))
  }, START_MS)
  afterAll(async () => {
    await world?.plane.stop()
    await lab?.close()
    await cloud?.stop()
  })
  const rootsShown = async (): Promise<readonly unknown[]> => {
    const shown: unknown[] = []
    for (const root of roots.values())
      shown.push([
        await lab.placement.provider(root),
        await lab.placement.inventories(root),
        await lab.placement.traits(root),
      ])
    return shown
  }
  /** Reads each provider and its allocations anew. */
  const driftOf = async (name: string) => {
    const { items } = value(await world.control.drift.list(name, {}))
    return items.map(({ host, root, trouble, entries }) => ({ host, root, trouble, entries }))
  }

  test('all of it is there, each provider once and below its own compute node, which is not touched', async () => {
    const before = await rootsShown()
    for (const [at, host] of [...roots.keys()].entries()) await world.shows(host, planOf(at))
    const written = () => world.plane.sweeper.placer!.counts().changes
    await expect.poll(() => written().inventory, { timeout: 540_000, interval: 250 }).toBe(COUNT)
    expect(written()).toMatchObject({ created: COUNT, removed: 0, renamed: 0, moved: 0 })
    const owned = await lab.placement.owned()
    if (!owned.ok) throw new Error(owned.reason)
    const below = Map.groupBy(owned.value, ({ parent }) => parent)
    expect([owned.value.length, below.size]).toEqual([COUNT, HOSTS])
    for (const [host, root] of roots) {
      const names = below.get(root)?.map(({ name }) => name) ?? []
      expect(new Set(names).size).toBe(DEVICES)
      expect(names.every((name) => name.startsWith(`${host}_`))).toBe(true)
    }
    expect(await rootsShown()).toEqual(before)
  }, 600_000)
  test('nothing differs, and a comparison of all hosts writes nothing', async () => {
    const compared = async () => {
      const before = lab.asked.length
      value(await world.control.drift.heal(NOVA, null))
      const asked = lab.asked.slice(before)
      return { asked: asked.length, writes: asked.filter((line) => !line.startsWith('GET ')) }
    }
    const first = await compared()
    expect(first.writes).toEqual([])
    // a provider is not read while it has the generation in which it agreed
    expect(first.asked).toBe(HOSTS)
    const some = [...roots].filter((_, at) => at % SAMPLE === 0)
    for (const [host, root] of some) expect(await driftOf(host)).toEqual([{ host, root, trouble: null, entries: [] }])
  }, 600_000)
})
