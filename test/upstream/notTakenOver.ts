/** Bound requests whose profile, or which themselves, cannot be taken over, each damage by itself as in `cases.ts`. */
import type { ArqRow, UpstreamTables } from '../../src/actors/upstream/rows.ts'
import type { Case } from './cases.ts'
import { arqRow, boundRow, nameOf, profileRow, profiles, simple, tablesOf } from './scenario.ts'

const A = { host: 'compute-1', bus: 'a1' }
const NAME = nameOf(A)
const arqs = (...rows: readonly ArqRow[]): Partial<UpstreamTables> => ({ extended_accelerator_requests: rows })

export const NOT_TAKEN_OVER: readonly Case[] = [
  [
    'bound requests of a profile without UUID, and of one that is gone: they keep their handles, also those that the table says are free',
    tablesOf(
      { device_profiles: [profileRow(1, 'gpu', { uuid: 'none' })] },
      simple(1, A, true),
      simple(2, { ...A, bus: 'b1' }),
      simple(3, { ...A, bus: 'c1' }, true),
      simple(4, { ...A, bus: 'd1' }),
      arqs(
        boundRow(1, 1, NAME),
        boundRow(2, 2, nameOf({ ...A, bus: 'b1' })),
        boundRow(3, 3, nameOf({ ...A, bus: 'c1' }), { profileId: 99 }),
        boundRow(4, 4, nameOf({ ...A, bus: 'd1' }), { profileId: 99 }),
        arqRow(5),
        arqRow(6, { profileId: 99 }),
      ),
    ),
    [
      'left out value device_profiles 1',
      'repaired W7 extended_accelerator_requests 2',
      'repaired orphan extended_accelerator_requests 3',
      'repaired orphan extended_accelerator_requests 4',
      'repaired W7 extended_accelerator_requests 4',
      'left out orphan extended_accelerator_requests 6',
    ],
    ['1 Bound', '2 Bound', '3 Bound', '4 Bound', '5 Initial'],
  ],
  [
    'a bound request without UUID, and one in an unknown state: what they name is withheld, whatever the table says of it',
    tablesOf(
      profiles,
      simple(1, A, true),
      simple(2, { ...A, bus: 'b1' }),
      simple(3, { ...A, bus: 'c1' }),
      simple(4, { ...A, bus: 'd1' }, true),
      arqs(
        boundRow(1, 1, NAME, { uuid: 'none' }),
        boundRow(2, 2, nameOf({ ...A, bus: 'b1' }), { uuid: 'none' }),
        boundRow(3, 3, nameOf({ ...A, bus: 'c1' }), { state: 'Resizing' }),
        boundRow(4, 4, nameOf({ ...A, bus: 'd1' })),
        boundRow(5, 4, nameOf({ ...A, bus: 'd1' }), { uuid: 'none' }),
      ),
    ),
    [
      'left out value extended_accelerator_requests 1',
      'left out value extended_accelerator_requests 2',
      'left out value extended_accelerator_requests 3',
      'left out value extended_accelerator_requests 5',
      'repaired forsaken attach_handles 1',
      'repaired forsaken attach_handles 2',
      'repaired forsaken attach_handles 3',
      'repaired forsaken attach_handles 4',
    ],
    ['4 Bound'],
  ],
]
