/** The database comes back without its last rows while controls live on, with memories of these rows. */
import { describe, expect, it } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import { inventoryDigest } from '../../src/wire/message.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { replacedStores } from '../support/replacedStore.ts'

const bootId = systemIds.uuid()
const GROUPS = [{ 'resources:FPGA': '1' }]
const opened = async () => {
  const stores = replacedStores()
  const a = await openPlane({}, stores.open())
  await a.shows('h', { seed: 1, devices: [{ kind: 'fpga', handles: 3, hostWork: false }] })
  value(await a.control.profiles.create(NOVA, { name: 'f', description: null, groups: GROUPS }))
  const b = await openPlane({}, stores.open())
  const [deployable] = value(await a.control.deployables.list({}, {})).items
  type Plane = typeof a
  const create = async ({ control }: Plane) => value(await control.arqs.create(NOVA, 'f'))[0]!.uuid
  const bind = ({ control }: Plane, arq: string) =>
    control.arqs.bind(NOVA, [
      { arq, hostname: 'h', deviceRpUuid: deployable!.rp_uuid!, instanceUuid: systemIds.uuid() },
    ])
  const holders = async () => {
    const arqs = value(await a.control.arqs.list(NOVA, {}, {})).items
    return arqs.flatMap(({ handle_uuid }) => (handle_uuid === null ? [] : [handle_uuid]))
  }
  return { stores, a, b, create, bind, holders }
}

describe('a journal that has gone back while controls live on', () => {
  it('never gives one attach handle twice', async () => {
    const { stores, a, b, create, bind, holders } = await opened()
    const one = await create(a)
    value(await bind(a, one))
    const before = (await stores.rows()).length
    value(await a.control.arqs.unbind(NOVA, [one]))
    await stores.goBack(before)
    // b grants what the journal shows as free; a still remembers the handle of `one` as free
    const [two, three] = [await create(b), await create(b)]
    value(await bind(b, two))
    value(await bind(a, three))
    const held = await holders()
    expect(held).toHaveLength(3)
    expect(new Set(held).size).toBe(3)
  })
  it('is what a control answers from, whatever it remembers', async () => {
    const { stores, a, create, bind } = await opened()
    const one = await create(a)
    const before = (await stores.rows()).length
    value(await bind(a, one))
    expect(value(await a.control.arqs.get(NOVA, one)).state).toBe('Bound')
    await stores.goBack(before)
    expect(value(await a.control.arqs.get(NOVA, one)).state).toBe('Initial')
    value(await bind(a, one))
    expect(value(await a.control.arqs.get(NOVA, one)).state).toBe('Bound')
  })
  it('and that went another way than a control remembers is followed', async () => {
    const { stores, a, b, create, bind } = await opened()
    const one = await create(a)
    const before = (await stores.rows()).length
    value(await bind(a, one))
    await stores.goBack(before)
    // as many rows as a remembers, and others
    value(await bind(b, one))
    value(await a.control.arqs.unbind(NOVA, [one]))
    expect(value(await b.control.arqs.get(NOVA, one)).state).toBe('Unbound')
    const [handle] = value(await b.control.handles.list(NOVA, { state: 'held' }, {})).items
    expect(handle).toBeUndefined()
  })
  it('lets the inventory of a host be recorded again that is among what was lost', async () => {
    const { stores, a } = await opened()
    const shown = { host: 'g', boot: bootId, number: 3, digest: '' }
    const before = (await stores.rows()).length
    const devices = await a.discovered('g', { seed: 2, devices: [{ kind: 'gpu', handles: 1 }] })
    const drivers = [{ driver: 'simulated_driver', status: 'ok' as const, devices }]
    const report = (number: number) =>
      ({ type: 'Inventory', host: 'g', bootId, number, observedAt: 1, version: '0', aliases: [], drivers }) as const
    value(await a.plane.reports.take(report(2), 'second'))
    const again = { ...shown, digest: inventoryDigest(report(3)) }
    expect(a.plane.reports.unchanged(again)).toBe(true)
    await stores.goBack(before)
    expect(a.plane.reports.unchanged(again)).toBe(false)
    value(await a.plane.reports.take(report(3), 'third'))
    expect(value(await a.control.hosts.list({})).items.map(({ name }) => name)).toContain('g')
    expect(a.plane.reports.unchanged({ ...again, number: 4 })).toBe(true)
  })
  it('does not keep an entity that it has lost', async () => {
    const { stores, a, create } = await opened()
    const before = (await stores.rows()).length
    const one = await create(a)
    await stores.goBack(before)
    expect(await a.control.arqs.get(NOVA, one)).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
  })
  it('takes a report again that it had recorded, and has lost', async () => {
    const stores = replacedStores()
    const a = await openPlane({}, stores.open(), 'when told')
    await a.shows('h', { seed: 1, devices: [{ kind: 'fpga', handles: 1 }] })
    value(await a.control.profiles.create(NOVA, { name: 'f', description: null, groups: GROUPS }))
    const [deployable] = value(await a.control.deployables.list({}, {})).items
    const arq = value(await a.control.arqs.create(NOVA, 'f'))[0]!.uuid
    const at = { arq, hostname: 'h', deviceRpUuid: deployable!.rp_uuid!, instanceUuid: systemIds.uuid() }
    value(await a.control.arqs.bind(NOVA, [at]))
    await a.pump()
    const before = (await stores.rows()).length
    await a.answer(a.orders[0]!)
    expect(value(await a.control.arqs.get(NOVA, arq)).state).toBe('Bound')
    await stores.goBack(before)
    // the same message: its command is one that the control remembers as carried out
    await a.answer(a.orders[0]!)
    expect(value(await a.control.arqs.get(NOVA, arq)).state).toBe('Bound')
    await a.plane.stop()
  })
})
