/**
 * Rows that no client of upstream makes, but that a damaged database may hold: what is planned of them is in
 * `planned.txt`.
 */
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
import {
  arqRow,
  attributeRow,
  boundRow,
  deployableRow,
  deviceRow,
  handleRow,
  nameOf,
  pathRow,
  pciText,
  profileRow,
  profiles,
  simple,
  tablesOf,
  uuidOf,
} from './scenario.ts'

const A = { host: 'compute-1', bus: 'a1' }
const B = { host: 'compute-1', bus: 'b1' }
const NAME = nameOf(A)
const instance = (id: number) => ({ instanceUuid: uuidOf('instance', id) })
const requests = (...rows: UpstreamTables['extended_accelerator_requests']): Partial<UpstreamTables> => ({
  extended_accelerator_requests: rows,
})
const unreadable = { info: 'no json' }

export const ODD: readonly (readonly [name: string, tables: UpstreamTables])[] = [
  [
    'attach handles that cannot be read: free, marked as used, and bound',
    tablesOf(
      profiles,
      { ...simple(1, A), attach_handles: [handleRow(1, 1, 'x', unreadable)] },
      { ...simple(2, B), attach_handles: [handleRow(2, 2, 'x', { ...unreadable, inUse: true })] },
      { ...simple(3, { ...A, bus: 'c1' }), attach_handles: [handleRow(3, 3, 'x', unreadable)] },
      { ...simple(4, { ...A, bus: 'd1' }), attach_handles: [handleRow(4, 4, pciText('d1'), { uuid: 'none' })] },
      requests(boundRow(1, 3, nameOf({ ...A, bus: 'c1' }))),
    ),
  ],
  [
    'a bound request without a handle, one that names its handle and is not bound, and a free one',
    tablesOf(
      profiles,
      simple(1, A),
      simple(2, B),
      requests(
        boundRow(1, 1, NAME, { handleId: null }),
        boundRow(2, 2, nameOf(B), { state: 'Unbound' }),
        boundRow(3, 2, nameOf(B), { state: 'BindFailed', hostname: '' }),
      ),
    ),
  ],
  [
    'deployables without name and with no UUID, providers that are none, rows whose owner is not there',
    tablesOf(simple(1, A), {
      deployables: [
        deployableRow(2, 1, ''),
        deployableRow(3, 1, 'c', { uuid: 'none' }),
        deployableRow(4, 1, 'd', { rpUuid: 'none', driverName: null }),
      ],
      attach_handles: [handleRow(8, 77, pciText('b1')), handleRow(9, 88, pciText('c1'))],
      attributes: [attributeRow(8, 77, 'rc', 'PGPU'), { ...attributeRow(9, 4, 'rc', 'PGPU'), uuid: 'none' }],
      controlpath_ids: [pathRow(9, 1, pciText('a2'))],
    }),
  ],
  [
    'all types, with the class that each gets where it has none',
    tablesOf(
      ...['GPU', 'FPGA', 'AICHIP', 'QAT', 'NIC', 'SSD', 'MDEV', 'PCI', 'NVME', 'constructor'].map((type, at) => ({
        ...simple(at + 1, { ...A, bus: `0${at}` }),
        devices: [
          deviceRow(at + 1, { type, state: ['pending_cleaning', 'cleaning', 'error', null][at] ?? 'available' }),
        ],
        attributes: [],
      })),
    ),
  ],
  [
    'what devices attach, and which driver shows them',
    tablesOf(
      ...['PCI', 'TEST_PCI', 'MDEV', 'PCI'].map((type, at) => ({
        ...simple(at + 1, { ...A, bus: `0${at}` }),
        deployables: [deployableRow(at + 1, at + 1, `n${at}`, { numAccelerators: 3 })],
        attach_handles: at === 3 ? [] : [handleRow(at + 1, at + 1, pciText(`0${at}`), { type })],
      })),
    ),
  ],
  [
    'trees: a parent of another device, and a root that has no provider',
    tablesOf(simple(1, A), {
      devices: [deviceRow(2, { type: 'FPGA' })],
      controlpath_ids: [pathRow(2, 2, pciText('b1'))],
      deployables: [
        deployableRow(2, 2, 'root', { rpUuid: null, numAccelerators: 2 }),
        deployableRow(3, 2, 'child', { parentId: 2, rootId: 2, rpUuid: null, numAccelerators: 1 }),
        deployableRow(4, 2, 'grandchild', { parentId: 3, rootId: 3, rpUuid: null, numAccelerators: 1 }),
        deployableRow(5, 2, 'stranger', { parentId: 1, rootId: 1, rpUuid: null, numAccelerators: 0 }),
      ],
      attach_handles: [handleRow(4, 4, pciText('b2')), handleRow(3, 3, pciText('b3'))],
    }),
  ],
  [
    'a deep tree, up to what is followed, and one step more',
    tablesOf({
      devices: [deviceRow(1, { type: 'FPGA' })],
      controlpath_ids: [pathRow(1, 1, pciText('a1'))],
      deployables: Array.from({ length: 19 }, (_, at) =>
        deployableRow(at + 1, 1, `n${at}`, {
          parentId: at === 0 ? null : at,
          rootId: at === 0 ? null : 1,
          rpUuid: null,
          numAccelerators: 0,
        }),
      ),
    }),
  ],
  [
    'profiles: a name twice, an empty one, no UUID, groups that cannot be read, and what becomes of their requests',
    tablesOf(
      simple(1, A),
      {
        device_profiles: [
          profileRow(1, 'gpu', { json: '{"groups": [{"resources:A": 1, "none": null}, {"resources:B": true}]}' }),
          profileRow(2, 'gpu'),
          profileRow(3, ''),
          profileRow(4, 'd', { uuid: 'none' }),
          profileRow(5, 'e', { json: '{"groups": []}' }),
          profileRow(6, 'f', { json: '{"groups": [{"deep": {}}]}' }),
          profileRow(7, 'g', { json: '{"groups": {}}' }),
          profileRow(8, 'h', { json: '[]' }),
        ],
      },
      requests(
        arqRow(1, { groupId: 1 }),
        arqRow(2, { groupId: 2 }),
        ...[2, 3, 4, 5, 99].map((profileId, at) => arqRow(at + 3, { profileId })),
      ),
    ),
  ],
  [
    'profiles that no client could create: names with other characters or too many, and amounts beyond any request',
    tablesOf(simple(1, A), {
      device_profiles: [
        ...['gpu.small', 'a/b', 'a,b', 'für alle', 'gpu_2-x', 'x'.repeat(256)].map((name, at) =>
          profileRow(at + 1, name),
        ),
        profileRow(7, 'many', { json: '{"groups": [{"resources:A": "256"}, {"resources:B": "1"}]}' }),
        profileRow(8, 'enough', { json: '{"groups": [{"resources:A": "256"}]}' }),
      ],
    }),
  ],
  [
    'requests in the order in which they were bound: the first on a handle has it',
    tablesOf(
      profiles,
      simple(1, A, true),
      simple(2, B, true),
      simple(3, { ...A, bus: 'c1' }, true),
      requests(
        boundRow(1, 1, NAME, { updatedAt: 2000 }),
        boundRow(2, 1, NAME, { updatedAt: null, createdAt: 1000 }),
        boundRow(3, 2, nameOf(B), { updatedAt: null, createdAt: null }),
        boundRow(4, 2, nameOf(B), { updatedAt: 0 }),
        boundRow(5, 3, nameOf({ ...A, bus: 'c1' }), { instanceUuid: null }),
        boundRow(6, 1, NAME, { state: 'BindFailed', ...instance(2) }),
        boundRow(7, 1, NAME, { state: 'BindFailed', instanceUuid: null }),
        boundRow(8, 1, NAME, { state: 'BindStarted', handleId: null, deployableId: null }),
        boundRow(9, 1, NAME, { state: 'BindStarted', handleId: null, deployableId: 55 }),
      ),
    ),
  ],
  [
    'devices without control path: one is known by the function that a request has, one by none, one by no address',
    tablesOf(
      profiles,
      { ...simple(1, A, true), controlpath_ids: [] },
      { ...simple(2, B), controlpath_ids: [] },
      {
        ...simple(3, { ...A, bus: 'c1' }, true),
        controlpath_ids: [],
        attach_handles: [handleRow(3, 3, pciText('c1'), { type: 'TEST_PCI' })],
      },
      { ...simple(4, A), controlpath_ids: [pathRow(4, 4, pciText('a1'))], deployables: [deployableRow(4, 4, 'other')] },
      requests(boundRow(1, 1, NAME), boundRow(3, 3, nameOf({ ...A, bus: 'c1' }))),
    ),
  ],
  [
    'an address twice, of which a request that is not bound any more names the second',
    tablesOf(
      profiles,
      { ...simple(1, A), attach_handles: [handleRow(1, 1, pciText('a1')), handleRow(9, 1, pciText('a1'))] },
      requests(arqRow(1, { state: 'Unbound', handleId: 9, deployableId: 1 })),
    ),
  ],
  [
    'deployables of one name: two children without a provider, and a child that has the name of its root',
    tablesOf({
      devices: [deviceRow(1, { type: 'FPGA' })],
      controlpath_ids: [pathRow(1, 1, pciText('a1'))],
      deployables: [
        deployableRow(1, 1, 'root', { numAccelerators: 0 }),
        deployableRow(2, 1, 'child', { parentId: 1, rootId: 1, rpUuid: null, numAccelerators: 1 }),
        deployableRow(3, 1, 'child', { parentId: 1, rootId: 1, rpUuid: null, numAccelerators: 1 }),
        deployableRow(4, 1, 'root', { parentId: 1, rootId: 1, rpUuid: null, numAccelerators: 1 }),
      ],
      attach_handles: [handleRow(2, 2, pciText('b2')), handleRow(3, 3, pciText('b3')), handleRow(4, 4, pciText('b4'))],
    }),
  ],
]
