import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { quiet, until } from '../support/lab.ts'
import { FPGA, GPU, NOVA, openCloud, TENANT, value } from './cloud.ts'
import { door } from './counters.ts'
import { expectRebuilt } from './rebuilt.ts'

describe('actors killed in the middle of a bind', () => {
  it.each(['arq', 'deployable', 'instance'] as const)(
    '%s: the bind is whole, and its state is read at once (S7)',
    async (kind) => {
      const gate = door()
      let closed = false
      const store = memoryStore({ beforeCommit: () => (closed ? gate.pass() : Promise.resolve()) })
      const cloud = await openCloud(GPU, { 'resources:PGPU': '1' }, {}, store)
      const [[arq], instance] = [await cloud.create(), randomUUID()]
      closed = true
      const binding = cloud.bind([arq!], instance)
      await until(() => gate.knocks() === 1)
      const keys = {
        arq: `arq/${arq}`,
        deployable: `deployable/${cloud.deployable.uuid}`,
        instance: `instance/${instance}`,
      }
      expect(cloud.plane.region.kill(keys[kind])).toBe(true)
      // its successor reads the journal before the append is written
      const early = cloud.control.arqs.get(NOVA, arq!)
      await quiet()
      closed = false
      gate.open()
      value(await binding)
      await early
      expect(await cloud.states([arq!])).toEqual(['Bound'])
      value(await cloud.control.arqs.removeByInstance(NOVA, instance))
      expect(await cloud.handleStates()).toEqual(['free', 'free'])
      await expectRebuilt(store)
      await cloud.stop()
    },
  )

  it('any of them, at any moment: every accepted bind ends, no handle is given twice, nothing is left behind', async () => {
    const store = memoryStore()
    const plan = { ...FPGA, devices: [{ kind: 'fpga' as const, handles: 16 }] }
    const cloud = await openCloud(plan, { 'resources:FPGA': '2' }, {}, store)
    const { region } = cloud.plane
    const shoot = setInterval(() => {
      const keys = region.residents()
      region.kill(keys[Math.floor(Math.random() * keys.length)]!)
    }, 1)
    const retried = async <Value>(
      act: () => Promise<{ ok: true; value: Value } | { ok: false; fault: { kind: string } }>,
    ) => {
      for (;;) {
        const done = await act()
        if (done.ok || done.fault.kind !== 'unavailable') return done
      }
    }
    const one = async () => {
      const arqs = value(await retried(() => cloud.control.arqs.create(TENANT, 'p'))).map(({ uuid }) => uuid)
      const instance = randomUUID()
      const bound = await retried(() => cloud.bind(arqs, instance))
      return { arqs, instance, accepted: bound.ok }
    }
    const binds = await Promise.all(Array.from({ length: 40 }, one))
    clearInterval(shoot)
    for (let n = 0; n < 3; n++) await cloud.pump()
    await cloud.plane.sweeper.round()
    const accepted = binds.filter((bind) => bind.accepted)
    expect(accepted).toHaveLength(8)
    for (const { arqs } of accepted) expect(await cloud.states(arqs)).toEqual(['Bound', 'Bound'])
    expect(new Set((await cloud.handles()).map(({ arq_uuid }) => arq_uuid)).size).toBe(16)
    for (const { instance } of binds) value(await cloud.control.arqs.removeByInstance(NOVA, instance))
    await cloud.pump()
    expect(new Set(await cloud.handleStates())).toEqual(new Set(['free']))
    await expectRebuilt(store)
    await cloud.stop()
  })
})
