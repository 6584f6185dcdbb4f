/**
 * An audit of a database that has lost rows and was adopted: what it declares as lost is no violation, and is named in
 * the output.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { figuresOf } from '../../src/cli/audit/figures.ts'
import { gatherEvidence } from '../../src/cli/audit/gather.ts'
import { auditLines } from '../../src/cli/audit/text.ts'
import { silent } from '../../src/log.ts'
import { openSource, type SnapshotSource } from '../../src/persistence/follow.ts'
import { recordsOn } from '../../src/persistence/incarnationSql.ts'
import { goOn, stoppedOf } from '../../src/persistence/stopped.ts'
import { id } from '../actors/samples.ts'
import { embeddedStoreIn, embeddedStoreMade } from '../support/embedded.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { bindStarted, created, journalOf } from './cases/scene.ts'
import { writeStore } from './written.ts'

const [ONE, THREE, TWO, OTHER] = [id(1), id(2), id(3), id(4)]
const HANDLE = id(9)
const caller = { projectId: 'p1', isAdmin: true, isService: true }
const NOW = Date.now()
const command = (row: number) => id(0x100 + row)
/** The ARQ exists; that it was bound is lost. */
const stored = journalOf(
  { ...created(ONE, { profileUuid: id(5) }), command: command(1) },
  { ...created(TWO, { profileUuid: id(5) }), command: command(2) },
).map((row) => ({
  ...row,
  at: NOW - 60_000,
}))
const started = bindStarted(HANDLE)
const lostRow = (arq: string, at: number) => ({
  key: `arq/${arq}` as const,
  version: 2,
  commandId: command(at % 100),
  events: [started],
  at,
  cause: {},
})
const asked = (act: string, arq: string, fromMs: number, more: object = {}) => ({
  act,
  fromMs,
  toMs: fromMs + 10,
  status: 202,
  caller,
  arqs: [arq],
  instance: 'i1',
  ...more,
})
const shown = (arq: string, fromMs: number) =>
  asked('get', arq, fromMs, {
    status: 200,
    arqs: [],
    shown: [{ uuid: arq, state: 'Bound', projectId: 'p1', handle: HANDLE }],
  })

/** What an audit of this database does, with the requests that clients recorded. */
const auditOf = (source: SnapshotSource, folder: string) => {
  const onDatabase = async (work: (database: Awaited<ReturnType<typeof openSource>>) => Promise<unknown>) => {
    const database = await openSource(source)
    try {
      await work(database)
    } finally {
      await database.close()
    }
  }
  /** Rows that a control misses; then, if so, an operator adopts what is left. */
  const lose = (rows: readonly ReturnType<typeof lostRow>[], adopts: boolean) =>
    onDatabase(async ({ read, write, transaction }) => {
      const records = recordsOn(write)
      expect(await records.keepLost(rows)).toBe(rows.length)
      await records.stop('rows are gone', false)
      const found = (await stoppedOf(read))!
      if (adopts) expect(await transaction((run) => goOn(run, found))).toBe(true)
    })
  const gathered = (clients: readonly object[]) => {
    const file = join(folder, 'client.ndjson')
    writeFileSync(file, clients.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const database = source.kind === 'postgres' ? { url: source.url } : null
    const options = { folder: true, file: null, topicFile: null, hostData: [], clients: [file], now: null }
    return gatherEvidence(
      {
        ...options,
        config: { database, data: folder, kafka: null },
        stopped: true,
        settled: false,
        slackMs: 100_000,
        skewMs: 0,
      },
      silent,
    )
  }
  const judged = async (clients: readonly object[]) => {
    const { evidence, sources } = await gathered(clients)
    const verdict = {
      sources,
      figures: figuresOf(evidence),
      invariants: 1,
      unjudged: [],
      violations: [],
      seconds: 0,
      memoryMb: 0,
    }
    return {
      names: check(evidence).map(({ invariant }) => invariant),
      lines: auditLines(verdict).filter((line) => line.startsWith('lost')),
      lost: (evidence.lost ?? []).map(({ rows }) => rows.map(({ key, version, events }) => [key, version, events])),
    }
  }
  return { lose, judged }
}
const bound = [asked('bind', ONE, NOW - 5000), shown(ONE, NOW - 4000)]
const first = [lostRow(ONE, NOW - 4995), lostRow(THREE, NOW - 3000)]
const declaredFirst = [`arq/${ONE}`, `arq/${THREE}`].map((key) => [key, 2, [started]])
const BY_ADOPTION = expect.stringMatching(/^lost +2 rows of 2 entities, declared lost by the adoption of 2/)

describe('an audit of an embedded database that was adopted', () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-adopted-'))
  const dir = join(root, 'store')
  beforeAll(async () => {
    await embeddedStoreMade()
    await embeddedStoreIn(dir)
    await writeStore({ kind: 'pglite', dir }, { journal: stored })
  }, 120_000)
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('judges by what it declares lost', { timeout: 120_000 }, async () => {
    const { lose, judged } = auditOf({ kind: 'pglite', dir }, root)
    await lose(first, true)
    expect(await judged(bound)).toEqual({ names: [], lines: [BY_ADOPTION], lost: [declaredFirst] })
  })
})

describeWith('postgres', 'an audit of a database that was adopted', (bin) => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-adopted-'))
  let drop = async () => {}
  let audit: ReturnType<typeof auditOf>
  beforeAll(async () => {
    const database = await freshDatabase(bin)
    drop = database.drop
    await writeStore({ kind: 'postgres', url: database.url }, { journal: stored })
    audit = auditOf({ kind: 'postgres', url: database.url }, root)
  }, 60_000)
  afterAll(async () => {
    rmSync(root, { recursive: true, force: true })
    await drop()
  })

  it('finds an acknowledged bind that is gone, as long as nothing declares it lost', async () => {
    expect(await audit.judged(bound)).toEqual({ names: ['S6', 'S7'], lines: [], lost: [] })
  })
  it('shows rows that nobody has adopted, and then each adoption with its rows', async () => {
    await audit.lose(first, false)
    const { lines } = await audit.judged([])
    expect(lines).toEqual([expect.stringMatching(/^lost +2 rows of 2 entities, not adopted: writing is stopped$/)])
    await audit.lose([], true)
    expect(await audit.judged(bound)).toEqual({ names: [], lines: [BY_ADOPTION], lost: [declaredFirst] })
    await audit.lose([lostRow(TWO, NOW - 2000)], true)
    const both = await audit.judged(bound)
    expect(both.lines).toHaveLength(2)
    expect(both.lost).toEqual([declaredFirst, [[`arq/${TWO}`, 2, [started]]]])
    expect(both.names).toEqual([])
  })
  it('still finds a request that no lost row names, one that was accepted afterwards, and a handle of two guests', async () => {
    const later = Date.now() + 10_000
    const names = async (...clients: readonly object[]) => (await audit.judged(clients)).names
    expect(await names(asked('bind', OTHER, NOW - 5000))).toContain('S6')
    expect(await names(asked('bind', ONE, later))).toContain('S6')
    expect(await names(...bound, asked('bind', TWO, later), shown(TWO, later + 100))).toContain('S1 clients')
  })
})
