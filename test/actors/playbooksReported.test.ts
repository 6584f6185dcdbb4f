/** What a host tells of its playbooks is recorded with its inventory, and shown with the host. */
import type { InventoryReport } from '../../src/wire/reports.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { createTestApp } from '../http/app.ts'
import { as, send } from '../http/steps.ts'
import { describeWith } from '../support/needs.ts'
import { openPlane } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { expectRebuilt } from './rebuilt.ts'

type PlaybookRun = NonNullable<InventoryReport['playbooks']>[number]

const AT = Date.UTC(2026, 0, 1)
const RUN: PlaybookRun = {
  driver: 'some_driver',
  playbook: 'setup',
  status: 'failed',
  startedAt: AT,
  finishedAt: AT + 1000,
  reason: 'exit status 2',
  output: 'line\nthe card is not\0 there\n',
}
const SECTION = { driver: 'some_driver', status: 'ok', devices: [] } as const
const SHOWN = {
  driver: 'some_driver',
  playbook: 'setup',
  status: 'failed',
  started_at: '2026-01-01T00:00:00+00:00',
  finished_at: '2026-01-01T00:00:01+00:00',
}

const over = (pool: Pool): void => {
  afterAll(() => pool.end())
  test('and forgotten when a later start tells nothing of it', async () => {
    const lab = await openPlane({}, await pool.take(() => AT))
    const app = createTestApp(lab.control)
    const playbooks = async (roles = 'admin') =>
      (await send(app, 'GET /v2/hosts/h1', { headers: as(roles) })).json.playbooks
    const recorded = async () =>
      (await lab.store.journal.feed(await lab.store.journal.checkpoint('nobody'), 100)).length

    await lab.report('h1', [SECTION], undefined, { playbooks: [RUN] })
    expect(await playbooks()).toEqual([{ ...SHOWN, reason: RUN.reason, output: 'line\nthe card is not there\n' }])
    expect(await playbooks('manager,member,reader')).toEqual([{ ...SHOWN, reason: null, output: null }])

    const before = await recorded()
    await lab.report('h1', [SECTION], undefined, { playbooks: [RUN] })
    expect(await recorded()).toBe(before)

    const done: PlaybookRun = { ...RUN, status: 'done', reason: null, output: '' }
    await lab.report('h1', [SECTION], undefined, { playbooks: [done] })
    expect(await playbooks()).toMatchObject([{ status: 'done', reason: null, output: '' }])
    await lab.report('h1', [SECTION], undefined, {})
    expect(await playbooks()).toEqual([])
    await expectRebuilt(lab.store)
    await lab.plane.stop()
    await lab.store.close()
  })
}
describe('in memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))
