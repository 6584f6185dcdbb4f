/** A physical function and its virtual functions, as drivers of any kind report them: they are never both given. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ReportedDevice, ReportedHandle } from '../../src/vocabulary/hardware.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { card, inventoryOf, part, slot } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

type Section = InventoryReport['drivers'][number]

const BUS = 0x18
const PHYSICAL = '0000:18:00.0'
const whole: ReportedHandle = { type: 'PCI', info: slot(BUS) }
const half = (fn: number): ReportedHandle => ({ type: 'PCI', info: slot(BUS, fn), physfn: PHYSICAL })
const device = (fn: number, name: string, handle: ReportedHandle, more: Partial<ReportedDevice> = {}) =>
  card(BUS, {
    controlPath: { type: 'PCI', info: JSON.stringify(slot(BUS, fn)) },
    deployables: [part(name, { numAccelerators: 1, handles: [handle] })],
    ...more,
  })
const pf = device(0, 'h1_pf', whole)
const vf = (fn: number) => device(fn, `h1_vf${fn}`, half(fn))
const by = (driver: string, ...devices: readonly ReportedDevice[]): Section => ({
  driver,
  status: 'ok',
  devices: [...devices],
})
const silent = (driver: string): Section => ({ driver, status: 'failed', error: 'no answer' })

describe('an SR-IOV device', () => {
  let world: Awaited<ReturnType<typeof openPlane>>
  let seen: ReturnType<typeof inventoryOf>
  beforeEach(async () => {
    world = await openPlane()
    seen = inventoryOf(world)
    const groups = [{ 'resources:FPGA': '1' }]
    value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups }))
  })
  afterEach(async () => {
    await expectRebuilt(world.store)
    await world.plane.stop()
  })

  const reports = (...sections: readonly Section[]) => world.report('h1', [...sections])
  const present = async () =>
    (await seen.deployables()).flatMap(({ name, presence }) => (presence === 'present' ? [name] : [])).toSorted()
  const asking = async (name: string) => {
    const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
    const found = (await seen.deployables()).find((one) => one.name === name)!
    const instanceUuid = crypto.randomUUID()
    const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: found.rp_uuid!, instanceUuid }
    return {
      ask: () => world.control.arqs.bind(NOVA, [binding]),
      release: async () => value(await world.control.arqs.removeByInstance(NOVA, instanceUuid)),
    }
  }
  const bind = async (name: string) => {
    const { ask, release } = await asking(name)
    return { bound: await ask(), release }
  }
  const isRefused = async (name: string) => expect((await bind(name)).bound).toMatchObject({ ok: false })

  it.each([
    ['by one driver', [by('a', pf, vf(1), vf(2))]],
    ['by two drivers', [by('a', pf), by('b', vf(1), vf(2))]],
    ['by two drivers, the other way round', [by('b', vf(1), vf(2)), by('a', pf)]],
  ])('shown with both kinds of functions %s gives the virtual ones', async (_name, sections) => {
    await reports(...sections)
    expect(await present()).toEqual(['h1_vf1', 'h1_vf2'])
  })
  it('whose physical function is whitelisted in another spelling of its address gives the virtual ones', async () => {
    const spelled = {
      ...vf(1),
      deployables: [
        part('h1_vf1', { numAccelerators: 1, handles: [{ ...half(1), physfn: '0000:18:00.0'.toUpperCase() }] }),
      ],
    }
    const padded = { type: 'PCI' as const, info: { domain: '0x0000', bus: '18', device: '0', function: '0' } }
    await reports(by('a', device(0, 'h1_pf', padded), spelled))
    expect(await present()).toEqual(['h1_vf1'])
  })
  it('whose virtual functions are created while the physical one is bound gives them when it is released', async () => {
    await reports(by('a', pf))
    const { release } = await bind('h1_pf')
    for (const sections of [[by('a', vf(1))], [by('a', pf, vf(1))], [by('a', pf), by('b', vf(1))], [by('a', vf(1))]]) {
      await reports(...sections)
      expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_pf'])
    }
    await release()
    await isRefused('h1_pf')
    await reports(by('a', vf(1)))
    expect(await present()).toEqual(['h1_vf1'])
    expect((await bind('h1_vf1')).bound).toMatchObject({ ok: true })
  })
  it('whose physical function is quarantined gives no virtual one before an operator releases it', async () => {
    await reports(by('a', pf))
    const [handle] = await seen.handles()
    const note = { by: 'operator', reason: 'looked at' }
    value(await world.control.handles.quarantine(NOVA, handle!.uuid, note))
    for (let n = 0; n < 4; n++) await reports(by('a', vf(1)))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_pf'])
    const rows = await seen.rows()
    await reports(by('a', vf(1)))
    expect(await seen.rows()).toBe(rows)
    value(await world.control.handles.release(NOVA, handle!.uuid, note))
    await reports(by('a', vf(1)))
    expect(await present()).toEqual(['h1_vf1'])
  })
  it('whose quarantined physical function has left the inventory gives no virtual one before an operator releases it', async () => {
    await reports(by('a', pf))
    const [handle] = await seen.handles()
    const note = { by: 'operator', reason: 'looked at' }
    value(await world.control.handles.quarantine(NOVA, handle!.uuid, note))
    for (let n = 0; n < 3; n++) await reports(by('a'))
    expect(await seen.devices()).toEqual([])
    for (let n = 0; n < 3; n++) await reports(by('a', vf(1)))
    expect(await seen.devices()).toEqual([])
    // it is the same when it is shown again, so that it can be released
    await reports(by('a', pf))
    value(await world.control.handles.release(NOVA, handle!.uuid, note))
    await reports(by('a', vf(1)))
    expect(await present()).toEqual(['h1_vf1'])
    expect((await bind('h1_vf1')).bound).toMatchObject({ ok: true })
  })
  it('whose physical function is shown while a virtual one is bound gives it when that is released', async () => {
    await reports(by('a', vf(1), vf(2)))
    const { release } = await bind('h1_vf1')
    await reports(by('a', pf))
    expect(await present()).toEqual([])
    await isRefused('h1_vf2')
    await release()
    await reports(by('a', pf))
    expect(await present()).toEqual(['h1_pf'])
  })
  it('changes over at once when nothing of it is used, and what is not given any more is refused', async () => {
    await reports(by('a', pf))
    await reports(by('a', vf(1), vf(2)))
    expect(await present()).toEqual(['h1_vf1', 'h1_vf2'])
    await isRefused('h1_pf')
    await reports(by('a', pf))
    expect(await present()).toEqual(['h1_pf'])
    await isRefused('h1_vf1')
  })
  it('of which both kinds were bound before the relation was known gives nothing more until one kind is free', async () => {
    const unrelated = (fn: number) => device(fn, `h1_vf${fn}`, { type: 'PCI', info: slot(BUS, fn) })
    await reports(by('a', pf, unrelated(1), unrelated(2)))
    const [first] = [await bind('h1_pf'), await bind('h1_vf1')]
    await reports(by('a', vf(1), vf(2)))
    await isRefused('h1_vf2')
    await first.release()
    await reports(by('a', vf(1), vf(2)))
    expect(await present()).toEqual(['h1_vf1', 'h1_vf2'])
  })
  it('is not taken over while the driver of what is recorded is silent', async () => {
    await reports(by('a', pf), by('b'))
    await reports(silent('a'), by('b', vf(1)))
    expect(await present()).toEqual(['h1_pf'])
    await reports(by('a'), by('b', vf(1)))
    expect(await present()).toEqual(['h1_vf1'])
    await reports(by('a', pf), silent('b'))
    expect(await present()).toEqual(['h1_vf1'])
  })
  it('writes nothing more once it is settled which functions are given', async () => {
    const both = [by('a', pf), by('b', vf(1))]
    for (let n = 0; n < 4; n++) await reports(...both)
    const rows = await seen.rows()
    for (let n = 0; n < 4; n++) await reports(...both)
    expect(await seen.rows()).toBe(rows)
  })
  it('as one device with a deployable for each function follows the same rule', async () => {
    const nic = (...functions: readonly (readonly [string, ReportedHandle])[]) =>
      card(BUS, {
        deployables: functions.map(([name, handle]) => part(name, { numAccelerators: 1, handles: [handle] })),
      })
    await reports(by('a', nic(['h1_pf', whole], ['h1_vf1', half(1)])))
    expect(await seen.devices()).toEqual([])
    await reports(by('a', nic(['h1_pf', whole])))
    const physical = await bind('h1_pf')
    await reports(by('a', nic(['h1_vf1', half(1)], ['h1_vf2', half(2)])))
    expect(await present()).toEqual([])
    await physical.release()
    await reports(by('a', nic(['h1_vf1', half(1)], ['h1_vf2', half(2)])))
    expect(await present()).toEqual(['h1_vf1', 'h1_vf2'])
    const virtual = await bind('h1_vf1')
    await reports(by('a', nic(['h1_pf', whole])))
    expect(await present()).toEqual([])
    await virtual.release()
    await reports(by('a', nic(['h1_pf', whole])))
    expect(await present()).toEqual(['h1_pf'])
  })
  it('gives way to its virtual functions also while its report is refused for a name of another device', async () => {
    await reports(by('a', pf, card(2)))
    const both = { ...pf, deployables: [...pf.deployables, part('h1_2', { handles: [] })] }
    await reports(by('a', both, card(2), vf(1)))
    expect(await present()).toEqual(['h1_2', 'h1_vf1'])
  })
  it('is given once when a bind and the report of the change-over come at the same time', async () => {
    const outcomes = new Set<string>()
    const after = async <Value>(ticks: number, act: () => Promise<Value>): Promise<Value> => {
      for (let left = ticks; left > 0; left--) await Promise.resolve()
      return act()
    }
    for (let ticks = -60; ticks < 60; ticks++) {
      await reports(by('a', pf))
      const { ask, release } = await asking('h1_pf')
      const [bound] = await Promise.all([
        after(Math.max(0, ticks), ask),
        after(Math.max(0, -ticks), () => reports(by('a', vf(1)))),
      ])
      outcomes.add(`${bound.ok ? 'bound' : 'refused'}, ${(await present()).join()}`)
      if (bound.ok) await release()
    }
    expect(['bound, ', 'refused, vf1']).toEqual(expect.arrayContaining([...outcomes]))
  })
  it('refuses a device that names no address as its physical function', async () => {
    await reports(by('a', device(1, 'h1_vf1', { ...half(1), physfn: 'the first card' }), card(2)))
    expect(await present()).toEqual(['h1_2'])
  })
})

describe('a function that another device shows now', () => {
  it('is not given there when a request is granted it while the report is compared', async () => {
    const store = memoryStore()
    let compared = async () => {}
    const page: typeof store.reads.page = async (query) => {
      if (query.view === 'deployables' && 'name' in query.where) await compared()
      return store.reads.page(query)
    }
    const world = await openPlane({ reads: { ...store.reads, page } }, store)
    const seen = inventoryOf(world)
    const nic = (...functions: readonly number[]) =>
      card(BUS, { deployables: functions.map((fn) => part(`h1_nic${fn}`, { handles: [half(fn)] })) })
    const groups = [{ 'resources:FPGA': '1' }]
    value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups }))
    await world.report('h1', [by('a', nic(1, 2))])
    const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
    const { rp_uuid: rp } = (await seen.deployables()).find(({ name }) => name === 'h1_nic1')!
    const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rp!, instanceUuid: crypto.randomUUID() }
    compared = async () => {
      compared = async () => {}
      value(await world.control.arqs.bind(NOVA, [binding]))
    }
    await world.report('h1', [by('a', nic(2), vf(1))])
    expect((await seen.handles()).map(({ state }) => state).toSorted()).toEqual(['free', 'held'])
    await world.plane.stop()
  })
})

describe('the same function shown by two drivers', () => {
  it('stays with the device that was recorded first, in whatever order they are named', async () => {
    const world = await openPlane()
    const seen = inventoryOf(world)
    const named = (net: string) => ({ type: 'PCI' as const, info: { ...slot(BUS, 1), physical_network: net } })
    const [one, other] = [
      device(0, 'h1_one', { type: 'PCI', info: slot(BUS, 1) }),
      device(5, 'h1_other', named('net0')),
    ]
    await world.report('h1', [by('a', one)])
    await world.report('h1', [by('b', other), by('a', one)])
    expect((await seen.deployables()).map(({ name, presence }) => [name, presence])).toEqual([['h1_one', 'present']])
    await world.plane.stop()
  })
})
