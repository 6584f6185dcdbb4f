/** What an operator decides, over a whole control plane: hosts, handles and binds that nobody else will end. */
import { systemIds } from '../../src/vocabulary/clock.ts'
import { newWork } from '../../src/services/kernel/kernel.ts'
import { ENTITIES } from '../../src/actors/entities.ts'
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { handClock } from '../support/lab.ts'
import { type Cloud, FPGA, GPU, NOVA, openCloud, TENANT, value } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const WORD = { by: 'op', reason: 'the rack is sold' }
const HOUR = 3_600_000

const clouds: { readonly cloud: Cloud; readonly clock: ReturnType<typeof handClock> }[] = []
const open = async (plan = FPGA, rc = 'FPGA') => {
  const clock = handClock()
  const group = { [`resources:${rc}`]: '1' }
  const cloud = await openCloud(plan, group, { clock, options: { sweepEveryMs: 24 * HOUR } }, undefined, 'when told')
  clouds.push({ cloud, clock })
  /** Hosts whose silence has been long enough are looked for every few rounds. */
  const sweep = async () => {
    for (let n = 0; n < 8; n++) await cloud.plane.sweeper.round()
  }
  const down = async () => {
    const work = newWork({ ids: systemIds, clock }, { by: 'liveness' }, (draft) =>
      draft.decide(ENTITIES['host']!, 'host/h1', { type: 'SetLiveness', liveness: 'down', by: '' }),
    )
    value(await cloud.plane.region.tell('host/h1', work))
  }
  const theHost = async () => value(await cloud.control.hosts.get(NOVA, 'h1'))
  /** The host carries out all it was told. */
  const work = async () => {
    await cloud.pump()
    for (const order of cloud.orders.splice(0)) await cloud.answer(order)
    await cloud.pump()
  }
  const bound = async () => {
    const made = await cloud.start()
    await work()
    expect(await cloud.states(made.arqs)).toEqual(['Bound'])
    return made
  }
  const counts = async () =>
    Object.fromEntries(Object.entries((await theHost()).handles).filter(([, count]) => count > 0))
  return { ...cloud, clock, sweep, down, theHost, work, bound, counts, shown: () => cloud.shows('h1', plan) }
}

/** Whatever an operator does, every invariant holds, and the views are what the journal folds to. */
const expectSound = async ({ store }: Cloud, now: number) => {
  expect(check({ journal: await store.journal.feed('', 10_000), now })).toEqual([])
  await expectRebuilt(store)
}
afterEach(async () => {
  for (const { cloud, clock } of clouds.splice(0)) {
    await expectSound(cloud, clock.now())
    await Promise.all([cloud.stop(), clock.pass(HOUR)])
  }
})

describe('a host that is retired', () => {
  it('offers nothing any more, and offers it again when it is restored and heard of', async () => {
    const world = await open(GPU, 'PGPU')
    const arqs = await world.create()
    expect(value(await world.control.hosts.retire(TENANT, 'h1', WORD))).toMatchObject({ retired: WORD, liveness: 'up' })
    expect(value(await world.control.deployables.list({}, {})).items).toEqual([])
    expect(value(await world.control.devices.list({}, {})).items).toEqual([])
    expect(await world.bind(arqs, randomUUID())).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
    await world.shown()
    expect(value(await world.control.deployables.list({}, {})).items).toEqual([])
    expect(value(await world.control.hosts.restore(TENANT, 'h1', WORD)).retired).toBe(null)
    await world.shown()
    expect(value(await world.control.deployables.list({}, {})).items).toHaveLength(1)
    value(await world.bind(arqs, randomUUID()))
  })
  it('keeps a device that is in use until it is given up, and grants no more of it', async () => {
    const world = await open()
    const { arqs } = await world.bound()
    await world.control.hosts.retire(TENANT, 'h1', WORD)
    expect(value(await world.control.devices.list({}, {})).items).toHaveLength(1)
    const more = await world.create()
    expect(await world.bind(more, randomUUID())).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    await world.shown()
    expect(await world.states(arqs)).toEqual(['Bound'])
    value(await world.control.arqs.unbind(NOVA, arqs))
    await world.work()
    await world.shown()
    expect(value(await world.control.devices.list({}, {})).items).toEqual([])
  })
  it('stays so in the list, and in every repeat', async () => {
    const world = await open()
    for (let n = 0; n < 2; n++) value(await world.control.hosts.retire(TENANT, 'h1', WORD))
    expect(value(await world.control.hosts.list({})).items).toMatchObject([{ name: 'h1', retired: WORD }])
    const rows = (await world.store.journal.feed('', 10_000)).filter(({ key }) => key === 'host/h1')
    expect(rows.flatMap(({ events }) => events).filter((event) => 'care' in event)).toHaveLength(1)
    expect(await world.control.hosts.retire(TENANT, 'h2', WORD)).toMatchObject({ fault: { kind: 'not_found' } })
  })
  it('is looked at again, though its picture is the one that is known', async () => {
    const world = await open()
    await world.shown()
    await world.sweep()
    const looked = value(await world.plane.region.readCurrent(ENTITIES['host']!, 'host/h1')).state
    const sighting = { host: 'h1', boot: looked.bootId, number: 3, digest: looked.digest }
    expect(world.plane.reports.unchanged(sighting)).toBe(true)
    await world.clock.pass(1)
    for (const decide of [world.control.hosts.retire, world.control.hosts.restore]) {
      value(await decide(TENANT, 'h1', WORD))
      await world.sweep()
      expect(world.plane.reports.unchanged({ ...sighting, number: 4 })).toBe(false)
    }
  })
})

describe('a host that is removed', () => {
  it('is refused with at most three of the handles that are in the way, each with its state', async () => {
    const world = await open()
    const binds = [await world.bound(), await world.bound(), await world.bound(), await world.bound()]
    const inTheWay = async () => {
      const rows = await world.handles()
      const by = (arq: string | null) => (arq === null ? '' : ` by accelerator request ${arq}`)
      return rows.flatMap(({ uuid, state, arq_uuid: arq }) =>
        state === 'free' ? [] : [`handle ${uuid} is ${state}${by(arq)}`],
      )
    }
    const refusal = async () => {
      const removed = await world.control.hosts.remove(TENANT, 'h1', WORD, false)
      return removed.ok || removed.fault.kind !== 'conflict' ? null : removed.fault.reason
    }
    const rest = 'retire it and wait until their requests release them, or remove it by force'
    const four = await inTheWay()
    expect(await refusal()).toBe(`host h1 is in use: ${four.slice(0, 3).join(', ')} and 1 more; ${rest}`)
    value(await world.control.arqs.unbind(NOVA, binds[0]!.arqs))
    await world.work()
    expect(await refusal()).toBe(`host h1 is in use: ${(await inTheWay()).join(', ')}; ${rest}`)
    // what is being released is in the way as well
    value(await world.control.arqs.unbind(NOVA, binds[1]!.arqs))
    const left = await inTheWay()
    expect(left.filter((one) => one.endsWith('is releasing'))).toHaveLength(1)
    expect(await refusal()).toBe(`host h1 is in use: ${left.join(', ')}; ${rest}`)
    await world.work()
  })
  it('must not be in use; the refusal says by whom', async () => {
    const world = await open()
    const { arq } = await world.bound()
    const refused = await world.control.hosts.remove(TENANT, 'h1', WORD, false)
    expect(refused).toMatchObject({ ok: false, fault: { kind: 'conflict', reason: expect.stringContaining(arq) } })
    expect((await world.theHost()).liveness).toBe('up')
  })
  it('stays removed whatever it reports, until it is restored', async () => {
    const world = await open()
    for (let n = 0; n < 2; n++) value(await world.control.hosts.remove(TENANT, 'h1', WORD, false))
    await world.shown()
    await world.sweep()
    expect(await world.theHost()).toMatchObject({
      liveness: 'removed',
      retired: WORD,
      last_seen_at: expect.any(Number),
    })
    expect(value(await world.control.deployables.list({}, {})).items).toEqual([])
    expect(value(await world.control.hosts.restore(TENANT, 'h1', WORD)).liveness).toBe('down')
    await world.shown()
    await world.sweep()
    expect((await world.theHost()).liveness).toBe('up')
    expect(value(await world.control.deployables.list({}, {})).items).toHaveLength(1)
  })
  it('by force is refused at once when the journal takes nothing; only what is in use again is tried again', async () => {
    const store = memoryStore({ now: Date.now })
    let removals = 0
    const append: Store['journal']['append'] = async (asked) => {
      const removal = asked.rows.some(({ events }) =>
        events.some((event) => 'care' in event && event.care === 'removed'),
      )
      if (removal) removals++
      return removal ? 'busy' : store.journal.append(asked)
    }
    const cloud = await openCloud(
      FPGA,
      { 'resources:FPGA': '1' },
      {},
      { ...store, journal: { ...store.journal, append } },
    )
    expect(await cloud.control.hosts.remove(TENANT, 'h1', WORD, true)).toMatchObject({ fault: { kind: 'unavailable' } })
    expect(removals).toBe(1)
    expect(value(await cloud.control.hosts.get(NOVA, 'h1'))).toMatchObject({ retired: WORD, liveness: 'up' })
    await cloud.stop()
  })
  it('by force ends what is bound on it, and forgets nothing that may be prepared there (S8)', async () => {
    const world = await open()
    const [one, two] = [await world.bound(), await world.start()]
    await world.down()
    value(await world.control.hosts.remove(TENANT, 'h1', WORD, true))
    expect(await world.states([one.arq, two.arq])).toEqual(['Unbound', 'Unbound'])
    expect(await world.theHost()).toMatchObject({ liveness: 'removed', arqs: [] })
    expect(await world.counts()).toEqual({ free: 2, quarantined: 2 })
    // the host was not gone for good after all
    value(await world.control.hosts.restore(TENANT, 'h1', WORD))
    await world.shown()
    expect(await world.counts()).toEqual({ free: 2, quarantined: 2 })
    await world.work()
    expect(await world.counts()).toEqual({ free: 4 })
  })
  it('lets a device go when an operator has released its last handle', async () => {
    const world = await open()
    await world.bound()
    await world.down()
    value(await world.control.hosts.remove(TENANT, 'h1', WORD, true))
    const [stuck] = value(await world.control.handles.list(NOVA, { state: 'quarantined' }, {})).items
    expect(value(await world.control.handles.release(TENANT, stuck!.uuid, WORD)).state).toBe('free')
    expect(value(await world.control.devices.list({}, {})).items).toEqual([])
    expect(await world.pending()).toEqual([])
  })
})

describe('an unbind by force', () => {
  it('ends at once, and says who and why', async () => {
    const world = await open()
    const { arq } = await world.bound()
    expect(value(await world.control.arqs.forceUnbind(TENANT, arq, WORD)).state).toBe('Unbound')
    expect(await world.counts()).toEqual({ free: 3, releasing: 1 })
    await world.work()
    expect(await world.counts()).toEqual({ free: 4 })
    const { steps } = value(await world.control.arqs.timeline(NOVA, arq))
    expect(steps.at(-1)).toMatchObject({ step: 'unbound by force', detail: WORD, cause: TENANT.userId })
  })
  it('leaves the handle in quarantine while the host is silent, until it has released it', async () => {
    const world = await open({ ...FPGA, devices: [{ kind: 'fpga', handles: 1 }] })
    const { arq, arqs } = await world.bound()
    await world.down()
    value(await world.control.arqs.forceUnbind(TENANT, arq, WORD))
    expect(await world.counts()).toEqual({ quarantined: 1 })
    expect(await world.bind(arqs, randomUUID())).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    await world.work()
    expect(await world.counts()).toEqual({ free: 1 })
    value(await world.bind(arqs, randomUUID()))
  })
  it('ends a bind that is under way', async () => {
    const world = await open()
    const { arq, arqs } = await world.start()
    value(await world.control.arqs.forceUnbind(TENANT, arq, WORD))
    await world.work()
    expect(await world.states(arqs)).toEqual(['Unbound'])
    expect(await world.counts()).toEqual({ free: 4 })
  })
  it('is harmless where nothing is bound, and when it is repeated', async () => {
    const world = await open()
    const [fresh] = await world.create()
    expect(value(await world.control.arqs.forceUnbind(TENANT, fresh!, WORD)).state).toBe('Initial')
    const { arq } = await world.bound()
    for (let n = 0; n < 2; n++) value(await world.control.arqs.forceUnbind(TENANT, arq, WORD))
    expect(await world.control.arqs.forceUnbind(TENANT, randomUUID(), WORD)).toMatchObject({
      fault: { kind: 'not_found' },
    })
  })
})

describe('a quarantined handle', () => {
  it('whose release failed says why; when an operator releases it, its host releases it first, and then its request is unbound', async () => {
    const world = await open()
    const { arq, arqs } = await world.bound()
    value(await world.control.arqs.unbind(NOVA, arqs))
    await world.pump()
    const order = world.orders.splice(0).at(-1)!
    await world.answer(order, { status: 'failed', reason: 'stuck', final: true })
    expect(await world.states([arq])).toEqual(['UnbindFailed'])
    const [shown, release] = [world.control.handles.get, world.control.handles.release]
    expect(value(await shown({ ...TENANT, isAdmin: true }, String(order.slot)))).toMatchObject({
      state: 'quarantined',
      quarantine: { by: 'failed release', reason: 'stuck' },
    })
    expect(value(await release(TENANT, String(order.slot), WORD))).toMatchObject({ state: 'releasing' })
    expect(await world.states([arq])).toEqual(['UnbindFailed'])
    await world.pump()
    await world.answer(world.orders.splice(0).at(-1)!, { status: 'done' })
    expect(value(await release(TENANT, String(order.slot), WORD))).toMatchObject({ state: 'free', quarantine: null })
    expect(await world.states([arq])).toEqual(['Unbound'])
  })
  it('names the request that gave it up, from then on until it is free', async () => {
    const world = await open({ ...FPGA, devices: [{ kind: 'fpga', handles: 1 }] })
    const [handle] = await world.handles()
    const shown = async (caller = TENANT) => {
      const {
        state,
        arq_uuid: holder,
        last_arq: last,
        order,
      } = value(await world.control.handles.get(caller, handle!.uuid))
      return [state, holder, last, order]
    }
    expect(await shown()).toEqual(['free', null, null, null])
    const { arq, arqs } = await world.bound()
    expect(await shown()).toEqual(['held', arq, null, null])
    expect(await shown({ ...TENANT, projectId: 'p2' })).toEqual(['held', null, null, null])
    value(await world.control.arqs.unbind(NOVA, arqs))
    expect(await shown()).toEqual(['releasing', null, arq, 2])
    await world.pump()
    await world.answer(world.orders.splice(0).at(-1)!, { status: 'failed', reason: 'stuck', final: true })
    expect(await shown()).toEqual(['quarantined', null, arq, null])
    expect(await shown({ ...TENANT, projectId: 'p2' })).toEqual(['quarantined', null, null, null])
    const kept = value(await world.control.handles.quarantine(TENANT, handle!.uuid, WORD))
    expect(kept.quarantine).toMatchObject(WORD)
    expect(await world.states(arqs)).toEqual(['UnbindFailed'])
    expect(value(await world.control.handles.release(TENANT, handle!.uuid, WORD)).quarantine).toBe(null)
    expect(await world.states(arqs)).toEqual(['Unbound'])
    expect(await shown()).toEqual(['free', null, null, null])
  })
  it('by hand is given to nobody; one that is held is refused', async () => {
    const world = await open({ ...FPGA, devices: [{ kind: 'fpga', handles: 2 }] })
    const [one] = value(await world.control.handles.list(NOVA, { state: 'free' }, {})).items
    const kept = value(await world.control.handles.quarantine(TENANT, one!.uuid, WORD))
    expect(kept).toMatchObject({ state: 'quarantined', quarantine: WORD })
    await world.bound()
    const more = await world.create()
    expect(await world.bind(more, randomUUID())).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    const [held] = value(await world.control.handles.list(NOVA, { state: 'held' }, {})).items
    expect(await world.control.handles.quarantine(TENANT, held!.uuid, WORD)).toMatchObject({
      fault: { kind: 'conflict', reason: expect.stringContaining('unbind that first') },
    })
  })
  it('that nobody knows is not found', async () => {
    const world = await open()
    for (const ask of [world.control.handles.quarantine, world.control.handles.release])
      expect(await ask(TENANT, randomUUID(), WORD)).toMatchObject({ fault: { kind: 'not_found' } })
  })
})
