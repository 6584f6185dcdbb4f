/** A device profile, and the name it holds: two entities, so that one append can decide that both its uuid and its name are free. */
import type { EntityKey, ProfileUuid } from '../../identifiers.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import type { OperatorNote } from '../../operatorNote.ts'
import { type Row, drop, put } from '../runtime/views.ts'

export type Groups = readonly Readonly<Record<string, string>>[]
export type ProfileFacts = {
  readonly uuid: ProfileUuid
  readonly name: string
  readonly description: string | null
  readonly groups: Groups
}
export type ProfileCommand =
  | { readonly type: 'Create'; readonly profile: ProfileFacts }
  | { readonly type: 'Remove' }
  /** `was`: the groups that the profile must still have. */
  | ({ readonly type: 'Regroup'; readonly was: Groups; readonly groups: Groups } & OperatorNote)
export type ProfileEvent =
  | { readonly type: 'ProfileCreated'; readonly profile: ProfileFacts }
  /** Who changed it, and why. `ProfileCreated` follows in the same row with the new content, because release 0.1.0 reads that event. */
  | ({ readonly type: 'ProfileRegrouped' } & OperatorNote)
  | { readonly type: 'ProfileRemoved'; readonly name: string }
export type Profile = {
  readonly facts: ProfileFacts | null
  readonly createdAt: number
  /** Absent until the profile is changed. */
  readonly updatedAt?: number
}

export const profileRow = ({
  facts,
  createdAt,
  updatedAt,
}: Profile & { readonly facts: ProfileFacts }): Row<'profiles'> => ({
  ...facts,
  created_at: createdAt,
  updated_at: updatedAt ?? null,
})

const regroup = (
  facts: ProfileFacts | null,
  { was, groups, by, reason }: Extract<ProfileCommand, { readonly type: 'Regroup' }>,
): Decision<ProfileEvent> => {
  if (!facts || canonicalJson(facts.groups) !== canonicalJson(was))
    return refuse({
      kind: 'conflict',
      reason: `device profile ${facts?.name ?? ''} was changed or deleted meanwhile: ask again`,
    })
  if (canonicalJson(groups) === canonicalJson(was)) return accept()
  return accept({ type: 'ProfileRegrouped', by, reason }, { type: 'ProfileCreated', profile: { ...facts, groups } })
}

const evolve = (held: Profile, event: ProfileEvent, at: number): Profile => {
  switch (event.type) {
    case 'ProfileCreated':
      return held.facts
        ? { facts: event.profile, createdAt: held.createdAt, updatedAt: at }
        : { facts: event.profile, createdAt: at }
    case 'ProfileRemoved':
      return { facts: null, createdAt: 0 }
    case 'ProfileRegrouped':
    default:
      // an event of a later release: it means nothing to this one
      return held
  }
}

export const profile: Decider<Profile, ProfileCommand, ProfileEvent, 'profile'> = {
  kind: 'profile',
  initial: { facts: null, createdAt: 0 },
  decide: ({ facts }, command) => {
    if (command.type === 'Create')
      return facts
        ? refuse({ kind: 'exists', resource: 'device profile', field: 'uuid', value: facts.uuid })
        : accept({ type: 'ProfileCreated', profile: command.profile })
    if (command.type === 'Regroup') return regroup(facts, command)
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
