/** What the database keeps of lost rows and of a stop: on PostgreSQL, and as the simulation has it. */
import { describe, expect, test } from 'vitest'
import type { FeedRow, Journal, JournalRow } from '../../src/actors/runtime/ports.ts'
import { type IncarnationRecords, openIncarnation, remembering } from '../../src/persistence/incarnation.ts'
import { recordsOn } from '../../src/persistence/incarnationSql.ts'
import { memoryStores } from '../../src/persistence/memory/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import { postgresDatabase } from '../../src/persistence/postgres/postgres.ts'
import { goOn, stoppedOf } from '../../src/persistence/stopped.ts'
import { simCustody } from '../sim/incarnationRecords.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import * as sample from './samples.ts'

const GRACE_MS = 15_000

type Opened = {
  readonly journal: Journal
  readonly records: IncarnationRecords
  /** Lost rows that nobody has adopted; null: writing is not stopped. */
  readonly stopped: () => Promise<readonly { readonly key: string; readonly version: number }[] | null>
  /** Adopts what is shown now. */
  readonly adopt: () => Promise<boolean>
  readonly close: () => Promise<void>
}

const contract = (open: () => Promise<Opened>) => {
  const opened = async (work: (of: Opened) => Promise<void>) => {
    const of = await open()
    try {
      await work(of)
    } finally {
      await of.close()
    }
  }
  const lost = (key: string, version = 1): JournalRow => sample.one(key, version).rows[0]!

  test('a row that the journal holds is not lost', () =>
    opened(async ({ journal, records, stopped }) => {
      const append = sample.one(sample.newKey(), 1)
      expect(await journal.append(append)).toBe('appended')
      const incarnation = openIncarnation(GRACE_MS)
      incarnation.wrote(append.rows)
      await incarnation.checkSession(records)
      expect(await stopped()).toBeNull()
    }))
  test('rows that are gone stop all writing, whether they were written or read, and are listed', () =>
    opened(async ({ records, stopped }) => {
      const [written, read] = [lost(sample.newKey()), lost(sample.newKey(), 3)]
      const incarnation = openIncarnation(GRACE_MS)
      incarnation.wrote([written])
      incarnation.read([read])
      await incarnation.checkSession(records)
      const named = (await stopped())!.map(({ key, version }) => `${key} ${version}`)
      expect(new Set(named)).toEqual(new Set([`${written.key} 1`, `${read.key} 3`]))
      await expect(incarnation.look(records)).rejects.toThrow('writing is stopped: the database has lost rows')
    }))
  test('rows that were adopted stop nobody again; others that were found meanwhile keep the stop', () =>
    opened(async ({ records, stopped, adopt }) => {
      const [one, two] = [lost(sample.newKey()), lost(sample.newKey())]
      const incarnation = openIncarnation(GRACE_MS)
      incarnation.wrote([one])
      await incarnation.checkSession(records)
      expect(await adopt()).toBe(true)
      await incarnation.checkSession(records)
      expect(await stopped()).toBeNull()
      incarnation.wrote([two])
      await incarnation.checkSession(records)
      expect((await stopped())!.map(({ key }) => key)).toEqual([two.key])
    }))
}

describe('lost rows, in the simulation', () =>
  contract(async () => {
    const store = memoryStores({ exclusive: false })()
    const rows: FeedRow[] = []
    const records = simCustody({ now: () => 0, rows: () => rows, isReadOnly: () => false })
    const append: Journal['append'] = async (wanted) => {
      const verdict = await store.journal.append(wanted)
      rows.splice(0, rows.length, ...(await store.journal.feed('', 1000)))
      return verdict
    }
    return {
      journal: { ...store.journal, append },
      records: records.reached(1),
      stopped: async () => records.stopped()?.lost ?? null,
      adopt: async () => records.goOn(records.stopped()!.lost),
      close: store.close,
    }
  }))

describeWith('postgres', 'lost rows, on PostgreSQL', (bin) =>
  contract(async () => {
    const { url, drop } = await freshDatabase(bin)
    const store = await openStore({ kind: 'postgres', url })
    const database = await postgresDatabase({ url, readers: 1 })
    return {
      journal: store.journal,
      records: recordsOn(database.write),
      stopped: async () => (await stoppedOf(database.read))?.lost ?? null,
      adopt: async () => {
        const shown = (await stoppedOf(database.read))!
        return database.transaction((run) => goOn(run, shown))
      },
      close: async () => {
        await database.close()
        await store.close()
        await drop()
      },
    }
  }),
)

describe('a journal whose process remembers', () => {
  const remembered = () => {
    const [written, read]: [JournalRow[], JournalRow[]] = [[], []]
    const { checkSession, look } = openIncarnation()
    const incarnation = {
      wrote: (rows: readonly JournalRow[]) => void written.push(...rows),
      read: (rows: readonly JournalRow[]) => void read.push(...rows),
      checkSession,
      look,
    }
    return { incarnation, written, read }
  }
  test('knows what was acknowledged, and nothing that was refused', async () => {
    const { incarnation, written } = remembered()
    const journal = remembering(memoryStores({ exclusive: false })().journal, incarnation)
    const [key, append] = [sample.newKey(), sample.one]
    const first = append(key, 1)
    expect(await journal.append(first)).toBe('appended')
    expect(await journal.append(append(key, 1))).toBe('stale')
    expect(written).toEqual(first.rows)
  })
  test('knows an append whose answer was lost, once it was found in the tail', async () => {
    const { incarnation, written, read } = remembered()
    const stores = memoryStores({ exclusive: false, afterCommit: () => Promise.reject(new Error('no answer')) })
    const journal = remembering(stores().journal, incarnation)
    const [key, append] = [sample.newKey(), sample.one]
    const first = append(key, 1)
    expect(await journal.append(first)).toBe('unknown')
    expect(written).toEqual([])
    await journal.recall([{ key, after: 0 }])
    expect(read.map(({ commandId }) => commandId)).toEqual(first.rows.map(({ commandId }) => commandId))
  })
  test('knows what its relay has read of others', async () => {
    const { incarnation, read } = remembered()
    const open = memoryStores({ exclusive: false })
    const key = sample.newKey()
    await open().journal.append(sample.one(key, 1))
    await remembering(open().journal, incarnation).feed('', 10)
    expect(read.map((row) => row.key)).toEqual([key])
  })
})
