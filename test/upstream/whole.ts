/** A whole database of upstream: healthy rows, nested deployables, and each damage beside them. */
import type { ArqRow, UpstreamTable, UpstreamTables } from '../../src/actors/upstream/rows.ts'
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
  simple,
  tablesOf,
  uuidOf,
} from './scenario.ts'

export const HOST = 'compute-1'
export const at = (id: number, host = HOST) => ({ host, bus: id.toString(16).padStart(2, '0') })
const name = (id: number, host = HOST) => nameOf(at(id, host))
const bound = (id: number, more = {}) => boundRow(id, id, name(id), more)
const instance = (id: number) => ({ instanceUuid: uuidOf('instance', id) })
const REGION = name(17)

const IMAGE = uuidOf('profile', 99)
const LOADED = uuidOf('profile', 98)
/** A device with several attach handles in one deployable: functions of a card, or mediated devices of a GPU. */
const several = (id: number, type: 'GPU' | 'FPGA', slots: readonly (readonly [handle: number, inUse: boolean])[]) => ({
  ...simple(id, at(id)),
  devices: [deviceRow(id, { type })],
  deployables: [
    deployableRow(id, id, name(id), { numAccelerators: slots.length, bitstreamId: type === 'FPGA' ? LOADED : null }),
  ],
  attributes: [attributeRow(id * 10, id, 'rc', type === 'FPGA' ? 'FPGA' : 'VGPU')],
  attach_handles: slots.map(([handle, inUse], n) =>
    type === 'FPGA'
      ? handleRow(handle, id, pciText(at(id).bus, '00', `${n + 1}`), { inUse })
      : handleRow(handle, id, mdevText(at(id).bus, n), { type: 'MDEV', inUse }),
  ),
})
const failed = (id: number, deployableId: number, more: Partial<ArqRow> = {}) =>
  arqRow(id, {
    state: 'BindFailed',
    hostname: HOST,
    rpUuid: rpUuidOf(name(deployableId)),
    deployableId,
    ...instance(id),
    ...more,
  })
const loading = { profileId: 3, deployableId: null } as const

export const WHOLE: UpstreamTables = tablesOf(
  {
    device_profiles: [
      profileRow(1, 'gpu', { description: 'ein Gerät' }),
      profileRow(2, 'torn', { json: '{"groups": [{' }),
      profileRow(3, 'loads', { json: `{"groups": [{"resources:FPGA": "1", "accel:bitstream_id": "${IMAGE}"}]}` }),
    ],
  },
  simple(1, at(1), true),
  simple(2, at(2)),
  simple(3, at(3), true),
  simple(4, at(4)),
  simple(5, at(5), true),
  simple(6, at(6)),
  simple(7, at(7), true),
  { ...simple(8, at(8)), deployables: [deployableRow(8, 8, name(8), { rpUuid: null })] },
  simple(9, at(9, 'compute-9'), true),
  {
    ...simple(10, at(9, 'compute-9.example.org')),
    deployables: [deployableRow(10, 10, name(9, 'compute-9'))],
  },
  { devices: [deviceRow(11)] },
  simple(12, at(12), true),
  { ...simple(13, at(12)), deployables: [deployableRow(13, 13, name(12))] },
  {
    ...simple(14, at(14)),
    deployables: [deployableRow(14, 14, name(14), { bitstreamId: uuidOf('profile', 99) })],
    attributes: [
      attributeRow(140, 14, 'rc', 'FPGA'),
      attributeRow(141, 14, 'rack', 'old'),
      attributeRow(142, 14, 'rack', 'new'),
    ],
  },
  simple(15, at(15)),
  { ...simple(16, at(16)), attach_handles: [handleRow(16, 16, '{"bus": "10", "dev', { inUse: true })] },
  {
    devices: [deviceRow(17, { type: 'FPGA' })],
    controlpath_ids: [pathRow(17, 17, pciText('11'))],
    deployables: [
      deployableRow(17, 17, REGION, { numAccelerators: 2 }),
      deployableRow(18, 17, `${REGION}_pf_1`, { parentId: 17, rootId: 17, rpUuid: null }),
      deployableRow(19, 17, `${REGION}_vf_1`, { parentId: 18, rootId: 17, rpUuid: null }),
      deployableRow(20, 17, `${REGION}_pf_2`, { parentId: 17, rootId: 17, rpUuid: null }),
    ],
    attributes: [17, 18, 19, 20].map((id) => attributeRow(id * 10, id, 'rc', 'FPGA')),
    attach_handles: [
      handleRow(19, 19, pciText('11', '00', '1'), { inUse: true }),
      handleRow(20, 20, pciText('11', '00', '3')),
    ],
  },
  { ...simple(21, at(21), true), devices: [deviceRow(21, { status: 'maintaining' })] },
  simple(22, at(22), true),
  {
    ...simple(23, at(23)),
    attach_handles: [handleRow(23, 23, mdevText('17', 0), { type: 'MDEV', inUse: true })],
  },
  { ...simple(24, at(24)), devices: [deviceRow(24, { type: 'NVME', state: 'error' })] },
  several(25, 'GPU', [
    [25, true],
    [26, true],
    [27, true],
    [28, true],
  ]),
  several(30, 'FPGA', [
    [30, false],
    [31, true],
  ]),
  several(32, 'FPGA', [[32, true]]),
  simple(33, at(33), true),
  several(34, 'FPGA', [
    [34, true],
    [35, true],
  ]),
  simple(36, at(36, 'compute-lost')),
  {
    extended_accelerator_requests: [
      bound(1),
      bound(4),
      bound(5),
      boundRow(6, 5, name(5)),
      arqRow(7, { state: 'BindStarted', hostname: HOST, deployableId: 6, ...instance(7) }),
      arqRow(8, { state: 'BindFailed', hostname: HOST, deployableId: 7, handleId: 7, ...instance(8) }),
      boundRow(9, 9, name(9, 'compute-9')),
      bound(12),
      boundRow(15, 999, name(15), { deployableId: 15 }),
      bound(16),
      boundRow(17, 19, REGION, { deployableId: 19 }),
      bound(21),
      bound(22, { profileId: 2 }),
      bound(23),
      arqRow(30),
      arqRow(31, { state: 'Unbound' }),
      arqRow(32, { state: 'Deleting', projectId: null }),
      arqRow(33, { projectId: null }),
      failed(26, 25, { handleId: 26 }),
      failed(27, 25, { handleId: 27, hostname: `${HOST}.example.org` }),
      boundRow(28, 28, name(25), { deployableId: 25 }),
      failed(40, 30, { ...loading, state: 'BindStarted' }),
      boundRow(41, 31, name(30), { deployableId: 30 }),
      failed(42, 32, loading),
      boundRow(43, 32, name(32), { deployableId: 32 }),
      boundRow(34, 34, name(34), { deployableId: 34 }),
    ],
  },
)

/** State of each request that is taken over. */
export const ARQS: Readonly<Record<number, string>> = {
  1: 'Bound',
  4: 'Bound',
  5: 'Bound',
  6: 'BindFailed',
  7: 'BindFailed',
  8: 'BindFailed',
  9: 'Bound',
  12: 'Bound',
  15: 'BindFailed',
  16: 'Unbound',
  17: 'Bound',
  21: 'Bound',
  22: 'Bound',
  23: 'Bound',
  30: 'Initial',
  31: 'Unbound',
  33: 'Initial',
  26: 'BindFailed',
  27: 'BindFailed',
  28: 'Bound',
  40: 'BindFailed',
  41: 'Bound',
  42: 'BindFailed',
  43: 'Bound',
  34: 'Bound',
}

type RowName = `${UpstreamTable} ${number}`
/**
 * `rows`: what the window leaves in `WHOLE`; `said`: of these, the ones that the import changes, and so prints. `none`:
 * why there is no row of it.
 */
export type Trace = { readonly rows: readonly RowName[]; readonly said: readonly RowName[] } | { readonly none: string }
const changed = (...rows: readonly RowName[]): Trace => ({ rows, said: rows })
/** Nothing in the tables tells these rows from sound ones: hosts, Placement or Nova show what is wrong. */
const asSound = (...rows: readonly RowName[]): Trace => ({ rows, said: [] })

/** Each failure window of upstream (agent-and-conductor 12), and what of it a database holds. */
export const WINDOWS: Readonly<Record<`W${number}`, Trace>> = {
  W1: changed('extended_accelerator_requests 7'),
  W2: changed('extended_accelerator_requests 40', 'deployables 30'),
  W3: changed('attach_handles 3'),
  W4: changed('attach_handles 25'),
  W5: { none: 'a bound request is the same whether or not Nova had its event' },
  W6: changed('attach_handles 33'),
  W7: changed('extended_accelerator_requests 4', 'extended_accelerator_requests 6'),
  W8: asSound('extended_accelerator_requests 28', 'attach_handles 28'),
  W9: changed('attach_handles 7', 'attach_handles 26'),
  W10: { rows: ['extended_accelerator_requests 42', 'deployables 32'], said: ['deployables 32'] },
  W11: changed('deployables 8'),
  W12: changed('devices 9', 'devices 10'),
  W13: asSound('deployables 2'),
  W14: changed('devices 11'),
  W15: asSound('devices 36'),
  W16: { none: 'the rows of the devices are deleted' },
  W17: changed('devices 13', 'attributes 141'),
  W18: changed('attach_handles 35'),
  W19: asSound('extended_accelerator_requests 1'),
  W20: asSound('extended_accelerator_requests 21'),
  W21: changed('deployables 14'),
  W22: asSound('extended_accelerator_requests 30'),
  W23: changed('attributes 142'),
  W24: { rows: ['extended_accelerator_requests 27', 'attach_handles 27'], said: ['attach_handles 27'] },
}
