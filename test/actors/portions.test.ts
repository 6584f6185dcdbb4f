/**
 * What is asked for or written in portions: a list that is one longer than a portion is crossed once, and nothing is
 * asked for in vain.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Reads } from '../../src/actors/runtime/ports.ts'
import { createGuard } from '../../src/actors/runtime/unreadable.ts'
import { createVisibility } from '../../src/services/kernel/visibility.ts'
import { openReaders } from '../../src/services/kernel/readers.ts'
import { silent } from '../../src/log.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'

const uuids = (count: number) => Array.from({ length: count }, () => randomUUID())
/** Notes how many UUIDs each read of the view asks for. */
const counted = (reads: Reads, view: string) => {
  const sizes: number[] = []
  const page: Reads['page'] = async (query) => {
    const { uuid } = query.where as { readonly uuid?: readonly string[] }
    if (query.view === view && uuid) sizes.push(uuid.length)
    return reads.page(query)
  }
  return { sizes, reads: { ...reads, page } }
}

test('whose requests they are is asked of a thousand at once', async () => {
  const { sizes, reads } = counted(memoryStore().reads, 'arqs')
  const visibility = createVisibility({ readers: openReaders(reads, createGuard(silent)) })
  value(await visibility(TENANT, uuids(1000)))
  value(await visibility(TENANT, uuids(1001)))
  value(await visibility(TENANT, []))
  expect(sizes).toEqual([1000, 1000, 1])
})

test('handles that lost rows name are looked up five hundred at once', async () => {
  const store = memoryStore()
  const { sizes, reads } = counted(store.reads, 'handles')
  const { plane } = await openPlane({ reads }, store)
  const named = (count: number) =>
    [{ key: 'arq/x', command: 'c', events: [{ type: 'Lost', of: uuids(count) }] }] as const
  for (const count of [500, 501, 0])
    value(await plane.adoption(NOVA, named(count), { by: 'operator', reason: 'rows are lost' }))
  expect(sizes).toEqual([500, 500, 1])
  await plane.stop()
})

test('at a start without orders nothing is put off', async () => {
  const store = memoryStore({ exclusive: true })
  let calls = 0
  const sharing: typeof store.sharing = {
    ...store.sharing,
    postponeOrders: async (orders) => {
      calls++
      await store.sharing.postponeOrders(orders)
    },
  }
  const { plane } = await openPlane({ sharing }, store)
  expect(calls).toBe(0)
  await plane.stop()
})
