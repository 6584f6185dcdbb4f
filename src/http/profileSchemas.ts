/** The schemas of device profiles and their versions. */
import * as v from 'valibot'
import { StringMap, Time, Uuid, links, times } from './schemas.ts'

export const Profile = v.object({
  uuid: Uuid,
  name: v.string(),
  description: v.nullable(v.string()),
  groups: v.array(StringMap),
  version: v.pipe(
    v.optional(v.number()),
    v.description('From 2.5. Of what is shown: the newest version that is enabled.'),
  ),
  enabled: v.pipe(
    v.optional(v.boolean()),
    v.description('From 2.5. False: no version is enabled, and nobody can use it.'),
  ),
  projects: v.pipe(
    v.optional(v.nullable(v.array(v.string()))),
    v.description('From 2.5. Who may use it; null: everybody. A project is shown only itself.'),
  ),
  ...times,
  links,
})
export const ProfileVersion = v.object({
  version: v.number(),
  enabled: v.boolean(),
  description: v.nullable(v.string()),
  groups: v.array(StringMap),
  created_at: Time,
})
