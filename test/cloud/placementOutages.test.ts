/**
 * Two control planes over one PostgreSQL beside a real Placement that is killed, paused and cut off, while the
 * inventory changes and somebody else changes Placement. At the end nothing differs, and S11 and L3 hold over the whole
 * journal.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import { findingsOf } from '../../src/audit/check.ts'
import { placementInvariants } from '../../src/audit/placement.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type FaultyProxy, type Harm, faultyProxy } from '../neighbours/faultyProxy.ts'
import { describeWith, needs } from '../support/needs.ts'
import { type PlacementLab, placementLab, uniqueName } from '../support/placementLab.ts'
import { providersSeen, writesSeen } from '../support/placementSeen.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { type Database, freshDatabase } from '../support/postgres.ts'
import { CLOUD, type RiggedCloud, START_MS, startCloud } from './rig.ts'

const OPTIONS = { placementAuditMs: 5000, staleAfterMs: 86_400_000, downAfterMs: 172_800_000, missingRounds: 1 }
const PLAN = {
  seed: 1,
  devices: [
    { kind: 'fpga', handles: 4, hostWork: false },
    { kind: 'gpu', handles: 2 },
  ],
} as const
/** As long as L3 gives it, and as long as a host may wait before Placement is tried again. */
const IN_STEP_MS = 120_000
const FAULT_MS = 6000
const CHANGE_EVERY_MS = 250

type Plane = Awaited<ReturnType<typeof openPlane>>
/** `foreign`: the compute node, and a provider of somebody else below it. */
type Host = { readonly name: string; readonly foreign: readonly string[] }
type Card = { readonly device: string; readonly provider: string }
type Stage = {
  readonly cloud: RiggedCloud
  readonly proxy: FaultyProxy
  readonly database: Database
  readonly stores: readonly Store[]
  readonly planes: readonly Plane[]
  /** As Nova and operators use Placement, past the proxy. */
  readonly nova: PlacementLab
  readonly labs: readonly PlacementLab[]
  readonly hosts: readonly Host[]
}

const openStage = async (rig: string): Promise<Stage> => {
  const cloud = await startCloud(rig, 3600)
  const nova = placementLab(sessionOptions(cloud.authUrl))
  const hosts: Host[] = []
  for (let at = 0; at < 4; at++) {
    const name = uniqueName()
    const root = await nova.node(name)
    hosts.push({ name, foreign: [root, await nova.child(root)] })
  }
  const proxy = await faultyProxy(cloud.placementUrl)
  await cloud.restart(proxy.url)
  const database = await freshDatabase(needs('postgres').at!)
  const stores = await Promise.all([1, 2].map(() => openStore({ kind: 'postgres', url: database.url })))
  const labs = stores.map(() => placementLab({ ...sessionOptions(cloud.authUrl), timeoutMs: 2000 }))
  const planes: Plane[] = []
  for (const [at, { placement }] of labs.entries())
    planes.push(await openPlane({ placement, options: OPTIONS }, stores[at]))
  return { cloud, proxy, database, stores, planes, nova, labs, hosts }
}

/** Each is injected for some seconds, and ended. */
const FAULTS: readonly (readonly [string, (stage: Stage) => Promise<() => unknown>])[] = [
  [
    'killed',
    async ({ cloud, proxy }) => {
      await cloud.signalPlacement('KILL')
      return () => cloud.restart(proxy.url)
    },
  ],
  [
    'paused',
    async ({ cloud }) => {
      await cloud.signalPlacement('STOP')
      return () => cloud.signalPlacement('CONT')
    },
  ],
  ...(
    [
      ['cut off', { kind: 'resetBefore' }],
      ['cut off after it has done what was asked', { kind: 'resetAfter' }],
      ['silent after it has done what was asked', { kind: 'silentAfter' }],
      ['answering 503', { kind: 'answer', status: 503, body: '{}' }],
    ] satisfies readonly (readonly [string, Harm])[]
  ).map(([name, harm]) => {
    let asked = 0
    // not all of it, so that passes get to each of their steps
    const when = () => asked++ % 3 > 0
    return [name, async ({ proxy }: Stage) => proxy.inject({ harm, when }).remove] as const
  }),
]

const cardsOf = async ({ planes: [first], hosts }: Stage): Promise<readonly Card[]> => {
  const { items } = value(await first!.control.deployables.list({}, {}))
  expect(items).toHaveLength(hosts.length * PLAN.devices.length)
  return items
    .filter(({ num_accelerators: units }) => units === 4)
    .map(({ device_uuid: device, rp_uuid: provider }) => ({ device, provider: provider! }))
}

/**
 * Binds with and without an allocation, ends some, disables and enables, and changes Placement behind the service's
 * back.
 */
const changes = async (stage: Stage, cards: readonly Card[], isOver: () => boolean): Promise<number> => {
  const { planes, nova } = stage
  const bound: string[] = []
  const { control } = planes[0]!
  value(await control.profiles.create(NOVA, { name: 'one', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  let made = 0
  for (; !isOver(); made++) {
    const [{ control: on }, { device, provider }] = [planes[made % planes.length]!, cards[made % cards.length]!]
    const turn = Math.floor(made / cards.length) % 6
    if (turn === 0 || turn === 2)
      value(await on.devices.setStatus(NOVA, device, turn === 0 ? 'maintaining' : 'enabled'))
    if (turn === 3) {
      const instanceUuid = randomUUID()
      const [arq] = value(await on.arqs.create(NOVA, 'one'))
      const told = await on.arqs.bind(NOVA, [{ arq: arq!.uuid, hostname: 'h', deviceRpUuid: provider, instanceUuid }])
      if (told.ok) bound.push(instanceUuid)
      if (made % 2 === 0) await nova.allocate(instanceUuid, { [provider]: { FPGA: 1 } }).catch(() => null)
    }
    const over = turn === 5 && bound.length > 4 ? bound.shift() : undefined
    if (over !== undefined) value(await on.arqs.removeByInstance(NOVA, over))
    // an operator, while Placement can be reached
    if (turn === 4) await nova.setTraits(provider, ['OWNER_CYBORG']).catch(() => null)
    if (turn === 1) await nova.placement.remove(provider)
    await sleep(CHANGE_EVERY_MS)
  }
  return made
}

const rowsOf = async ({ journal }: Store): Promise<readonly FeedRow[]> => {
  const rows: FeedRow[] = []
  for (let after = await journal.checkpoint('nobody'); ; after = rows.at(-1)!.position) {
    const more = await journal.feed(after, 500)
    rows.push(...more)
    if (more.length === 0) return rows
  }
}
describeWith(CLOUD, 'a real Placement that fails', (rig) => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(rig)
  }, START_MS)
  afterAll(async () => {
    for (const { plane } of stage?.planes ?? []) await plane.stop()
    for (const store of stage?.stores ?? []) await store.close()
    await Promise.all([...(stage?.labs ?? []), stage?.nova].map((lab) => lab?.close()))
    await stage?.proxy.close()
    await stage?.database.drop()
    await stage?.cloud.stop()
  }, 60_000)

  test('is in step again after it was killed, paused and cut off; nothing of others was written', async () => {
    const { planes, hosts, proxy } = stage
    for (const { name } of hosts) await planes[0]!.shows(name, PLAN)
    const cards = await cardsOf(stage)
    let over = false
    const changing = changes(stage, cards, () => over)
    for (const [name, strike] of FAULTS) {
      const mend = await strike(stage)
      await sleep(FAULT_MS)
      await mend()
      const passes = planes.map(({ plane }) => plane.sweeper.placer!.counts().passes)
      expect([name, passes.every(({ failed }) => failed === 0)]).toEqual([name, true])
      await sleep(FAULT_MS / 3)
    }
    over = true
    expect(await changing).toBeGreaterThan(cards.length * 6)
    const differing = async () => {
      const all = value(await planes[1]!.control.drift.list(null, {})).items
      const known = ['hardware', 'allocation_without_arq', 'arq_without_allocation']
      return all.flatMap(({ trouble, entries }) => [
        ...(trouble ? [trouble] : []),
        ...entries.filter(({ kind }) => !known.includes(kind)),
      ])
    }
    await expect.poll(differing, { timeout: IN_STEP_MS, interval: 1000 }).toEqual([])

    const foreign = new Set(hosts.flatMap((host) => host.foreign))
    const writes = writesSeen(proxy.asked, foreign)
    expect(writes.length).toBeGreaterThan(20)
    const providers = await providersSeen(
      stage.nova.placement,
      hosts.map(({ name }) => name),
    )
    const placement = { providers, writes, reserveSilent: CONTROL_DEFAULTS.reserveSilent }
    const evidence = { journal: await rowsOf(stage.stores[0]!), now: Date.now(), quiet: true, placement }
    expect(findingsOf(placementInvariants, evidence).flatMap(({ findings }) => findings)).toEqual([])
    // and it was really in trouble
    const counts = planes.map(({ plane }) => plane.sweeper.placer!.counts())
    expect(counts.reduce((sum, { troubles }) => sum + troubles.unanswered, 0)).toBeGreaterThan(10)
  }, 600_000)
})
