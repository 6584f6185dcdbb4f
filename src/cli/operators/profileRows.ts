/** The columns of a device profile, for all commands that show one. */
import { type Columns, columnsOf, present } from '../output.ts'
import type { ApiFlags } from './api.ts'
import type { Profile } from './apiShapes.ts'

export const PROFILES = '/device_profiles'
export const profilePath = (id: string): string => `${PROFILES}/${encodeURIComponent(id)}`

export const groupText = (group: Readonly<Record<string, string>>): string =>
  Object.entries(group)
    .map(([key, value]) => `${key}=${value}`)
    .join(',')
export const SHOWN: Columns<Profile> = [
  ...columnsOf<Profile>(['name', 'uuid', 'description', 'version', 'enabled']),
  { name: 'groups', of: ({ groups }) => groups.map(groupText).join('; ') },
  ...columnsOf<Profile>(['projects', 'created_at', 'updated_at'], { created_at: 'created', updated_at: 'updated' }),
]
export const showProfile = (flags: ApiFlags, profile: Profile, document: unknown): void =>
  present(flags, { document, rows: [profile], columns: SHOWN, one: true })
