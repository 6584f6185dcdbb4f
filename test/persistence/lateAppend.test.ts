/**
 * A statement that is under way when its request is answered 503 writes nothing afterwards (WRITER-4, decision 0049).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { describeWith } from '../support/needs.ts'
import { type Database as Fresh, freshDatabase } from '../support/postgres.ts'
import * as sample from './samples.ts'

describeWith('postgres', 'an append on PostgreSQL whose time is over', (bin) => {
  let database: Fresh
  let store: Store
  let other: Client
  beforeEach(async () => {
    database = await freshDatabase(bin)
    store = await openStore({ kind: 'postgres', url: database.url })
    other = new Client(database.url)
    await other.connect()
  }, 60_000)
  afterEach(async () => {
    await other.end()
    await store.close()
    await database.drop()
  })

  test.each(['journal', 'arqs'])(
    'commits nothing when %s is locked for longer, others of its batch are written, and a repeat is',
    async (table) => {
      await other.query('begin')
      await other.query(`lock table ${table} in exclusive mode`)
      const row = () => [sample.arqChange(sample.arqRow())]
      const [late, patient] = [sample.one(sample.newKey(), 1, row()), sample.one(sample.newKey(), 1, row())]
      const verdicts = Promise.all([
        store.journal.append({ ...late, notAfter: performance.now() + 300 }),
        store.journal.append(patient),
      ])
      await wait(700)
      await other.query('commit')
      expect(await verdicts).toEqual(['busy', 'appended'])
      const versions = ({ rows }: typeof late) => sample.versionsOf(store.journal, rows[0]!.key)
      expect([await versions(late), await versions(patient)]).toEqual([[], [1]])
      expect(await store.journal.append({ ...late, notAfter: performance.now() + 60_000 })).toBe('appended')
      expect(await versions(late)).toEqual([1])
    },
  )
})
