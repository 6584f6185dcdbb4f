import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Order } from '../../src/wire/orders.ts'
import { type Cloud, FPGA, NOVA, openCloud, TENANT, value } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

let cloud: Cloud
beforeEach(async () => {
  cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, {}, undefined, 'when told')
})
afterEach(async () => {
  await expectRebuilt(cloud.store)
  await cloud.stop()
})

/** Orders the hosts have been given since this was asked last. */
const given = async (): Promise<readonly Order[]> => {
  const before = cloud.orders.length
  await cloud.pump()
  return cloud.orders.slice(before)
}
const stuck = { status: 'failed', reason: 'stuck', final: false } as const
const bound = async () => {
  const started = await cloud.start()
  const [prepare] = await given()
  await cloud.answer(prepare!)
  return { ...started, prepare: prepare! }
}
/** Unbound, and its release has failed for good. */
const unbindFailed = async () => {
  const one = await bound()
  value(await cloud.control.arqs.unbind(NOVA, [one.arq]))
  const [release] = await given()
  await cloud.answer(release!, { ...stuck, final: true })
  return { ...one, release: release! }
}
const free = ['free', 'free', 'free', 'free']

describe('unbind', () => {
  it('clears the request at once and lets its host release the handle', async () => {
    const { arq } = await bound()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    expect(value(await cloud.control.arqs.get(NOVA, arq))).toMatchObject({
      state: 'Unbound',
      instance_uuid: null,
      hostname: null,
      handle_uuid: null,
    })
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'releasing'])
    const [release] = await given()
    expect(release).toMatchObject({ type: 'ReleaseSlot', number: 2 })
    await cloud.answer(release!)
    expect(await cloud.handleStates()).toEqual(free)
  })
  it('is for services, and for requests that are there; repeated it changes nothing', async () => {
    const { arq } = await bound()
    expect(await cloud.control.arqs.unbind(TENANT, [arq])).toMatchObject({
      ok: false,
      fault: { kind: 'service_token' },
    })
    const unknown = randomUUID()
    expect(await cloud.control.arqs.unbind(NOVA, [arq, unknown])).toMatchObject({
      ok: false,
      fault: { kind: 'not_found', id: unknown },
    })
    expect(await cloud.states([arq])).toEqual(['Bound'])
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.control.arqs.unbind(NOVA, [arq, arq]))
    expect((await cloud.steps(arq)).filter((step) => step === 'unbound')).toHaveLength(1)
    await cloud.answer((await given())[0]!)
  })
  it('lets the request be bound again at once, on another handle while the first is being released', async () => {
    const { arq, prepare } = await bound()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.bind([arq], randomUUID()))
    const [release, second] = await given()
    expect(second).toMatchObject({ type: 'PrepareSlot', number: 3 })
    expect(second!.slot).not.toBe(prepare.slot)
    await cloud.answer(second!)
    await cloud.answer(release!)
    expect(await cloud.states([arq])).toEqual(['Bound'])
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'held'])
  })
})

describe('a release that fails', () => {
  it('is ordered again under a new number, and after the third time the request is UnbindFailed', async () => {
    const { arq } = await bound()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    for (const number of [2, 3, 4]) {
      const [release] = await given()
      expect(release).toMatchObject({ type: 'ReleaseSlot', number })
      expect(await cloud.states([arq])).toEqual(['Unbound'])
      await cloud.answer(release!, stuck)
    }
    expect(value(await cloud.control.arqs.get(NOVA, arq))).toMatchObject({ state: 'UnbindFailed', reason: 'stuck' })
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'quarantined'])
    expect(await cloud.steps(arq)).toContain('release failed on the host')
  })
  it('is tried again by another unbind, and ends well', async () => {
    const { arq, release } = await unbindFailed()
    expect(await cloud.states([arq])).toEqual(['UnbindFailed'])
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    const [again] = await given()
    expect(again).toMatchObject({ type: 'ReleaseSlot', slot: release.slot, number: 3 })
    await cloud.answer(again!)
    expect(await cloud.states([arq])).toEqual(['Unbound'])
    expect(await cloud.handleStates()).toEqual(free)
  })
  it('and fails again, is UnbindFailed again', async () => {
    const { arq } = await unbindFailed()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    await cloud.answer((await given())[0]!, { ...stuck, final: true })
    expect(await cloud.states([arq])).toEqual(['UnbindFailed'])
  })
  it('does not keep the request: it can be removed, and its handle is released by the way', async () => {
    const { arq } = await unbindFailed()
    value(await cloud.control.arqs.remove(NOVA, [arq]))
    await cloud.answer((await given())[0]!)
    expect(await cloud.handleStates()).toEqual(free)
    expect(value(await cloud.control.arqs.list(NOVA, {}, {})).items).toEqual([])
  })
  it('does not keep the request either when the hardware has left meanwhile', async () => {
    const { arq } = await unbindFailed()
    for (let n = 0; n < 3; n++) await cloud.shows('h1', { ...FPGA, devices: [] })
    expect(value(await cloud.control.deployables.list({}, {})).items).toEqual([])
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.control.arqs.remove(NOVA, [arq]))
  })
  it('that succeeds after the request is gone frees the handle', async () => {
    const { arq } = await bound()
    value(await cloud.control.arqs.remove(NOVA, [arq]))
    const [release] = await given()
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'releasing'])
    await cloud.answer(release!, stuck)
    await cloud.answer((await given())[0]!)
    expect(await cloud.handleStates()).toEqual(free)
  })
  it('does not touch the handle its request holds since', async () => {
    const { arq } = await bound()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    const instance = randomUUID()
    value(await cloud.bind([arq], instance))
    const [release, prepare] = await given()
    await cloud.answer(release!, { ...stuck, final: true })
    await cloud.answer(prepare!)
    expect(await cloud.states([arq])).toEqual(['Bound'])
    value(await cloud.control.arqs.removeByInstance(NOVA, instance))
    await cloud.answer((await given())[0]!)
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'quarantined'])
  })
})

describe('a bind that is cancelled', () => {
  it('by its removal releases what its host may have prepared, and the late result changes nothing', async () => {
    const { arq, instance } = await cloud.start()
    const [prepare] = await given()
    value(await cloud.control.arqs.removeByInstance(NOVA, instance))
    expect(value(await cloud.control.arqs.list(NOVA, { instance }, {})).items).toEqual([])
    const [release] = await given()
    expect(release).toMatchObject({ type: 'ReleaseSlot', slot: prepare!.slot, number: 2 })
    await cloud.answer(prepare!)
    expect(await cloud.handleStates()).toEqual(['free', 'free', 'free', 'releasing'])
    await cloud.answer(release!)
    expect(await cloud.handleStates()).toEqual(free)
    expect((await cloud.steps(arq)).at(-1)).toBe('deleted')
  })
  it('by an unbind leaves the instance free to be bound at once', async () => {
    const { arq, instance } = await cloud.start()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    const next = await cloud.create()
    value(await cloud.bind(next, instance))
    const [first, release, second] = await given()
    for (const order of [first!, second!, release!]) await cloud.answer(order)
    expect(await cloud.states([arq, ...next])).toEqual(['Unbound', 'Bound'])
  })
  it('and bound again takes no result of the order before', async () => {
    const { arq, instance } = await cloud.start()
    const [first] = await given()
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    value(await cloud.bind([arq], instance))
    await cloud.answer(first!)
    expect(await cloud.states([arq])).toEqual(['BindStarted'])
    const [, second] = await given()
    await cloud.answer(second!)
    expect(await cloud.states([arq])).toEqual(['Bound'])
  })
  it('whose results come twice, and in the wrong order, ends the same (S12)', async () => {
    const { arq } = await bound()
    const [prepare] = cloud.orders
    value(await cloud.control.arqs.unbind(NOVA, [arq]))
    const [release] = await given()
    for (const order of [release!, prepare!, release!, prepare!]) await cloud.answer(order)
    expect(await cloud.states([arq])).toEqual(['Unbound'])
    expect(await cloud.handleStates()).toEqual(free)
    expect(await given()).toEqual([])
  })
})

describe('removal', () => {
  it('by id removes all that are known and then names the others', async () => {
    const [arq, unknown] = [(await cloud.create())[0]!, randomUUID()]
    expect(await cloud.control.arqs.remove(TENANT, [arq, unknown, arq])).toMatchObject({
      ok: false,
      fault: { kind: 'not_found', id: unknown },
    })
    expect(value(await cloud.control.arqs.list(NOVA, {}, {})).items).toEqual([])
  })
  it('of a bound one is for services', async () => {
    const { arq } = await bound()
    expect(await cloud.control.arqs.remove(TENANT, [arq])).toMatchObject({
      ok: false,
      fault: { kind: 'service_token' },
    })
    expect(await cloud.states([arq])).toEqual(['Bound'])
  })
  it('of one of another project finds nothing', async () => {
    const [arq] = await cloud.create()
    const stranger = { ...TENANT, projectId: 'p2' }
    expect(await cloud.control.arqs.remove(stranger, [arq!])).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
    expect(await cloud.control.arqs.timeline(stranger, arq!)).toMatchObject({ ok: false, fault: { kind: 'not_found' } })
    expect(await cloud.states([arq!])).toEqual(['Initial'])
  })
  it('by instance is for services, and again and again the same', async () => {
    const { instance } = await bound()
    expect(await cloud.control.arqs.removeByInstance(TENANT, instance)).toMatchObject({
      ok: false,
      fault: { kind: 'service_token' },
    })
    for (let n = 0; n < 3; n++) value(await cloud.control.arqs.removeByInstance(NOVA, instance))
    await cloud.answer((await given())[0]!)
    expect(await cloud.handleStates()).toEqual(free)
  })
})
