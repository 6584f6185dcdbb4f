/** The doctor finds hosts that have one key, in journals of releases that did not refuse it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { put } from '../../src/actors/runtime/views.ts'
import { systemClock } from '../../src/clock.ts'
import { openSource } from '../../src/persistence/follow.ts'
import type { SnapshotSource } from '../../src/persistence/follow.ts'
import { inspectWork } from '../../src/persistence/inspectWork.ts'
import { openStore } from '../../src/persistence/open.ts'
import { queriesOn } from '../../src/persistence/typedQueries.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { hostRow, one } from './samples.ts'

const pinned = (key: string | null, did = 'pinned') => ({ type: 'LivenessSet', key: { did, name: '', key } })
const OTHER = { type: 'LivenessSet', liveness: 'down' }
/** What the journal says of the keys of each host, row by row. */
const HOSTS: Readonly<Record<string, readonly (readonly object[])[]>> = {
  alone: [[pinned('k2')], [pinned('k1', 'offered')]],
  first: [[pinned('k1')], [OTHER]],
  forgotten: [[pinned('k1')], [pinned(null, 'replaced')]],
  gone: [[pinned('k1')]],
  later: [[OTHER], [pinned('k3'), pinned('k1', 'replaced')]],
  renewed: [[pinned('k1')], [pinned('k4', 'replaced')]],
}
const sharedIn = async (source: SnapshotSource) => {
  const store = await openStore(source)
  for (const [name, all] of Object.entries(HOSTS)) {
    const view = put('hosts', hostRow(name, name === 'gone' ? 'removed' : 'up'))
    for (const [at, events] of all.entries()) {
      const append = one(`host/${name}`, at + 1, [view])
      const rows = append.rows.map((row) => ({ ...row, events: events as typeof row.events }))
      expect(await store.journal.append({ ...append, rows })).toBe('appended')
    }
  }
  await store.close()
  const database = await openSource(source)
  try {
    const queries = await queriesOn(database.read)
    return (await inspectWork(queries, systemClock, { relay: 'relay', bindDeadlineMs: 60_000 })).sharedKeys
  } finally {
    await database.close()
  }
}

describe('two hosts have the key that was accepted for both last, unless one was removed', () => {
  test('on the embedded database', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'accelerando-keys-'))
    try {
      await embeddedStoreIn(dir)
      expect(await sharedIn({ kind: 'pglite', dir })).toEqual([['first', 'later']])
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
})
describeWith('postgres', 'on a server', (bin) => {
  test('two hosts have the key that was accepted for both last, unless one was removed', async () => {
    const database = await freshDatabase(bin)
    try {
      expect(await sharedIn({ kind: 'postgres', url: database.url })).toEqual([['first', 'later']])
    } finally {
      await database.drop()
    }
  })
})
