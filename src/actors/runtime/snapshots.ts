/**
 * Which snapshots this program can read. A snapshot holds what an actor remembers, in the form that the program which wrote it gave it;
 * one of another number is not read, and the journal (with its archive) is folded instead.
 */
import type { EntityKey } from '../../identifiers.ts'

/**
 * One number for each kind of entity. It is raised whenever the memory of that kind gets, loses or renames a field, or a field means
 * something else: `test/golden/snapshots.test.ts` fails when that was forgotten.
 */
export const SNAPSHOT_SCHEMAS: Readonly<Record<string, number>> = {
  arq: 3,
  deployable: 3,
  device: 2,
  host: 3,
  instance: 2,
  numbers: 2,
  placement: 1,
  profile: 3,
  'profile-name': 2,
  quota: 2,
}

/** No snapshot has the number 0: nothing is read for a kind that is not listed. */
export const snapshotSchemaOf = (key: EntityKey): number => SNAPSHOT_SCHEMAS[key.slice(0, key.indexOf('/'))] ?? 0
