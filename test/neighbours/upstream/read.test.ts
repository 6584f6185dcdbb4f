/** Upstream's tables, read page by page from whatever server. */
import { expect, test } from 'vitest'
import { readTables } from '../../../src/neighbours/upstream/read.ts'
type UpstreamSource = Parameters<typeof readTables>[0]
type TextRow = Awaited<ReturnType<UpstreamSource['page']>>[number]

const base = (id: number) => ({ id: String(id), uuid: `u${id}`, created_at: '2025-03-01 10:00:00', updated_at: null })
const handle = (id: number, more: TextRow = {}): TextRow => ({
  ...base(id),
  deployable_id: '1',
  in_use: '1',
  attach_type: 'PCI',
  attach_info: '{',
  ...more,
})
const device = (more: TextRow = {}): TextRow => ({
  ...base(1),
  type: 'GPU',
  vendor: '10de',
  model: '20f1',
  std_board_info: null,
  vendor_board_info: null,
  hostname: 'h',
  ...more,
})
const sourceOf = (tables: Readonly<Record<string, readonly TextRow[]>>): UpstreamSource => ({
  page: async (table, after, limit) => (tables[table] ?? []).filter(({ id }) => Number(id) > after).slice(0, limit),
  close: async () => {},
})

test('all pages of a table are read, in order of their ids', async () => {
  const attach_handles = Array.from({ length: 2500 }, (_, n) => handle(n + 1))
  const { attach_handles: read } = await readTables(sourceOf({ attach_handles }))
  expect(read.map(({ id }) => id)).toEqual(Array.from({ length: 2500 }, (_, n) => n + 1))
})
test('moments are in UTC, and one that is none is absent; NULL is not in use; columns of later releases may lack', async () => {
  const rows = [handle(1), handle(2, { in_use: null, created_at: '0000-00-00 00:00:00' }), handle(3, { in_use: 't' })]
  const read = await readTables(sourceOf({ attach_handles: rows, devices: [device()] }))
  expect(read.attach_handles.map(({ inUse }) => inUse)).toEqual([true, false, true])
  expect(read.attach_handles.map(({ createdAt }) => createdAt)).toEqual([
    Date.parse('2025-03-01T10:00:00Z'),
    null,
    Date.parse('2025-03-01T10:00:00Z'),
  ])
  expect(read.devices).toMatchObject([{ status: null, state: null }])
})
test('a table with more rows than an import takes is refused', async () => {
  const attach_handles = [handle(1), handle(2)]
  await expect(readTables(sourceOf({ attach_handles }), 1)).rejects.toThrow(
    'table attach_handles has more than 1 rows, which is more than an import takes',
  )
})
test('a column that lacks, a value that is no number and a table that cannot be read are named', async () => {
  const { hostname: _, ...older } = device()
  await expect(readTables(sourceOf({ devices: [older] }))).rejects.toThrow(
    'table devices has no column hostname: bring the schema up to date first (cyborg-dbsync upgrade)',
  )
  await expect(readTables(sourceOf({ attach_handles: [handle(7, { deployable_id: 'x' })] }))).rejects.toThrow(
    'table attach_handles: row 7: deployable_id cannot be read',
  )
  const broken = { ...sourceOf({}), page: async () => Promise.reject(new Error('gone')) }
  await expect(readTables(broken)).rejects.toThrow('table devices cannot be read: gone')
})
