/** The result of an audit stays in the store that was audited. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/persistence/open.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { commandHere } from '../support/commandHere.ts'

describe('in a data folder', { timeout: 120_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), 'accelerando-last-audit-'))
  const dir = join(root, 'store')
  beforeAll(() => embeddedStoreIn(dir), 120_000)
  afterAll(() => rmSync(root, { recursive: true, force: true }))
  const stored = async () => {
    const store = await openStore({ kind: 'pglite', dir })
    try {
      return JSON.parse((await store.journal.checkpoint('audit')) || 'null') as unknown
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
    expect(await stored()).toMatchObject({ violations: 0, rows: 0 })
  })
})
