/** The end of the sweeper: what is closed after it is not in use any more. */
import { expect, test } from 'vitest'
import { systemClock } from '../../src/vocabulary/clock.ts'
import { openPlane } from '../support/plane.ts'
import { openTestStore } from '../support/stores.ts'

/** A store whose lists are answered when the gate opens. */
const gatedStore = async () => {
  const store = await openTestStore(systemClock.now)
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const page: typeof store.reads.page = async (query) => {
    asked.resolve()
    await gate.promise
    return store.reads.page(query)
  }
  return { store, reads: { ...store.reads, page }, gate, asked }
}

test('waits for the rounds under way', async () => {
  const { store, reads, gate, asked } = await gatedStore()
  const { plane } = await openPlane({ reads }, store)
  await asked.promise
  let stopped = false
  const stopping = plane.stop().then(() => {
    stopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).toBe(false)
  gate.resolve()
  await stopping
  await store.close()
})

test('does not wait for ever for a round that hangs', async () => {
  const { store, reads, gate, asked } = await gatedStore()
  const { plane } = await openPlane({ reads }, store)
  await asked.promise
  await plane.stop()
  gate.resolve()
  await store.close()
})
