/** What is configured reaches the actors, and a stop leaves nothing behind. */
import { expect, test } from 'vitest'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import { openSystem } from '../../src/cli/programs/system.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { imagesOf } from '../sim/images.ts'
import { until } from '../support/lab.ts'
import { NOVA, value } from '../support/plane.ts'

test('options of the control are in force: a quota of one request', async () => {
  const store = memoryStore()
  const control = { ...CONTROL_DEFAULTS, arqsPerProject: 1 }
  const system = await openSystem({ store, images: imagesOf(), nova: null, log: silent, control })
  try {
    const { profiles, arqs } = system.plane.control
    value(await profiles.create(NOVA, { name: 'p', description: null, groups: [{ 'resources:FPGA': '1' }] }))
    expect((await arqs.create(NOVA, 'p')).ok).toBe(true)
    expect(await arqs.create(NOVA, 'p')).toMatchObject({ ok: false, fault: { kind: 'forbidden' } })
  } finally {
    await system.stop()
    await store.close()
  }
})

test('a stop gives back what this process held, and takes nothing more', async () => {
  const store = memoryStore()
  const [taken, released] = [new Set<string>(), [] as string[]]
  const sharing: typeof store.sharing = {
    ...store.sharing,
    acquire: async (name, ...given) => (taken.add(name), store.sharing.acquire(name, ...given)),
    release: async (name, ...given) => {
      released.push(name)
      await store.sharing.release(name, ...given)
    },
  }
  const parts = { images: imagesOf(), nova: null, log: silent, archiveEndedMs: 1 }
  const system = await openSystem({ ...parts, store: { ...store, sharing } })
  await until(() => taken.has('archive') && system.relay.state().active)
  expect(system.writes()).toBeNull()
  await system.stop()
  expect(released.toSorted()).toEqual([...taken].toSorted())
  expect(released[0]).toBe('archive')
  expect(system.relay.state().active).toBe(false)
  const record = { topic: 'host.orders.v1', key: 'h', value: '', headers: {} }
  await expect(system.bus.publish([record])).rejects.toThrow('stopped')
  await store.close()
})
