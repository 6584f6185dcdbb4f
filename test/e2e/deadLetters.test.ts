/** A message that nobody can read, over the whole system: it is listed, counted, and no longer counted once dropped. */
import { expect, test } from 'vitest'
import { openSystem } from '../../src/cli/programs/system.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { imagesOf } from '../sim/images.ts'
import { NOVA, value } from '../support/plane.ts'
import { resultOf } from '../support/reports.ts'
import { reportRecord } from '../../src/wire/message.ts'

test('dead letters of the whole system are counted until an operator has looked after them', async () => {
  const store = memoryStore()
  const system = await openSystem({ store, images: imagesOf(), nova: null, log: silent })
  try {
    const { deadLetters, overview } = system.plane.control
    const open = async () => value(await deadLetters.list({ state: 'open', limit: 10 })).items
    const counted = async () => value(await overview()).progress.found.deadLetters.count
    await system.bus.publish([
      { topic: 'host.reports.v1', key: 'h1', value: 'no JSON', headers: {} },
      { ...reportRecord(resultOf('h1', 1), 'r', 0), key: 'h2' },
    ])
    await expect.poll(open).toHaveLength(2)
    await expect.poll(counted, { timeout: 20_000 }).toBe(2)
    const [one, other] = await open()
    value(await deadLetters.drop(NOVA, one!.uuid, { by: 'a', reason: 'b' }))
    await expect.poll(counted, { timeout: 20_000 }).toBe(1)
    // it still cannot be read, so it comes back as another letter
    value(await deadLetters.replay(NOVA, other!.uuid, { by: 'a', reason: 'b' }))
    await expect.poll(async () => (await open()).map(({ uuid }) => uuid)).not.toContain(other!.uuid)
    await expect.poll(open).toHaveLength(1)
  } finally {
    await system.stop()
    await store.close()
  }
})
