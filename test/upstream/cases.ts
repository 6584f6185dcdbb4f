/** Each damage by itself: what upstream has, what is said of it, and what becomes of the requests (`<id> <state>`). */
import type { ArqRow, UpstreamTables } from '../../src/actors/upstream/rows.ts'
import { rpUuidOf } from '../../src/vocabulary/rpUuid.ts'
import {
  arqRow,
  attributeRow,
  boundRow,
  deployableRow,
  deviceRow,
  handleRow,
  mdevText,
  nameOf,
  pathRow,
  pciText,
  profileRow,
  profiles,
  simple,
  tablesOf,
  uuidOf,
} from './scenario.ts'

export type Case = readonly [name: string, tables: UpstreamTables, notes: readonly string[], arqs: readonly string[]]
const A = { host: 'compute-1', bus: 'a1' }
const NAME = nameOf(A)
const arqs = (...rows: readonly ArqRow[]): Partial<UpstreamTables> => ({ extended_accelerator_requests: rows })
const instance = (id: number) => ({ instanceUuid: uuidOf('instance', id) })
const failing = { hostname: A.host, rpUuid: rpUuidOf(NAME), deployableId: 1 }

export const CASES: readonly Case[] = [
  ['an empty database', tablesOf(), [], []],
  [
    'nothing is wrong',
    tablesOf(profiles, simple(1, A, true), arqs(boundRow(1, 1, NAME), arqRow(2), arqRow(3, { state: 'Unbound' }))),
    [],
    ['1 Bound', '2 Initial', '3 Unbound'],
  ],
  [
    'two requests of an instance',
    tablesOf(
      profiles,
      simple(1, A, true),
      simple(2, { ...A, bus: 'b1' }, true),
      arqs(boundRow(1, 1, NAME), boundRow(2, 2, nameOf({ ...A, bus: 'b1' }), instance(1))),
    ),
    [],
    ['1 Bound', '2 Bound'],
  ],
  [
    'W1: a bind that never ended',
    tablesOf(
      profiles,
      simple(1, A),
      arqs(arqRow(1, { state: 'BindStarted', ...failing, ...instance(1), deployableId: null })),
    ),
    ['repaired W1 extended_accelerator_requests 1'],
    ['1 BindFailed'],
  ],
  [
    'W1: it had an attach handle already',
    tablesOf(
      profiles,
      simple(1, A, true),
      arqs(arqRow(1, { state: 'BindStarted', ...failing, ...instance(1), handleId: 1 })),
    ),
    ['repaired W1 extended_accelerator_requests 1', 'repaired W9 attach_handles 1'],
    ['1 BindFailed'],
  ],
  [
    'W1: what it asked for is not there',
    tablesOf(profiles, arqs(arqRow(1, { state: 'BindStarted', ...failing, ...instance(1), deployableId: null }))),
    ['repaired W1 extended_accelerator_requests 1', 'repaired ended bind extended_accelerator_requests 1'],
    ['1 Unbound'],
  ],
  ['W3: a leaked attach handle', tablesOf(simple(1, A, true)), ['repaired W3 attach_handles 1'], []],
  [
    'W7: bound to an attach handle that is free',
    tablesOf(profiles, simple(1, A), arqs(boundRow(1, 1, NAME))),
    ['repaired W7 extended_accelerator_requests 1'],
    ['1 Bound'],
  ],
  [
    'W7: two requests on one attach handle',
    tablesOf(profiles, simple(1, A, true), arqs(boundRow(2, 1, NAME), boundRow(3, 1, NAME))),
    ['repaired two holders extended_accelerator_requests 3'],
    ['2 Bound', '3 BindFailed'],
  ],
  [
    'W9: a failed bind that has an attach handle',
    tablesOf(
      profiles,
      simple(1, A, true),
      arqs(arqRow(1, { state: 'BindFailed', ...failing, ...instance(1), handleId: 1 })),
    ),
    ['repaired W9 attach_handles 1'],
    ['1 BindFailed'],
  ],
  [
    'a failed bind without instance',
    tablesOf(profiles, simple(1, A), arqs(arqRow(1, { state: 'BindFailed', ...failing }))),
    ['repaired ended bind extended_accelerator_requests 1'],
    ['1 Unbound'],
  ],
  [
    'one of two binds of an instance has failed',
    tablesOf(
      profiles,
      simple(1, A, true),
      arqs(boundRow(1, 1, NAME), arqRow(2, { state: 'BindFailed', ...failing, ...instance(1) })),
    ),
    ['repaired ended bind extended_accelerator_requests 2'],
    ['1 Bound', '2 Unbound'],
  ],
  [
    'W11: Placement was never told',
    tablesOf({ ...simple(1, A), deployables: [deployableRow(1, 1, NAME, { rpUuid: null })] }),
    ['repaired W11 deployables 1'],
    [],
  ],
  [
    'W12: the host was renamed; a request is bound under the old name',
    tablesOf(
      profiles,
      simple(1, A, true),
      {
        ...simple(2, { host: 'compute-1.example.org', bus: 'a1' }),
        deployables: [deployableRow(2, 2, NAME)],
      },
      arqs(boundRow(1, 1, NAME)),
    ),
    ['repaired W12 devices 2', 'repaired W12 devices 1'],
    ['1 Bound'],
  ],
  [
    'W12: nothing is bound, so the newest is kept',
    tablesOf(simple(1, A), {
      ...simple(2, { host: 'compute-1.example.org', bus: 'a1' }),
      deployables: [deployableRow(2, 2, NAME)],
    }),
    ['repaired W12 devices 1'],
    [],
  ],
  [
    'W14: a device without control path',
    tablesOf({ devices: [deviceRow(1)] }, simple(2, A)),
    ['repaired W14 devices 1'],
    [],
  ],
  [
    'W14: a device without control path that a request uses',
    tablesOf(profiles, { ...simple(1, A, true), controlpath_ids: [] }, arqs(boundRow(1, 1, NAME))),
    ['repaired W14 devices 1'],
    ['1 Bound'],
  ],
  [
    'W17: two devices for one card; requests are bound on both',
    tablesOf(
      profiles,
      {
        devices: [deviceRow(1), deviceRow(2)],
        controlpath_ids: [
          pathRow(1, 1, pciText('af')),
          pathRow(2, 2, '{"function":"0","bus":"AF","device":"00","domain":"0000"}'),
        ],
        deployables: [
          deployableRow(1, 1, NAME, { numAccelerators: 2 }),
          deployableRow(2, 2, NAME, { numAccelerators: 2 }),
        ],
        attributes: [attributeRow(1, 1, 'rc', 'FPGA'), attributeRow(2, 2, 'rc', 'FPGA')],
        attach_handles: [
          handleRow(1, 1, pciText('a1', '00', '1'), { inUse: true }),
          handleRow(2, 1, pciText('a1', '00', '2')),
          handleRow(3, 2, pciText('a1', '00', '1')),
          handleRow(4, 2, pciText('a1', '00', '2'), { inUse: true }),
        ],
      },
      arqs(boundRow(1, 1, NAME), boundRow(2, 4, NAME, { deployableId: 2 })),
    ),
    [
      'repaired W17 devices 2',
      'left out W17 deployables 2',
      'repaired W17 attach_handles 4',
      'left out W17 attach_handles 2',
    ],
    ['1 Bound', '2 Bound'],
  ],
  [
    'W18: one of two attach handles was leaked',
    tablesOf(profiles, simple(1, A, true), simple(2, { ...A, bus: 'b1' }, true), arqs(boundRow(1, 1, NAME))),
    ['repaired W3 attach_handles 2'],
    ['1 Bound'],
  ],
  [
    'W21: a bitstream in a region that nobody uses',
    tablesOf({
      ...simple(1, A),
      deployables: [deployableRow(1, 1, NAME, { bitstreamId: uuidOf('profile', 99) })],
    }),
    ['repaired W21 deployables 1'],
    [],
  ],
  [
    'W23: attributes of operators, one of them twice',
    tablesOf({
      ...simple(1, A),
      attributes: [
        attributeRow(1, 1, 'rc', 'CUSTOM_PCI'),
        attributeRow(2, 1, 'rack', 'old'),
        attributeRow(3, 1, 'rack', 'new'),
      ],
    }),
    ['left out W17 attributes 2', 'repaired W23 attributes 3'],
    [],
  ],
  [
    'the attach handle of a bound request is gone',
    tablesOf(profiles, simple(1, A), arqs(boundRow(1, 77, NAME, { deployableId: 1 }))),
    ['repaired handle lost devices 1', 'repaired handle lost extended_accelerator_requests 1'],
    ['1 BindFailed'],
  ],
  [
    'the attach handle of a bound request holds broken JSON',
    tablesOf(
      profiles,
      { ...simple(1, A), attach_handles: [handleRow(1, 1, '{"bus": "a1", "device'), handleRow(2, 1, pciText('a1'))] },
      arqs(boundRow(1, 1, NAME)),
    ),
    [
      'left out value attach_handles 1',
      'repaired handle lost devices 1',
      'repaired handle lost extended_accelerator_requests 1',
    ],
    ['1 BindFailed'],
  ],
  [
    'bound for no instance',
    tablesOf(profiles, simple(1, A, true), arqs(boundRow(1, 1, NAME, { instanceUuid: null }))),
    ['repaired no instance extended_accelerator_requests 1', 'repaired W9 attach_handles 1'],
    ['1 Unbound'],
  ],
  [
    'a request that was being deleted',
    tablesOf(profiles, simple(1, A, true), arqs(boundRow(1, 1, NAME, { state: 'Deleting' }))),
    ['left out deleting extended_accelerator_requests 1', 'repaired W9 attach_handles 1'],
    [],
  ],
  [
    'the profile of a bound request cannot be read',
    tablesOf(
      { device_profiles: [profileRow(1, 'gpu', { json: '{"groups": [{' })] },
      simple(1, A, true),
      arqs(boundRow(1, 1, NAME)),
    ),
    ['left out value device_profiles 1'],
    ['1 Bound'],
  ],
  [
    'the profile names alternatives, which are taken over unread',
    tablesOf(
      {
        device_profiles: [
          profileRow(1, 'gpu', { json: '{"groups": [{"resources:PGPU": "1", "accel:any_of": "A,B"}]}' }),
        ],
      },
      simple(1, A, true),
      arqs(boundRow(1, 1, NAME)),
    ),
    [],
    ['1 Bound'],
  ],
  [
    'the profile of a request is not there',
    tablesOf(simple(1, A, true), arqs(boundRow(1, 1, NAME))),
    ['repaired orphan extended_accelerator_requests 1'],
    ['1 Bound'],
  ],
  [
    'the project of a request is not known',
    tablesOf(profiles, simple(1, A, true), arqs(boundRow(1, 1, NAME, { projectId: null }))),
    ['repaired value extended_accelerator_requests 1'],
    ['1 Bound'],
  ],
  [
    'a deployable without resource class, and with another number of accelerators than attach handles',
    tablesOf({ ...simple(1, A), attributes: [], deployables: [deployableRow(1, 1, NAME, { numAccelerators: 4 })] }),
    ['repaired count deployables 1', 'repaired class deployables 1'],
    [],
  ],
  [
    'mediated devices: one is bound, one is free, and one that nobody has may still be there (W4)',
    tablesOf(
      profiles,
      {
        ...simple(1, A),
        deployables: [deployableRow(1, 1, NAME, { numAccelerators: 4 })],
        attach_handles: [
          handleRow(1, 1, mdevText('a1', 0), { type: 'MDEV', inUse: true }),
          handleRow(2, 1, mdevText('a1', 1), { type: 'MDEV' }),
          handleRow(3, 1, mdevText('a1', 2), { type: 'MDEV', inUse: true }),
        ],
      },
      arqs(boundRow(1, 1, NAME)),
    ),
    ['repaired W3 attach_handles 3'],
    ['1 Bound'],
  ],
  [
    'nested deployables; a request has a function of a child, by the provider of the root',
    tablesOf(
      profiles,
      {
        devices: [deviceRow(1, { type: 'FPGA' })],
        controlpath_ids: [pathRow(1, 1, pciText('a1'))],
        deployables: [
          deployableRow(1, 1, NAME, { numAccelerators: 2 }),
          deployableRow(2, 1, `${NAME}_pf_1`, { parentId: 1, rootId: 1, rpUuid: null }),
          deployableRow(3, 1, `${NAME}_vf_1`, { parentId: 2, rootId: 1, rpUuid: null }),
          deployableRow(4, 1, `${NAME}_pf_2`, { parentId: 1, rootId: 1, rpUuid: null }),
        ],
        attributes: [1, 2, 3, 4].map((id) => attributeRow(id, id, 'rc', 'FPGA')),
        attach_handles: [
          handleRow(1, 3, pciText('a1', '00', '1'), { inUse: true }),
          handleRow(2, 4, pciText('a1', '00', '3')),
        ],
      },
      arqs(boundRow(1, 1, NAME, { deployableId: 3 })),
    ),
    [],
    ['1 Bound'],
  ],
  [
    'trees that do not agree: a child with a provider, a wrong root, a circle, a root without parent',
    tablesOf({
      devices: [deviceRow(1, { type: 'FPGA' })],
      controlpath_ids: [pathRow(1, 1, pciText('a1'))],
      deployables: [
        deployableRow(1, 1, NAME, { numAccelerators: 0 }),
        deployableRow(2, 1, `${NAME}_2`, { parentId: 1, rootId: 1, numAccelerators: 0 }),
        deployableRow(3, 1, `${NAME}_3`, { parentId: 1, rootId: 2, rpUuid: null, numAccelerators: 0 }),
        deployableRow(4, 1, `${NAME}_4`, { parentId: 5, rootId: 5, rpUuid: null, numAccelerators: 0 }),
        deployableRow(5, 1, `${NAME}_5`, { parentId: 4, rootId: 4, rpUuid: null, numAccelerators: 0 }),
        deployableRow(6, 1, `${NAME}_6`, { rootId: 1, numAccelerators: 0 }),
      ],
      attributes: [1, 2, 3, 4, 5, 6].map((id) => attributeRow(id, id, 'rc', 'FPGA')),
    }),
    [
      'repaired tree deployables 2',
      'repaired tree deployables 3',
      'repaired tree deployables 4',
      'repaired W11 deployables 4',
      'repaired tree deployables 5',
      'repaired W11 deployables 5',
      'repaired tree deployables 6',
    ],
    [],
  ],
  [
    'a device in maintenance that a request uses',
    tablesOf(
      profiles,
      { ...simple(1, A, true), devices: [deviceRow(1, { status: 'maintaining' })] },
      arqs(boundRow(1, 1, NAME)),
    ),
    [],
    ['1 Bound'],
  ],
  [
    'types of a later upstream, and a device that is being cleaned',
    tablesOf(
      { ...simple(1, A), devices: [deviceRow(1, { type: 'PCI' })] },
      { ...simple(2, { ...A, bus: 'b1' }), devices: [deviceRow(2, { type: 'NVME', state: 'cleaning' })] },
    ),
    ['repaired type devices 1', 'repaired type devices 2', 'repaired cleaning devices 2'],
    [],
  ],
  [
    'values that cannot be: a UUID, a type, a state, an owner, a NUL',
    tablesOf(
      profiles,
      simple(1, A),
      { ...simple(2, { ...A, bus: 'b1' }), devices: [deviceRow(2, { uuid: 'no uuid' })] },
      { devices: [deviceRow(3, { type: 'ABACUS' })] },
      { devices: [deviceRow(4, { model: 'x\0' })], controlpath_ids: [pathRow(4, 4, pciText('c1'))] },
      { deployables: [deployableRow(9, 99, 'of nobody')] },
      arqs(arqRow(1, { state: 'Odd' }), arqRow(2, { uuid: 'no uuid' })),
    ),
    [
      'repaired text devices 4',
      'left out orphan deployables 9',
      'left out value devices 2',
      'left out value devices 3',
      'left out value extended_accelerator_requests 1',
      'left out value extended_accelerator_requests 2',
    ],
    [],
  ],
]
