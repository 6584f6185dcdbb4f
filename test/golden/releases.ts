/** The releases there were, and what each of them has left: `releases.json`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/wire/canonical.ts'
import { MIGRATIONS, migrationNames } from '../../src/persistence/migrate.ts'

export type Release = {
  readonly commit: string
  readonly journal: string
  /** Absent before 0.3.0: nobody reads messages of those releases any longer. Their rows are still in journals. */
  readonly topics?: string
  /** Of each migration the digest of its file: what was shipped has been carried out somewhere. */
  readonly migrations: Readonly<Record<string, string>>
}

export const goldenFile = (name: string): string => join(import.meta.dirname, name)
export const golden = (name: string): string => readFileSync(goldenFile(name), 'utf8')
export const releases = (): Readonly<Record<string, Release>> =>
  JSON.parse(golden('releases.json')) as Record<string, Release>

const numbers = (release: string): readonly number[] => release.split('.').map(Number)
const older = (one: string, other: string): number => {
  const [a, b] = [numbers(one), numbers(other)]
  const at = a.findIndex((part, index) => part !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}
/** Oldest first. */
export const inOrder = (): readonly (readonly [string, Release])[] =>
  Object.entries(releases()).toSorted(([one], [other]) => older(one, other))

export const migrationDigests = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    migrationNames().map((name) => [name, sha256(readFileSync(new URL(`${name}.ts`, MIGRATIONS), 'utf8'))]),
  )
