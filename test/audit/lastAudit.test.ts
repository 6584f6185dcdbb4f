/** The result of an audit stays in the store that was audited. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lastAudit } from '../../src/cli/audit/lastAudit.ts'
import { keepVerdict } from '../../src/cli/audit/audit.ts'
import type { Verdict } from '../../src/cli/audit/text.ts'
import { VERSION } from '../../src/cli/version.ts'
import { openStore } from '../../src/persistence/open.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { memoryLog } from '../support/lab.ts'
import { commandHere } from '../support/commandHere.ts'

const verdict = (more: Partial<Verdict> = {}): Verdict => ({
  sources: ['the database'],
  figures: { rows: 12 } as Verdict['figures'],
  invariants: 57,
  unjudged: [],
  violations: [],
  seconds: 1.26,
  memoryMb: 99,
  ...more,
})

const options = (data: string, more: object = {}) => ({
  config: { database: null, data, kafka: null },
  folder: true,
  file: null,
  topicFile: null,
  hostData: [],
  clients: [],
  now: null,
  stopped: true,
  settled: false,
  slackMs: 0,
  skewMs: 0,
  ...more,
})

describe('in a data folder', { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-last-audit-'))
  const dir = join(root, 'store')
  beforeAll(() => embeddedStoreIn(dir), 120_000)
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const stored = async () => {
    const store = await openStore({ kind: 'pglite', dir })
    try {
      return await lastAudit(store.journal)
    } finally {
      await store.close()
    }
  }
  test('the command keeps it, unless it is told not to', async () => {
    const env = { ACCELERANDO_LOG_LEVEL: 'silent' }
    const run = (...more: readonly string[]) => commandHere(['audit', '--data', root, '--stopped', ...more], env)
    expect((await run('--no-record')).code).toBe(0)
    expect(await stored()).toBeNull()
    expect((await run()).code).toBe(0)
    expect(await stored()).toMatchObject({ violations: 0, version: VERSION, rows: 0 })
  })
  test('where it cannot be kept, the audit counts all the same, and the log says why', async () => {
    const log = memoryLog()
    await keepVerdict(options(join(root, 'nowhere')), verdict(), log)
    expect(log.said).toEqual([
      {
        level: 'warn',
        detail: { reason: expect.stringContaining('holds no store') },
        message: 'audit.notRecorded',
      },
    ])
    await keepVerdict(options(join(root, 'nowhere'), { file: 'journal.ndjson' }), verdict(), log)
    expect(log.said).toHaveLength(1)
  })
})
