/** What `seed` leaves for the relay: nothing of its own, and everything that was not published before. */
import { expect, test } from 'vitest'
import { seed } from '../../src/cli/store/seed.ts'
import { RELAY } from '../../src/delivery/relay/options.ts'
import { silent } from '../../src/log.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { createWriter } from '../delivery/eventsLab.ts'

const SIZE = { hosts: 1, devices: 1, handles: 2, arqs: 1, projects: 1 }

test('what it has loaded counts as published', async () => {
  const store = memoryStore()
  expect(await seed(store, SIZE, silent)).toMatchObject({ bound: 1, added: 1 })
  expect(await store.journal.checkpoint(RELAY)).toBe(await store.journalEnd())
  expect(await seed(store, SIZE, silent)).toEqual({ bound: 1, added: 0, rows: 0 })
})
test('what was recorded before and not published is still to be published', async () => {
  const store = memoryStore()
  await createWriter(store).create('p1')
  const before = await store.journal.checkpoint(RELAY)
  expect(await seed(store, SIZE, silent)).toMatchObject({ bound: 1, added: 1 })
  expect(await store.journal.checkpoint(RELAY)).toBe(before)
})
test('without anything to load, the place of the relay stays', async () => {
  const store = memoryStore()
  const before = await store.journal.checkpoint(RELAY)
  expect(await seed(store, { ...SIZE, arqs: 0 }, silent)).toEqual({ bound: 0, added: 0, rows: 0 })
  expect(await store.journal.checkpoint(RELAY)).toBe(before)
})
test('as many ARQs as there are free handles fit, and no more; fewer than there are cannot be asked for', async () => {
  const store = memoryStore()
  await expect(seed(store, { ...SIZE, arqs: 3 }, silent)).rejects.toThrow(
    '3 ARQs need as many free attach handles, and there are 2',
  )
  expect(await seed(store, { ...SIZE, arqs: 2 }, silent)).toMatchObject({ bound: 2, added: 2 })
  await expect(seed(store, SIZE, silent)).rejects.toThrow(
    'the store holds 2 bound ARQs already, more than the 1 asked for',
  )
})
