/** How much services remember: what is one too many makes room, or is not remembered, and the rest goes on. */
import { expect, test } from 'vitest'
import type { Wanted } from '../../src/actors/placement/wanted.ts'
import type { DueKind } from '../../src/actors/runtime/dueKinds.ts'
import { done } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { createAdmission } from '../../src/services/arqs/quota.ts'
import { createLane } from '../../src/services/due/lanes.ts'
import { createProbe } from '../../src/services/hosts/probe.ts'
import { createDirectory } from '../../src/services/kernel/directory.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createAgreements } from '../../src/services/placement/agreements.ts'
import { reconcileProvider } from '../../src/services/placement/oneProvider.ts'
import { createProfiles } from '../../src/services/profiles/profiles.ts'
import { createInventorySnapshots } from '../../src/services/reports/inventorySnapshots.ts'
import { NODE, setUp, wantedCard } from '../actors/placementScenes.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, TENANT } from '../support/plane.ts'
import { BOOT, inventoryOf } from '../support/reports.ts'

/** Whether the n-th one is remembered; it is from then on. */
type Remembers = (n: number) => Promise<boolean>
const listed = (items: readonly object[]) => async () => done({ items, next: null })

const owners = (): Remembers => {
  let asked = 0
  const readers = { list: listed([]), first: async () => (asked++, done({ uuid: 'root' })) }
  const directory = createDirectory({ readers, clock: handClock() } as unknown as Kernel)
  return async (n) => {
    const before = asked
    await directory.find([{ arq: 'a', hostname: 'h', deviceRpUuid: `rp${n}`, instanceUuid: 'i' }])
    return asked === before
  }
}
const sums = (): Remembers => {
  let read = 0
  const admit = createAdmission({
    ...{ clock: handClock(), ids: { uuid: () => 'made' }, options: { arqsPerProject: 5 } },
    readers: { list: listed([]) },
    region: { readCurrent: async () => (read++, done({ state: { admitted: 0 } })) },
    units: { together: async () => done(null) },
  } as unknown as Kernel)
  return async (n) => {
    const before = read
    await admit({ ...TENANT, projectId: `p${n}` }, ['a1'], () => null)
    return read === before
  }
}
const profilesByName = (): Remembers => {
  let read = 0
  const state = { facts: null, holder: 'u1' }
  const region = { readCurrent: async () => (read++, done({ state })) }
  const { byName } = createProfiles({ region, placement: null } as unknown as Kernel)
  return async (n) => {
    const before = read
    const found = byName(`name${n}`)
    // the profile that had the name is read beside the holder of the name
    const isGuessed = read === before + 2
    await found
    return isGuessed
  }
}
const agreements = (): Remembers => {
  const { holds, note } = createAgreements()
  return async (n) => {
    const [wanted, provider] = [{ uuid: `u${n}` } as Wanted, { generation: 1 } as Parameters<typeof note>[1]]
    const known = holds(wanted, provider, undefined)
    if (!known) note(wanted, provider)
    return known
  }
}
const questions = (): Remembers => {
  let [sent, now] = [0, 0]
  const state = (key: EntityKey) => {
    const probe = { id: `question to ${key}`, by: 'op', at: 1, bootId: BOOT, answer: null }
    return { exists: true, name: key.slice(5), liveness: 'up', bootId: BOOT, probe }
  }
  const probe = createProbe({
    // no answer is waited for
    ...{ clock: { now: () => 1, monotonic: () => (now += 10_000) }, changes: { next: async () => {} } },
    ...{ ids: { uuid: () => 'made' }, publish: async () => void sent++ },
    // each command is a repeated one
    region: {
      tell: async () => done(null),
      readCurrent: async (_: unknown, key: EntityKey) => done({ state: state(key) }),
    },
  } as unknown as Kernel)
  return async (n) => {
    const before = sent
    await probe(NOVA, `h${n}`)
    return sent === before
  }
}

test.each<readonly [max: number, what: string, open: () => Remembers]>([
  [20_000, 'owners of resource providers', owners],
  [10_000, 'numbers of requests of projects', sums],
  [10_000, 'profiles by their name', profilesByName],
  [100_000, 'agreements of providers', agreements],
  [10_000, 'questions to hosts', questions],
])('%i %s are remembered, and all of them are forgotten for one more', async (max, _, open) => {
  const remembers = open()
  for (let n = 0; n < max; n++) if (await remembers(n)) throw new Error(`${n} is not known yet`)
  expect(await remembers(0)).toBe(true)
  expect(await remembers(max)).toBe(false)
  expect([await remembers(max), await remembers(0)]).toEqual([true, false])
})

test('of inventories those of a hundred thousand hosts are remembered; one more is not, until a host is replaced', async () => {
  const { take, isFrom } = createInventorySnapshots(
    { clock: handClock(), journal: { incarnation: 0 } },
    { changedAt: () => null },
  )
  const usual = { boot: BOOT, digest: 'd', complete: true, changedAt: null, incarnation: 0 }
  const taken = (n: number, signer: string) =>
    take(inventoryOf(`h${n}`, 1), { ...usual, number: 1, signer }, async () => false)
  for (let n = 0; n <= 100_000; n++) await taken(n, 'a')
  expect([isFrom('h99999', 'a'), isFrom('h100000', 'a')]).toEqual([true, false])
  await taken(99_999, 'b')
  expect([isFrom('h99999', 'a'), isFrom('h99999', 'b')]).toEqual([false, true])
})

test.each([
  [9997, 10_000],
  [9998, 3],
])('of %i names that Placement has, and three more, %i are remembered', async (before, after) => {
  const cloud = placementInMemory()
  setUp(cloud).node()
  const root = { uuid: NODE, name: 'h1', generation: 0, parent: null, root: NODE }
  const names = new Set(Array.from({ length: before }, (_, n) => `trait CUSTOM_${n}`))
  const tools = { placement: cloud.placement, clock: handClock(), root, tree: new Map(), names }
  expect(await reconcileProvider(tools, wantedCard, undefined)).toMatchObject({ state: 'in_sync' })
  expect([names.size, names.has('trait OWNER_CYBORG')]).toEqual([after, true])
})

test.each([
  [20_000, 'kept', true],
  [20_001, 'given up', false],
])('after claims of %i entities, the claim of the first of them is %s', async (count, _, isKept) => {
  const first: EntityKey = 'instance/first'
  const freed = new Set<EntityKey>()
  let due: readonly EntityKey[] = []
  const clock = handClock()
  const lane = createLane(
    {
      ...{ clock, log: memoryLog(), options: { claimMs: 8000 } },
      region: { readCurrent: async () => done(null) as never },
      sharing: {
        claimDue: async () => due.map((entity) => ({ entity, at: 1, kind: 'instance' })),
        unclaim: async (all: readonly EntityKey[]) => all.forEach((one) => freed.add(one)),
      } as unknown as Kernel['sharing'],
    },
    {
      ...{
        kinds: ['instance'] as readonly DueKind[],
        moment: () => 1,
        aheadMs: () => 1,
        room: () => 1,
        begin: () => {},
      },
      ...{ isInHand: () => false, ended: async () => {}, stop: async () => {} },
    },
  )
  const others = Array.from({ length: count - 1 }, (_, n): EntityKey => `instance/${n}`)
  const round = async (...claimed: readonly EntityKey[]) => {
    due = claimed
    await lane.round()
  }
  await round(first)
  await round(first)
  await round(...others)
  await round(first)
  freed.clear()
  await round()
  expect(freed.has(first)).toBe(!isKept)
})
