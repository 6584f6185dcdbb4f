import { ENTITIES } from '../../src/actors/entities.ts'
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { PACES } from '../../src/services/kernel/kernel.ts'
import type { ControlPlane } from '../../src/services/controlPlane.ts'
import type { Nova, NovaEvent } from '../../src/actors/neighbours.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { FPGA, GPU, openCloud } from './cloud.ts'

const HOUR = 3_600_000
/** The sweepers look only when they are told to. */
const options = { sweepEveryMs: 24 * HOUR }
const hearing = (answers = true) => {
  const heard: NovaEvent[] = []
  const nova: Nova = {
    notify: async (events) => {
      heard.push(...events)
      return answers
        ? events.map(({ tag }) => ({ tag, outcome: 'delivered', code: 200 }) as const)
        : new Promise<never>(() => {})
    },
  }
  return { heard, nova }
}
type Swept = readonly { readonly plane: ControlPlane }[]
/** Processes over one store; each is stopped at the end. */
const openShared = () => {
  const clock = handClock()
  const stores = memoryStores({ exclusive: false, now: clock.now })
  const planes: { readonly stop: () => Promise<void> }[] = []
  const first = async (plan = GPU, parts: object = {}) => {
    const group = plan === GPU ? 'PGPU' : 'FPGA'
    const opened = await openCloud(
      plan,
      { [`resources:${group}`]: '1' },
      { clock, options, ...parts },
      stores(),
      'when told',
    )
    planes.push(opened.plane)
    return opened
  }
  const another = async (parts: object = {}) => {
    const opened = await openPlane({ clock, options, ...parts }, stores(), 'when told')
    planes.push(opened.plane)
    return opened
  }
  const sweep = async (...swept: Swept) => {
    await Promise.all(swept.map(({ plane }) => plane.sweeper.round()))
    await Promise.all(swept.map(({ plane }) => plane.sweeper.idle()))
  }
  const stop = () => Promise.all([...planes.map((plane) => plane.stop()), clock.pass(HOUR)])
  return { clock, stores, first, another, sweep, stop }
}

describe('what a dead process has left undone', () => {
  it('is found by another: Nova hears of the bind, after the head start of who began with it (SWEEPER-3, L2)', async () => {
    const shared = openShared()
    const [silent, told] = [hearing(false), hearing()]
    const one = await shared.first(GPU, { nova: silent.nova })
    const two = await shared.another({ nova: told.nova })
    const { arq } = await one.start()
    await shared.clock.pass(2999)
    await shared.sweep(two)
    expect([silent.heard.length, told.heard.length]).toEqual([1, 0])
    await shared.clock.pass(1)
    await shared.sweep(two)
    expect(told.heard).toMatchObject([{ tag: arq, status: 'completed' }])
    await shared.clock.pass(60_000)
    await shared.sweep(two)
    expect(told.heard).toHaveLength(1)
    await two.plane.stop()
  })
  it('and claimed before it died is free when the claim is over (LANE-3, SHARING-3)', async () => {
    const shared = openShared()
    const [silent, hung, told] = [hearing(false), hearing(false), hearing()]
    const one = await shared.first(GPU, { nova: silent.nova })
    const dead = await shared.another({ nova: hung.nova })
    const two = await shared.another({ nova: told.nova })
    const { arq } = await one.start()
    await shared.clock.pass(3000)
    await dead.plane.sweeper.round()
    await quiet()
    expect(hung.heard).toHaveLength(1)
    // from here on it is seen to stand unchanged
    await shared.sweep(two)
    await shared.clock.pass(PACES.claimMs - 1)
    await shared.sweep(two)
    expect(told.heard).toEqual([])
    await shared.clock.pass(1)
    await shared.sweep(two)
    expect(told.heard).toMatchObject([{ tag: arq, status: 'completed' }])
    await two.plane.stop()
  })
})

describe('a deadline', () => {
  it('is ended by any process as soon as it has passed, whoever recorded it', async () => {
    const shared = openShared()
    const one = await shared.first(FPGA)
    const two = await shared.another()
    const { arq } = await one.start()
    const state = async () => value(await two.control.arqs.get(NOVA, arq)).state
    await shared.clock.pass(119_999)
    await shared.sweep(two)
    expect(await state()).toBe('BindStarted')
    await shared.clock.pass(1)
    await shared.sweep(two)
    expect(await state()).toBe('BindFailed')
    await shared.stop()
  })
})

describe('an order that waits for its answer', () => {
  it('is not sent again by a process that starts beside others, and by one of them when it is time (SWEEPER-5)', async () => {
    const shared = openShared()
    const one = await shared.first(FPGA)
    await one.start()
    await one.pump()
    await shared.clock.pass(9_000)
    const two = await shared.another()
    await shared.sweep(one, two)
    expect([one.orders.length, two.orders.length]).toEqual([1, 0])
    await shared.clock.pass(1_000)
    await shared.sweep(one, two)
    expect(one.orders.length + two.orders.length).toBe(2)
    await shared.sweep(one, two)
    expect(one.orders.length + two.orders.length).toBe(2)
    await shared.stop()
  })
})

const beat = (host: string) =>
  ({
    type: 'Heartbeat',
    host,
    bootId: randomUUID(),
    observedAt: 1,
    status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
  }) as const

describe('hosts of which each process hears some', () => {
  const opened = async () => {
    const shared = openShared()
    const one = await shared.first()
    const two = await shared.another()
    await two.shows('h2', { ...GPU, seed: 2 })
    const slow = async (...swept: Swept) => {
      for (let n = 0; n < 8; n++) await shared.sweep(...swept)
    }
    const liveness = async () =>
      value(await one.control.hosts.list({})).items.map(({ name, liveness: is }) => `${name} ${is}`)
    const live = async (plane: Swept[number], host: string) => plane.plane.reports.take(beat(host), randomUUID())
    return { ...shared, one, two, slow, liveness, live }
  }
  it('are up for all of them, and a silent one is stale once', async () => {
    const shared = await opened()
    const { one, two, clock, slow } = shared
    for (let n = 0; n < 20; n++) {
      await shared.live(one, 'h1')
      await shared.live(two, 'h2')
      await slow(one, two)
      await clock.pass(2000)
    }
    expect(await shared.liveness()).toEqual(['h1 up', 'h2 up'])
    const rows = async () => (await one.store.journal.feed('', 1000)).filter(({ key }) => key === 'host/h2').length
    const before = await rows()
    for (let n = 0; n < 10; n++) {
      await shared.live(one, 'h1')
      await slow(one, two)
      await clock.pass(2000)
    }
    expect(await shared.liveness()).toEqual(['h1 up', 'h2 stale'])
    expect(await rows()).toBe(before + 1)
    const [, h2] = value(await one.control.hosts.list({})).items
    expect(clock.now() - h2!.last_seen_at!).toBeGreaterThanOrEqual(19_000)
    expect(clock.now() - h2!.last_seen_at!).toBeLessThan(24_000)
    await shared.stop()
  })
  it('are not called silent by processes that come back after long, and not up either (LIVENESS-1, LIVENESS-2)', async () => {
    const shared = await opened()
    await shared.slow(shared.one, shared.two)
    await shared.clock.pass(20_000)
    await shared.slow(shared.one)
    expect(await shared.liveness()).toEqual(['h1 stale', 'h2 stale'])
    await shared.live(shared.two, 'h2')
    await shared.slow(shared.two)
    expect(await shared.liveness()).toEqual(['h1 stale', 'h2 up'])
    await shared.clock.pass(2 * HOUR)
    const back = await shared.another()
    await shared.slow(back)
    expect(await shared.liveness()).toEqual(['h1 stale', 'h2 up'])
    await shared.clock.pass(15_000)
    await shared.live(back, 'h2')
    await shared.slow(back)
    expect(await shared.liveness()).toEqual(['h1 stale', 'h2 up'])
    await shared.stop()
  })
})

describe('what is recorded twice', () => {
  const opened = async () => {
    const shared = openShared()
    const log = memoryLog()
    const one = await shared.first(GPU, { log })
    const { arq } = await one.start()
    const check = async (...swept: Swept) => {
      await shared.clock.pass(60_000)
      for (let n = 0; n < 8; n++) await shared.sweep(...swept)
    }
    const said = () =>
      log.said.filter(({ level }) => level === 'error').map(({ message, detail }) => ({ message, ...detail }))
    return { ...shared, one, arq, log, check, said }
  }
  it('is compared now and then, by one process, and says the same', async () => {
    const shared = await opened()
    const two = await shared.another()
    await shared.check(shared.one, two)
    const counts = [shared.one, two].map(({ plane }) => plane.counts())
    expect(counts.filter(({ viewsChecked }) => viewsChecked > 0)).toHaveLength(1)
    expect(counts.every(({ viewsDiffer, orphans }) => viewsDiffer + orphans === 0)).toBe(true)
    expect(shared.said()).toEqual([])
    await shared.stop()
  })
  it.each(['differs', 'missing', 'spare'] as const)('and what %s is counted and named', async (what) => {
    const shared = await opened()
    const { one, arq } = shared
    const [row] = (await one.store.reads.page({ view: 'arqs', where: {}, sort: 'uuid', limit: 1 }))!
    const due = { entity: `instance/${randomUUID()}`, kind: 'instance', at: shared.clock.now() + 10 * HOUR }
    const [handle] = (await one.handles()).filter(({ arq_uuid }) => arq_uuid === arq)
    const changes = {
      differs: [put('arqs', { ...row!, state: 'Initial' })],
      missing: [{ view: 'handles' as const, key: handle!.uuid, row: null }],
      spare: [put('due', due)],
    }[what]
    await one.store.journal.append({ rows: [], changes })
    await shared.check(one)
    const lastAt = { viewsDiffer: expect.any(Number), orphans: null }
    expect(one.plane.counts()).toMatchObject({ viewsDiffer: 1, orphans: 0, lastAt })
    expect(shared.said()).toMatchObject([{ message: 'views.differ', differences: [{ what }] }])
    await shared.stop()
  })
  it('an entity that changes while it is compared is left for another time (CHECKS-2)', async () => {
    const { stores, clock, one, arq, log, sweep, stop } = await opened()
    const store = stores()
    let changed = 0
    const page = (async (query) => {
      if (query.view === 'arqs' && 'uuid' in query.where && changed++ === 0)
        value(await one.control.arqs.unbind(NOVA, [arq]))
      return store.reads.page(query)
    }) as typeof store.reads.page
    const two = await openPlane({ clock, options, log }, { ...store, reads: { ...store.reads, page } }, 'when told')
    await clock.pass(60_000)
    for (let n = 0; n < 8; n++) await sweep(two)
    expect(changed).toBeGreaterThan(0)
    expect(two.plane.counts()).toMatchObject({ viewsDiffer: 0, viewsChecked: expect.any(Number) })
    expect(two.plane.counts().viewsChecked).toBeGreaterThan(0)
    await two.plane.stop()
    await stop()
  })
  it('a handle held for an ARQ that does not hold it is counted and named', async () => {
    const shared = await opened()
    const { one, arq } = shared
    const { version } = (
      (await one.plane.region.readCurrent(ENTITIES['arq']!, `arq/${arq}`)) as { value: { version: number } }
    ).value
    const events = [{ type: 'Unbound', was: null }]
    const row = { key: `arq/${arq}`, version: version + 1, commandId: randomUUID(), events, at: 1, cause: {} }
    await one.store.journal.append({ rows: [row], changes: [] })
    await shared.check(one)
    expect(one.plane.counts()).toMatchObject({ orphans: 1, lastAt: { orphans: expect.any(Number) } })
    expect(shared.said().map(({ message }) => message)).toContain('handle.orphan')
    await shared.stop()
  })
})

describe('counts', () => {
  it('say how often a process was overtaken, and that it was carried out all the same', async () => {
    const shared = openShared()
    const one = await shared.first({ seed: 1, devices: [{ kind: 'gpu', handles: 40 }] })
    const two = await shared.another()
    const group = [{ 'resources:PGPU': '1' }]
    value(await one.control.profiles.create(NOVA, { name: 'gpus', description: null, groups: group }))
    const arqs = await Promise.all(
      Array.from({ length: 40 }, async () => value(await one.control.arqs.create(TENANT, 'gpus'))[0]!.uuid),
    )
    const controls = [one.control, two.control]
    const bound = await Promise.all(
      arqs.map((arq, at) => controls[at % 2]!.arqs.bind(NOVA, [one.bindingOf(arq, randomUUID())])),
    )
    expect(bound.every(({ ok }) => ok)).toBe(true)
    const [a, b] = [one.plane.counts(), two.plane.counts()]
    expect(a.fences + b.fences).toBeGreaterThan(0)
    expect(a.retries + b.retries).toBeGreaterThan(0)
    expect(a.retries + b.retries).toBeLessThanOrEqual(a.fences + b.fences)
    expect(a.givenUp + b.givenUp + a.unknown + b.unknown).toBe(0)
    // no handle is left: refused from memory, and again by the journal's tail
    const before = two.plane.counts().refusedAfterLook
    const [late] = value(await two.control.arqs.create(TENANT, 'gpus'))
    expect((await two.control.arqs.bind(NOVA, [one.bindingOf(late!.uuid, randomUUID())])).ok).toBe(false)
    expect(two.plane.counts().refusedAfterLook).toBe(before + 1)
    // a handle was given back elsewhere: refused from memory, accepted by the journal's tail
    const saved = two.plane.counts().savedByLook
    value(await one.control.arqs.remove(NOVA, [arqs[0]!]))
    expect((await two.control.arqs.bind(NOVA, [one.bindingOf(late!.uuid, randomUUID())])).ok).toBe(true)
    expect(two.plane.counts().savedByLook).toBe(saved + 1)
    await shared.stop()
  })
})
