import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { deciderOf } from '../../src/actors/entities.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { openCloud } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const CARD = (handles: number) => ({ seed: 1, devices: [{ kind: 'gpu' as const, handles }] })

/** Two control planes that share a journal and know nothing of each other. */
const openTwo = async (handles: number) => {
  const store = memoryStore({ exclusive: false })
  const one = await openCloud(CARD(handles), { 'resources:PGPU': '1' }, {}, store)
  const other = await openPlane({}, store)
  const stop = async () => {
    await Promise.all([one.stop(), other.plane.stop()])
  }
  return { one, other, store, controls: [one.control, other.control] as const, stop }
}

describe('two control planes over one journal', () => {
  it('grant 100 handles to 200 binds: exactly 100 are Bound, no handle twice (C4, S1)', async () => {
    const { one, controls, stop } = await openTwo(100)
    const results = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const control = controls[n % 2]!
        const [arq] = value(await control.arqs.create(TENANT, 'p'))
        return control.arqs.bind(NOVA, [one.bindingOf(arq!.uuid, randomUUID())])
      }),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(100)
    for (const result of results) if (!result.ok) expect(result.fault).toMatchObject({ kind: 'conflict' })
    const arqs = value(await one.control.arqs.list(NOVA, {}, {})).items.filter(({ state }) => state === 'Bound')
    expect(new Set(arqs.map(({ handle_uuid }) => handle_uuid)).size).toBe(100)
    const held = (await one.handles()).filter(({ state }) => state === 'held')
    expect(new Map(held.map(({ uuid, arq_uuid }) => [uuid, arq_uuid]))).toEqual(
      new Map(arqs.map((arq) => [arq.handle_uuid, arq.uuid])),
    )
    await stop()
  })
  it('given the same bind of one request, take one handle (W18)', async () => {
    const { one, controls, stop } = await openTwo(4)
    const [arq] = await one.create()
    const binding = one.bindingOf(arq!, randomUUID())
    const results = await Promise.all(controls.map((control) => control.arqs.bind(NOVA, [binding])))
    expect(results).toEqual([
      { ok: true, value: null },
      { ok: true, value: null },
    ])
    expect((await one.handles()).filter(({ state }) => state === 'held')).toHaveLength(1)
    await stop()
  })
  it('given binds of one request to two instances, bind it to one', async () => {
    const { one, controls, stop } = await openTwo(4)
    const [arq] = await one.create()
    const results = await Promise.all(
      controls.map((control) => control.arqs.bind(NOVA, [one.bindingOf(arq!, randomUUID())])),
    )
    expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    expect((await one.handles()).filter(({ state }) => state === 'held')).toHaveLength(1)
    await stop()
  })
  it('given a bind and a removal of one request, leave no handle without a request (W6, W7)', async () => {
    const { one, controls, stop } = await openTwo(4)
    for (let n = 0; n < 20; n++) {
      const [arq] = await one.create()
      await Promise.all([
        controls[0].arqs.bind(NOVA, [one.bindingOf(arq!, randomUUID())]),
        controls[1].arqs.remove(NOVA, [arq!]),
      ])
      await controls[0].arqs.remove(NOVA, [arq!])
    }
    expect(await one.handleStates()).toEqual(['free', 'free', 'free', 'free'])
    await stop()
  })
  it('see what the other did at once (S7), and refuse nothing that is no longer so', async () => {
    const { one, other, stop } = await openTwo(1)
    const first = await one.start()
    expect(value(await other.control.arqs.get(NOVA, first.arq)).state).toBe('Bound')
    value(await other.control.arqs.removeByInstance(NOVA, first.instance))
    const second = await one.start()
    expect(value(await other.control.arqs.get(NOVA, second.arq)).state).toBe('Bound')
    await stop()
  })
  it('bind nothing on a device that the other has disabled, and disable what the other has enabled (S9)', async () => {
    const { one, other, stop } = await openTwo(4)
    await one.start()
    const { uuid } = await one.device()
    value(await other.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    const [arq] = await one.create()
    expect(await one.bind([arq!], randomUUID())).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    value(await one.control.devices.setStatus(NOVA, uuid, 'enabled'))
    value(await other.control.devices.setStatus(NOVA, uuid, 'maintaining'))
    expect(await one.bind([arq!], randomUUID())).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    await stop()
  })
  it('give one name to one profile', async () => {
    const { controls, stop } = await openTwo(1)
    const profile = { name: 'q', description: null, groups: [{ 'resources:PGPU': '1' }] }
    const made = await Promise.all(controls.map((control) => control.profiles.create(NOVA, profile)))
    expect(made.filter(({ ok }) => ok)).toHaveLength(1)
    expect(made.find(({ ok }) => !ok)).toMatchObject({ fault: { kind: 'exists', field: 'name' } })
    await stop()
  })
})

describe('a deployable with a long journal', () => {
  it('recovers from its snapshot as from all its rows, and its views are those of a rebuild', async () => {
    const store = memoryStore()
    const cloud = await openCloud(CARD(2), { 'resources:PGPU': '1' }, {}, store)
    for (let n = 0; n < 320; n++) {
      const { instance } = await cloud.start()
      value(await cloud.control.arqs.removeByInstance(NOVA, instance))
    }
    const last = await cloud.start()
    const key = `deployable/${cloud.deployable.uuid}`
    const rows: JournalRow[] = (await store.journal.history([key], 10_000)).map((row) => row)
    expect(rows.length).toBeGreaterThan(600)
    const before = await cloud.plane.region.readCurrent(deciderOf(key), key)
    await cloud.stop()

    const recalled = (await store.journal.recall([{ key, after: 0 }])).get(key)!
    expect(recalled.snapshot?.version).toBe(512)
    const again = await openPlane({}, store)
    const after = await again.plane.region.readCurrent(deciderOf(key), key)
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
    expect(value(await again.control.arqs.get(NOVA, last.arq)).state).toBe('Bound')
    await again.plane.stop()

    await expectRebuilt(store)
  })
})
