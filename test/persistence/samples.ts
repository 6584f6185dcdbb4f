/** Appends for tests of the stores: small, valid, and each under keys of its own. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Append, FeedRow, Journal, JournalRow } from '../../src/actors/runtime/ports.ts'
import type { Row, ViewChange } from '../../src/actors/runtime/views.ts'
import { put } from '../../src/actors/runtime/views.ts'

export const AT = 1_790_000_000_000

export const journalRow = (key: string, version: number, commandId: string = randomUUID()): JournalRow => ({
  key,
  version,
  commandId,
  events: [
    {
      type: 'Noted',
      version,
      'zeta first': 1,
      alpha: [null, true, { deep: 'ü\\u0000 \u0007 😀' }],
    } as JournalRow['events'][number],
  ],
  at: AT + version,
  cause: { requestId: 'req-1', by: 'test' },
})

/** One command on several keys. */
export const unit = (
  keys: readonly (readonly [string, number])[],
  changes: readonly ViewChange[] = [],
  commandId: string = randomUUID(),
): Append => ({ rows: keys.map(([key, version]) => journalRow(key, version, commandId)), changes })

export const one = (key: string, version: number, changes: readonly ViewChange[] = []): Append =>
  unit([[key, version]], changes)
export const newKey = (): string => `arq/${randomUUID()}`

export const arqRow = (over: Partial<Row<'arqs'>> = {}): Row<'arqs'> => ({
  uuid: randomUUID(),
  state: 'Initial',
  project_id: 'p1',
  profile_uuid: '00000000-0000-4000-8000-000000000001',
  profile_name: 'profile',
  profile_version: null,
  group_id: 0,
  group: { 'resources:FPGA': '1', 'trait:A': 'required' },
  hostname: null,
  device_rp_uuid: null,
  instance_uuid: null,
  deployable_uuid: null,
  handle_uuid: null,
  handle_type: null,
  handle_info: null,
  reason: null,
  created_at: AT,
  updated_at: null,
  ...over,
})

export const profileRow = (name: string, uuid: string = randomUUID()): Row<'profiles'> => ({
  uuid,
  name,
  description: null,
  groups: [{ 'resources:FPGA': '1' }],
  version: 1,
  enabled: true,
  projects: null,
  created_at: AT,
  updated_at: null,
})

export const handleRow = (arq: string | null, uuid: string = randomUUID()): Row<'handles'> => ({
  uuid,
  deployable_uuid: '00000000-0000-4000-8000-000000000002',
  hostname: 'h1',
  canonical: '{}',
  state: arq === null ? 'free' : 'granted',
  arq_uuid: arq,
})

export const hostRow = (name: string, liveness: string): Row<'hosts'> => ({
  name,
  liveness,
  out_of_service: null,
  boot_id: null,
  drivers: {},
  aliases: [],
  created_at: AT,
  updated_at: null,
})

const DEPLOYABLE = '00000000-0000-4000-8000-000000000002'
export const orderRow = (slot: string, sentAt: number, deadline = sentAt): Row<'pending_orders'> => ({
  slot,
  hostname: 'h1',
  deployable_uuid: DEPLOYABLE,
  number: 1,
  body: {
    type: 'ReleaseSlot',
    host: 'h1',
    slot,
    number: 1,
    driver: 'fake_driver',
    deployable: 'h1_FakeDevice',
    deployableUuid: DEPLOYABLE,
    deadline,
    handle: { type: 'TEST_PCI', info: {} },
  },
  sent_at: sentAt,
})

/** What is an arq's entry in the views, as an actor would write it. */
export const arqChange = (row: Row<'arqs'>): ViewChange => put('arqs', row)

export const versionsOf = async (journal: Journal, key: string): Promise<readonly number[]> =>
  (await journal.recall([{ key, after: 0 }])).get(key)!.rows.map(({ version }) => version)

/**
 * Everything fed, when it is so many rows: a transaction of another database on the same server may hold the feed back
 * for a moment.
 */
export const fedWhole = async (journal: Journal, count: number, after = ''): Promise<readonly FeedRow[]> => {
  const end = performance.now() + 10_000
  for (;;) {
    const rows = await fedAll(journal, after)
    if (rows.length >= count || performance.now() > end) return rows
    await wait(10)
  }
}

/** Everything fed so far; the last position is where a reader would go on. */
export const fedAll = async (journal: Journal, after = ''): Promise<readonly FeedRow[]> => {
  const page = await journal.feed(after, 500)
  const last = page.at(-1)
  return last === undefined ? [] : [...page, ...(await fedAll(journal, last.position))]
}
