/** Every list the API offers is one query along an index. */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PageQuery } from '../../src/actors/runtime/ports.ts'
import type { ViewName } from '../../src/actors/runtime/views.ts'
import { openStore } from '../../src/persistence/open.ts'
import { pageStatement } from '../../src/persistence/reads.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import type { Database } from '../support/postgres.ts'

const ID = '00000000-0000-4000-8000-000000000000'
const RESOLVED = ['Bound', 'BindFailed', 'Deleting']

/** A list, and the index it must follow. */
const list = <N extends ViewName>(title: string, query: Omit<PageQuery<N>, 'limit'>, index: string) => ({
  title,
  index,
  page: (marker?: string) => pageStatement({ ...query, limit: 50, ...(marker === undefined ? {} : { marker }) }),
})
const arqs = (title: string, where: PageQuery<'arqs'>['where'], index: string) =>
  list(`arqs ${title}`, { view: 'arqs', where, sort: 'created_at' }, index)
const devices = (title: string, where: PageQuery<'devices'>['where'], index: string) =>
  list(`devices ${title}`, { view: 'devices', where, sort: 'id' }, `${index}|devices_id_unique`)
const deployables = (title: string, where: PageQuery<'deployables'>['where'], index: string) =>
  list(`deployables ${title}`, { view: 'deployables', where, sort: 'id' }, index)
const attributes = (title: string, where: PageQuery<'attributes'>['where'], index: string) =>
  list(`attributes ${title}`, { view: 'attributes', where, sort: 'created_at' }, index)
const handles = (title: string, where: PageQuery<'handles'>['where'], index: string) =>
  list(`handles ${title}`, { view: 'handles', where, sort: 'uuid' }, index)

const LISTS = [
  arqs('of all', {}, 'arqs_created_at_uuid_index'),
  arqs('of an instance', { instance_uuid: ID }, 'arqs_instance_uuid_created_at_uuid_index'),
  arqs('of an instance, resolved', { instance_uuid: ID, state: RESOLVED }, 'arqs_instance_uuid_created_at_uuid_index'),
  arqs('of a project', { project_id: 'p7' }, 'arqs_project_id_created_at_uuid_index'),
  arqs('of a project or of none', { project_id: ['p7', null] }, 'arqs_(project_id_)?created_at_uuid_index'),
  arqs('in a state', { state: 'Unbound' }, 'arqs_state_created_at_uuid_index'),
  arqs('resolved', { state: RESOLVED }, 'arqs_(state_)?created_at_uuid_index'),
  arqs('by uuid', { uuid: [ID, randomUUID()] }, 'arqs_pkey'),
  arqs('of a profile', { profile_uuid: ID }, 'arqs_(profile_uuid|created_at_uuid)_index'),
  devices('of a type', { type: 'GPU' }, 'devices_type_id_index'),
  devices('of a vendor', { vendor: '10de' }, 'devices_vendor_id_index'),
  devices('of a host', { hostname: 'h7' }, 'devices_hostname_id_index'),
  deployables('of a device', { device_id: 7 }, 'deployables_device_id_id_index'),
  deployables('of a name', { name: 'd7' }, 'deployables_name_id_index'),
  deployables('of a provider', { rp_uuid: ID }, 'deployables_rp_uuid_unique'),
  list(
    'profiles by name',
    { view: 'profiles', where: { name: ['a', 'b'] }, sort: 'created_at' },
    'profiles_name_unique',
  ),
  attributes('of a deployable', { deployable_id: 7 }, 'attributes_deployable_id_created_at_uuid_index'),
  attributes('of a key', { key: 'k7' }, 'attributes_key_created_at_uuid_index'),
  handles('of all', {}, 'handles_pkey'),
  handles('by uuid', { uuid: ID }, 'handles_pkey'),
  handles('of a deployable', { deployable_uuid: ID }, 'handles_(deployable_uuid_index|pkey)'),
]

/** Rows by the thousand, so that the planner has something to save. */
const FILL = `
  insert into arqs (uuid, state, project_id, profile_uuid, profile_name, group_id, "group", instance_uuid, created_at)
    select gen_random_uuid(), (array['Initial', 'Bound', 'Unbound', 'BindFailed'])[1 + n % 4], 'p' || n % 100, gen_random_uuid(), 'x', 0, '{}',
      gen_random_uuid(), n from generate_series(1, 20000) n;
  insert into devices (uuid, id, type, vendor, model, hostname, status, presence, driver, created_at)
    select gen_random_uuid(), n, (array['GPU', 'FPGA', 'NIC', 'SSD', 'AICHIP'])[1 + n % 5], (array['10de', '8086', '1234', '1af4'])[1 + n % 4], 'm', 'h' || n % 500, 'enabled', 'present', 'd', n
    from generate_series(1, 5000) n;
  insert into deployables (uuid, id, device_id, device_uuid, name, num_accelerators, attributes, hostname, rp_uuid, presence, created_at)
    select gen_random_uuid(), n, n, gen_random_uuid(), 'd' || n, 1, '[]', 'h' || n % 500, gen_random_uuid(), 'present', n from generate_series(1, 5000) n;
  insert into profiles (uuid, name, groups, created_at) select gen_random_uuid(), 'n' || n, '[]', n from generate_series(1, 5000) n;
  insert into attributes (uuid, deployable_uuid, deployable_id, key, value, origin, created_at)
    select gen_random_uuid(), gen_random_uuid(), n / 4, 'k' || n % 50, 'v', 'api', n from generate_series(1, 20000) n;
  insert into handles (uuid, deployable_uuid, hostname, canonical, state, arq_uuid)
    select gen_random_uuid(), gen_random_uuid(), 'h' || n % 500, '{}', (array['free', 'granted'])[1 + n % 2], gen_random_uuid()
    from generate_series(1, 5000) n;
  analyze`

describeWith('postgres', 'the lists of the API', (bin) => {
  let database: Database
  let client: Client
  beforeAll(async () => {
    database = await freshDatabase(bin)
    await (await openStore({ kind: 'postgres', url: database.url })).close()
    client = new Client({ connectionString: database.url })
    await client.connect()
    await client.query(FILL)
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
  })
  const planOf = async ({ text, params }: ReturnType<typeof pageStatement>): Promise<string> => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, [...params])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }

  test.each(LISTS)('$title', async ({ page, index }) => {
    const plan = await planOf(page())
    expect(plan).toMatch(new RegExp(index))
    expect(plan).not.toContain('Seq Scan')
    expect(await planOf(page(ID))).not.toContain('Seq Scan')
  })

  test('a page deep in a long list begins at its marker', async () => {
    const plan = await planOf(arqs('', { project_id: 'p7' }, '').page(ID))
    expect(plan).toMatch(/Index Cond: .*project_id.*ROW\(created_at, uuid\) > ROW/s)
  })
})
