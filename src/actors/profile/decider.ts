/**
 * A device profile, and the name it holds: two entities, so that one append can decide that both its uuid and its name
 * are free.
 */
import type { EntityKey, ProfileUuid, ProjectId } from '../../vocabulary/identifiers.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { type Row, drop, put } from '../runtime/views.ts'
import { type Groups, type ProfileFacts, type Version, shownOf, withContent, withEnabled } from './versions.ts'

export type { Groups, ProfileFacts, Version } from './versions.ts'
/** An operator's change of a profile. If it has a description or groups, it makes a new version. */
export type ProfileUpdate = {
  /** The newest version that the caller has seen; null: the change does not depend on it. */
  readonly ifVersion: number | null
  readonly description?: string | null
  readonly groups?: Groups
  /** Whether the new version is enabled. */
  readonly enabled: boolean
  /** Versions to enable or to disable. */
  readonly versions: readonly { readonly version: number; readonly enabled: boolean }[]
  /** The projects that may see and use the profile; null: all. */
  readonly projects?: readonly ProjectId[] | null
}
export type ProfileCommand =
  | { readonly type: 'Create'; readonly profile: ProfileFacts }
  | { readonly type: 'Remove' }
  | ({ readonly type: 'Update' } & ProfileUpdate & OperatorNote)
  /** `was`: the groups that the profile must still have. */
  | ({ readonly type: 'Regroup'; readonly was: Groups; readonly groups: Groups } & OperatorNote)
export type ProfileEvent =
  /**
   * `version`: the number of this version; absent: the profile was created, or a release without versions changed it.
   */
  | { readonly type: 'ProfileCreated'; readonly profile: ProfileFacts; readonly version?: number }
  /**
   * The groups were changed: who did it, and why. `ProfileCreated` follows in the same row with the new content,
   * because release 0.1.0 reads that event.
   */
  | ({ readonly type: 'ProfileRegrouped' } & OperatorNote)
  | ({ readonly type: 'ProfileVersionSet'; readonly version: number; readonly enabled: boolean } & OperatorNote)
  | ({ readonly type: 'ProfileShared'; readonly projects: readonly ProjectId[] | null } & OperatorNote)
  | { readonly type: 'ProfileRemoved'; readonly name: string }
export type Profile = {
  /** The profile with the content of the version that is shown. */
  readonly facts: ProfileFacts | null
  readonly createdAt: number
  /** Absent until the profile is changed. */
  readonly updatedAt?: number
  /** Oldest first. */
  readonly versions: readonly Version[]
  readonly projects: readonly ProjectId[] | null
}
const initial: Profile = { facts: null, createdAt: 0, versions: [], projects: null }

export const profileRow = ({
  facts,
  createdAt,
  updatedAt,
  versions,
  projects,
}: Profile & { readonly facts: ProfileFacts }): Row<'profiles'> => {
  const shown = shownOf(versions)
  return {
    uuid: facts.uuid,
    name: facts.name,
    description: facts.description,
    groups: facts.groups,
    version: shown?.version ?? 1,
    enabled: shown?.enabled ?? true,
    projects,
    created_at: createdAt,
    updated_at: updatedAt ?? null,
  }
}

const changed = (name: string) =>
  refuse({ kind: 'conflict', reason: `device profile ${name} was changed or deleted meanwhile: ask again` })

/** The events that make a new version; none if the newest version has the same content. */
const newVersion = (
  { facts, versions }: Profile & { readonly facts: ProfileFacts },
  content: Pick<ProfileFacts, 'description' | 'groups'>,
  enabled: boolean,
  { by, reason }: OperatorNote,
): readonly ProfileEvent[] => {
  const newest = versions.at(-1)!
  const { description, groups } = newest
  if (canonicalJson({ description, groups }) === canonicalJson(content) && newest.enabled === enabled) return []
  const version = newest.version + 1
  return [
    { type: 'ProfileRegrouped', by, reason },
    { type: 'ProfileCreated', profile: { uuid: facts.uuid, name: facts.name, ...content }, version },
    ...(enabled ? [] : [{ type: 'ProfileVersionSet', version, enabled, by, reason } as const]),
  ]
}

const regroup = (
  held: Profile,
  { was, groups, by, reason }: Extract<ProfileCommand, { readonly type: 'Regroup' }>,
): Decision<ProfileEvent> => {
  const { facts, versions } = held
  if (!facts || canonicalJson(facts.groups) !== canonicalJson(was)) return changed(facts?.name ?? '')
  if (canonicalJson(groups) === canonicalJson(was)) return accept()
  const { description } = facts
  return accept(...newVersion({ ...held, facts }, { description, groups }, shownOf(versions)!.enabled, { by, reason }))
}

const update = (
  held: Profile,
  command: Extract<ProfileCommand, { readonly type: 'Update' }>,
): Decision<ProfileEvent> => {
  const { facts, versions, projects } = held
  const newest = versions.at(-1)
  if (!facts || !newest) return refuse({ kind: 'not_found', resource: 'device profile', id: '' })
  const { by, reason, description = newest.description, groups = newest.groups } = command
  if (command.ifVersion !== null && command.ifVersion !== newest.version) return changed(facts.name)
  const stranger = command.versions.find(({ version }) => !versions.some((one) => one.version === version))
  if (stranger)
    return refuse({
      kind: 'invalid',
      field: `versions.${stranger.version}`,
      rule: `the versions of ${facts.name} are ${versions[0]!.version} to ${newest.version}`,
    })
  const content = command.groups !== undefined || command.description !== undefined
  const set = command.versions.filter(({ version, enabled }) =>
    versions.some((one) => one.version === version && one.enabled !== enabled),
  )
  const wanted = command.projects === undefined ? projects : command.projects && command.projects.toSorted()
  return accept(
    ...(content ? newVersion({ ...held, facts }, { description, groups }, command.enabled, { by, reason }) : []),
    ...set.map((one) => ({ type: 'ProfileVersionSet', ...one, by, reason }) as const),
    ...(canonicalJson(wanted) === canonicalJson(projects)
      ? []
      : [{ type: 'ProfileShared', projects: wanted, by, reason } as const]),
  )
}

const withVersions = (held: Profile, facts: ProfileFacts, versions: readonly Version[], at: number): Profile => {
  const { description, groups } = shownOf(versions)!
  return { ...held, facts: { ...facts, description, groups }, versions, updatedAt: at }
}

const evolve = (held: Profile, event: ProfileEvent, at: number): Profile => {
  switch (event.type) {
    case 'ProfileCreated': {
      const { profile: facts, version } = event
      if (held.facts) return withVersions(held, facts, withContent(held.versions, facts, version, at), at)
      return { ...initial, facts, createdAt: at, versions: withContent([], facts, version, at) }
    }
    case 'ProfileVersionSet':
      if (!held.facts) return held
      return withVersions(held, held.facts, withEnabled(held.versions, event.version, event.enabled), at)
    case 'ProfileShared':
      return held.facts ? { ...held, projects: event.projects, updatedAt: at } : held
    case 'ProfileRemoved':
      return initial
    case 'ProfileRegrouped':
    default:
      // an event of a later release, which this release ignores
      return held
  }
}

export const profile: Decider<Profile, ProfileCommand, ProfileEvent, 'profile'> = {
  kind: 'profile',
  initial,
  decide: (held, command) => {
    const { facts } = held
    if (command.type === 'Create')
      return facts
        ? refuse({ kind: 'exists', resource: 'device profile', field: 'uuid', value: facts.uuid })
        : accept({ type: 'ProfileCreated', profile: command.profile })
    if (command.type === 'Regroup') return regroup(held, command)
    if (command.type === 'Update') return update(held, command)
    return facts
      ? accept({ type: 'ProfileRemoved', name: facts.name })
      : refuse({ kind: 'not_found', resource: 'device profile', id: '' })
  },
  evolve,
  rows: (before, after) => {
    if (before === after) return []
    if (after.facts) return [put('profiles', profileRow({ ...after, facts: after.facts }))]
    return before.facts ? [drop('profiles', before.facts.uuid)] : []
  },
}
export const profileKey = (uuid: ProfileUuid): EntityKey<'profile'> => `profile/${uuid}`

type Name = { readonly holder: ProfileUuid | null }
type NameCommand =
  | { readonly type: 'Take'; readonly name: string; readonly holder: ProfileUuid }
  | { readonly type: 'Free' }
type NameEvent = { readonly type: 'NameTaken'; readonly holder: ProfileUuid } | { readonly type: 'NameFreed' }
export const profileName: Decider<Name, NameCommand, NameEvent, 'profile-name'> = {
  kind: 'profile-name',
  initial: { holder: null },
  decide: ({ holder }, command) => {
    if (command.type === 'Free') return accept({ type: 'NameFreed' })
    return holder
      ? refuse({ kind: 'exists', resource: 'device profile', field: 'name', value: command.name })
      : accept({ type: 'NameTaken', holder: command.holder })
  },
  evolve: (held, event) => {
    if (event.type === 'NameTaken') return { holder: event.holder }
    return event.type === 'NameFreed' ? { holder: null } : held
  },
  rows: () => [],
}
export const profileNameKey = (name: string): EntityKey<'profile-name'> => `profile-name/${name}`
