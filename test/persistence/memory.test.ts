/** What a simulation may do to the store in memory. */
import { expect, test } from 'vitest'
import { type MemoryOptions, memoryStore } from '../support/memoryStore/memory.ts'
import * as sample from './samples.ts'

const memoryJournal = (options?: MemoryOptions) => memoryStore(options).journal

test('a commit that fails before leaves nothing, one that fails after leaves all, and both are unknown', async () => {
  const key = sample.newKey()
  const fail = () => Promise.reject(new Error('as told'))
  const before = memoryJournal({ beforeCommit: fail })
  const after = memoryJournal({ afterCommit: fail })
  expect(await before.append(sample.one(key, 1))).toBe('unknown')
  expect(await sample.versionsOf(before, key)).toEqual([])
  expect(await after.append(sample.one(key, 1))).toBe('unknown')
  expect(await sample.versionsOf(after, key)).toEqual([1])
})

test('a read fails when it is told to', async () => {
  const journal = memoryJournal({ beforeRead: () => Promise.reject(new Error('as told')) })
  await expect(journal.recall([])).rejects.toThrow('as told')
  await expect(journal.feed('', 1)).rejects.toThrow('as told')
})

test('what is kept shares nothing with what was handed in', async () => {
  const journal = memoryJournal()
  const key = sample.newKey()
  const wanted = sample.one(key, 1, [sample.arqChange(sample.arqRow())])
  await journal.append(wanted)
  const [row] = (await journal.recall([{ key, after: 0 }])).get(key)!.rows
  expect(row).toEqual(expect.objectContaining(wanted.rows[0]!))
  expect(row!.events).not.toBe(wanted.rows[0]!.events)
})
