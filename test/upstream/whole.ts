/** A whole database of upstream: healthy rows, nested deployables, and each damage beside them. */
import type { UpstreamTables } from '../../src/actors/upstream/rows.ts'
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

export const WHOLE: UpstreamTables = tablesOf(
  {
    device_profiles: [
      profileRow(1, 'gpu', { description: 'ein Gerät' }),
      profileRow(2, 'torn', { json: '{"groups": [{' }),
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
}
