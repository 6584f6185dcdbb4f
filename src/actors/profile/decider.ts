/** A device profile, and the name it holds: two entities, so that one append can decide that both its uuid and its name are free. */
import { type Decider, accept, refuse } from '../decider.ts'
import { type Row, drop, put } from '../views.ts'

type Groups = readonly Readonly<Record<string, string>>[]
export type ProfileFacts = {
  readonly uuid: string
  readonly name: string
  readonly description: string | null
  readonly groups: Groups
}
export type ProfileCommand = { readonly type: 'Create'; readonly profile: ProfileFacts } | { readonly type: 'Remove' }
export type ProfileEvent =
  | { readonly type: 'ProfileCreated'; readonly profile: ProfileFacts }
  | { readonly type: 'ProfileRemoved'; readonly name: string }
export type Profile = { readonly facts: ProfileFacts | null; readonly createdAt: number }

export const profileRow = ({
  facts,
  createdAt,
}: {
  readonly facts: ProfileFacts
  readonly createdAt: number
}): Row<'profiles'> => ({
  ...facts,
  created_at: createdAt,
  updated_at: null,
})

export const profile: Decider<Profile, ProfileCommand, ProfileEvent> = {
  kind: 'profile',
  initial: { facts: null, createdAt: 0 },
  decide: ({ facts }, command) => {
    if (command.type === 'Create')
      return facts
        ? refuse({ kind: 'exists', resource: 'device profile', field: 'uuid', value: facts.uuid })
        : accept({ type: 'ProfileCreated', profile: command.profile })
    return facts
      ? accept({ type: 'ProfileRemoved', name: facts.name })
      : refuse({ kind: 'not_found', resource: 'device profile', id: '' })
  },
  evolve: (_held, event, at) =>
    event.type === 'ProfileCreated' ? { facts: event.profile, createdAt: at } : { facts: null, createdAt: 0 },
  rows: (before, after) => {
    if (after.facts) return [put('profiles', profileRow({ facts: after.facts, createdAt: after.createdAt }))]
    return before.facts ? [drop('profiles', before.facts.uuid)] : []
  },
}
export const profileKey = (uuid: string): string => `profile/${uuid}`

type Name = { readonly holder: string | null }
type NameCommand = { readonly type: 'Take'; readonly name: string; readonly holder: string } | { readonly type: 'Free' }
type NameEvent = { readonly type: 'NameTaken'; readonly holder: string } | { readonly type: 'NameFreed' }
export const profileName: Decider<Name, NameCommand, NameEvent> = {
  kind: 'profile-name',
  initial: { holder: null },
  decide: ({ holder }, command) => {
    if (command.type === 'Free') return accept({ type: 'NameFreed' })
    return holder
      ? refuse({ kind: 'exists', resource: 'device profile', field: 'name', value: command.name })
      : accept({ type: 'NameTaken', holder: command.holder })
  },
  evolve: (_held, event) => ({ holder: event.type === 'NameTaken' ? event.holder : null }),
  rows: () => [],
}
export const profileNameKey = (name: string): string => `profile-name/${name}`
