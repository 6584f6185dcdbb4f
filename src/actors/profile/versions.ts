/**
 * The versions of a device profile. The content of a version never changes; whether it is enabled does. What is shown
 * and used is the newest enabled version. Pure.
 */
import type { ProfileUuid } from '../../vocabulary/identifiers.ts'

export type Groups = readonly Readonly<Record<string, string>>[]
export type ProfileFacts = {
  readonly uuid: ProfileUuid
  readonly name: string
  readonly description: string | null
  readonly groups: Groups
}
export type Version = {
  /** Counts from 1. */
  readonly version: number
  readonly description: string | null
  readonly groups: Groups
  readonly enabled: boolean
  readonly createdAt: number
}

/**
 * At most this many versions of a profile are remembered. Older versions are neither enabled nor listed; the journal
 * keeps them.
 */
export const VERSIONS_KEPT = 32

/** The newest enabled version; where none is enabled, the newest. Null: there is none at all. */
export const shownOf = (versions: readonly Version[]): Version | null =>
  versions.findLast(({ enabled }) => enabled) ?? versions.at(-1) ?? null

/**
 * Adds this content as the version `number`. If the number is absent or exists already, the newest version gets the
 * content, as in releases up to 0.2.0, which knew no versions.
 */
export const withContent = (
  versions: readonly Version[],
  { description, groups }: Pick<ProfileFacts, 'description' | 'groups'>,
  number: number | undefined,
  at: number,
): readonly Version[] => {
  const newest = versions.at(-1)
  if (newest && (number === undefined || number <= newest.version))
    return [...versions.slice(0, -1), { ...newest, description, groups }]
  const added = { version: number ?? 1, description, groups, enabled: true, createdAt: at }
  return [...versions, added].slice(-VERSIONS_KEPT)
}

export const withEnabled = (versions: readonly Version[], number: number, enabled: boolean): readonly Version[] =>
  versions.map((one) => (one.version === number ? { ...one, enabled } : one))
