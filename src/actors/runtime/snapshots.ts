/**
 * Decides which snapshots this program can read. A snapshot contains the memory of an actor, in the form of the program
 * that wrote it. If its schema number differs from the one here, the journal (with its archive) is read instead.
 */
import type { EntityKey } from '../../vocabulary/identifiers.ts'

/**
 * One schema number for each kind of entity. Raise it whenever a field of the memory is added, removed, renamed or gets
 * another meaning: `test/golden/snapshots.test.ts` fails if that was forgotten.
 */
export const SNAPSHOT_SCHEMAS: Readonly<Record<string, number>> = {
  arq: 3,
  deployable: 6,
  device: 3,
  host: 7,
  instance: 4,
  numbers: 3,
  placement: 3,
  profile: 3,
  'profile-name': 3,
  quota: 3,
}

/** No snapshot has the number 0, so no snapshot is read for a kind that is not listed. */
export const snapshotSchemaOf = (key: EntityKey): number => SNAPSHOT_SCHEMAS[key.slice(0, key.indexOf('/'))] ?? 0
