/** Each table of upstream: what every column is read as, which may be absent, and how the pages are asked for. */
import { describe, expect, test } from 'vitest'
import { readTables } from '../../../src/neighbours/upstream/read.ts'
type TextRow = Awaited<ReturnType<Parameters<typeof readTables>[0]['page']>>[number]

const BASE = { id: '1', uuid: 'u', created_at: '2025-03-01 10:00:00', updated_at: '2025-03-02 11:00:00.250' }
const READ = { id: 1, uuid: 'u', createdAt: Date.UTC(2025, 2, 1, 10), updatedAt: Date.UTC(2025, 2, 2, 11, 0, 0, 250) }
/** By table: a row with a value of its own in each column, what it is read as, which columns may be NULL or absent. */
const TABLES: Readonly<Record<string, readonly [TextRow, object, nullable: string[], absent?: string[]]>> = {
  devices: [
    {
      type: 't',
      vendor: 'v',
      model: 'm',
      std_board_info: 'std',
      vendor_board_info: 'vb',
      hostname: 'h',
      status: 's',
      device_state: 'd',
    },
    {
      type: 't',
      vendor: 'v',
      model: 'm',
      stdBoardInfo: 'std',
      vendorBoardInfo: 'vb',
      hostname: 'h',
      status: 's',
      state: 'd',
    },
    ['std_board_info', 'vendor_board_info', 'status', 'device_state'],
    ['status', 'device_state'],
  ],
  controlpath_ids: [{ device_id: '2', cpid_info: 'c' }, { deviceId: 2, info: 'c' }, []],
  deployables: [
    {
      parent_id: '2',
      root_id: '3',
      name: 'n',
      num_accelerators: '4',
      device_id: '5',
      rp_uuid: 'rp',
      driver_name: 'd',
      bitstream_id: 'b',
    },
    {
      parentId: 2,
      rootId: 3,
      name: 'n',
      numAccelerators: 4,
      deviceId: 5,
      rpUuid: 'rp',
      driverName: 'd',
      bitstreamId: 'b',
    },
    ['parent_id', 'root_id', 'rp_uuid', 'driver_name', 'bitstream_id'],
  ],
  attributes: [{ deployable_id: '2', key: 'k', value: 'v' }, { deployableId: 2, key: 'k', value: 'v' }, []],
  attach_handles: [
    { deployable_id: '2', in_use: '1', attach_type: 'PCI', attach_info: 'i' },
    { deployableId: 2, inUse: true, type: 'PCI', info: 'i' },
    ['in_use'],
  ],
  device_profiles: [
    { name: 'n', profile_json: 'j', description: 'd' },
    { name: 'n', json: 'j', description: 'd' },
    ['description'],
    ['description'],
  ],
  extended_accelerator_requests: [
    {
      project_id: 'p',
      state: 's',
      device_profile_id: '2',
      device_profile_group_id: '3',
      hostname: 'h',
      device_rp_uuid: 'rp',
      instance_uuid: 'i',
      attach_handle_id: '4',
      deployable_id: '5',
    },
    {
      projectId: 'p',
      state: 's',
      profileId: 2,
      groupId: 3,
      hostname: 'h',
      rpUuid: 'rp',
      instanceUuid: 'i',
      handleId: 4,
      deployableId: 5,
    },
    ['project_id', 'hostname', 'device_rp_uuid', 'instance_uuid', 'attach_handle_id', 'deployable_id'],
  ],
}
type Name = keyof Awaited<ReturnType<typeof readTables>>
const one = async (table: string, row: TextRow): Promise<Readonly<Record<string, unknown>>> => {
  const page = async (asked: string) => (asked === table ? [row] : [])
  const { [table as Name]: rows } = await readTables({ page, close: async () => {} })
  return rows[0] as unknown as Readonly<Record<string, unknown>>
}

describe.each(Object.entries(TABLES))('the table %s', (table, [columns, read, nullable, absent = []]) => {
  const row = { ...BASE, ...columns }
  test('is read whole, and columns of other releases are left out', async () => {
    expect(await one(table, { ...row, of_another: 'x' })).toEqual({ ...READ, ...read })
  })
  test('has columns that may be NULL, and others', async () => {
    for (const column of Object.keys(row)) {
      const without = one(table, { ...row, [column]: null })
      const known = ['created_at', 'updated_at', ...nullable].includes(column)
      if (known)
        expect(Object.values(await without).filter((value) => value === null || value === false)).toHaveLength(1)
      else
        await expect(without).rejects.toThrow(
          `table ${table}: row ${column === 'id' ? '' : '1'}: ${column} cannot be read`,
        )
    }
  })
  test('has columns that earlier releases lack, and others', async () => {
    for (const column of Object.keys(row)) {
      const without = one(table, Object.fromEntries(Object.entries(row).filter(([name]) => name !== column)))
      if (absent.includes(column))
        expect(Object.values(await without).filter((value) => value === null)).toHaveLength(1)
      else
        await expect(without).rejects.toThrow(
          `table ${table} has no column ${column}: bring the schema up to date first`,
        )
    }
  })
})

test('a number has at most fifteen digits, a text a million characters', async () => {
  const attribute = (more: TextRow) => one('attributes', { ...BASE, deployable_id: '2', key: 'k', value: 'v', ...more })
  for (const id of ['0', '-7', '9'.repeat(15)])
    expect(await attribute({ deployable_id: id })).toMatchObject({ deployableId: Number(id) })
  for (const id of ['', '1'.repeat(16), '1.5', '1e3', ' 1', '1\n', '--1', '0x1'])
    await expect(attribute({ deployable_id: id })).rejects.toThrow('row 1: deployable_id cannot be read')
  expect((await attribute({ value: 'x'.repeat(1_000_000) }))['value']).toHaveLength(1_000_000)
  await expect(attribute({ value: 'x'.repeat(1_000_001) })).rejects.toThrow('row 1: value cannot be read')
})
test('a handle is in use as MariaDB or PostgreSQL says so', async () => {
  const handle = (in_use: string) => one('attach_handles', { ...BASE, ...TABLES['attach_handles']![0], in_use })
  const used = await Promise.all(['1', 't', '0', 'f', 'true', ''].map(handle))
  expect(used.map(({ inUse }) => inUse)).toEqual([true, true, false, false, false, false])
})

test('a table is read on after its last row until a page is not full, and each table by itself', async () => {
  const count = 2000
  const all = Array.from({ length: count }, (_, at) => ({
    ...BASE,
    id: String(3 * at),
    device_id: '2',
    cpid_info: 'c',
  }))
  const asked: (readonly [string, number, number])[] = []
  const page = async (table: string, after: number, limit: number) => {
    asked.push([table, after, limit])
    return table === 'controlpath_ids' ? all.filter(({ id }) => Number(id) > after).slice(0, limit) : []
  }
  const source = { page, close: async () => {} }
  expect((await readTables(source, count)).controlpath_ids).toHaveLength(count)
  expect(asked).toEqual([
    ['devices', -1, 1000],
    ...[-1, 2997, 5997].map((after) => ['controlpath_ids', after, 1000]),
    ...Object.keys(TABLES)
      .slice(2)
      .map((table) => [table, -1, 1000]),
  ])
  await expect(readTables(source, count - 1)).rejects.toThrow('table controlpath_ids has more than 1999 rows')
})
test('a moment that is none is absent, and a table that cannot be read is named', async () => {
  expect(
    await one('attach_handles', { ...BASE, ...TABLES['attach_handles']![0], created_at: '0000-00-00 00:00:00' }),
  ).toMatchObject({
    createdAt: null,
  })
  const broken = { page: async () => Promise.reject(new Error('gone')), close: async () => {} }
  await expect(readTables(broken)).rejects.toThrow('table devices cannot be read: gone')
})
