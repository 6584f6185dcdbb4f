/**
 * Changes a device profile: makes versions of it, enables and disables versions, and shares the profile with projects
 * (from 2.5).
 */
import * as v from 'valibot'
import type { Control } from '../../actors/control.ts'
import type { ProfileUpdate, Version } from '../../actors/profile/decider.ts'
import { invalid } from '../faults.ts'
import { DRY_RUN, answerImpact } from '../impact.ts'
import { time } from '../render.ts'
import { answer, route } from '../route.ts'
import type { Body, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import * as profileSchemas from '../profileSchemas.ts'
import { trimmedText } from '../shapes.ts'
import type { Json } from '../shapes.ts'
import { VERSION_NUMBER } from '../../vocabulary/profileDiff.ts'
import { NAME_LIMIT } from '../../vocabulary/text.ts'
import { SINCE } from '../versions.ts'
import { REASON_MAX } from './operatorNote.ts'
import { findProfile } from './profileCheck.ts'
import { CONTENT, readGroups } from './profileRules.ts'
import { profileBody } from './profiles.ts'

/** The maximal number of projects of a profile, and of versions in one change. */
const PROJECTS_MAX = 1000
const VERSIONS_MAX = 32
const INTEGER_MAX = 2 ** 31 - 1

/** `enabled` is allowed only together with a new version. */
const NO_NEW: Json = { not: { required: ['enabled'] } }

const Patched = v.pipe(
  v.strictObject({
    groups: v.optional(CONTENT.groups),
    description: v.optional(v.nullable(CONTENT.description)),
    enabled: v.optional(v.boolean()),
    versions: v.pipe(
      v.optional(
        v.record(
          v.pipe(
            v.string(),
            v.regex(VERSION_NUMBER, 'it must be the number of a version'),
            v.metadata({ pattern: VERSION_NUMBER.source }),
          ),
          v.boolean(),
        ),
        {},
      ),
      v.check((all) => Object.keys(all).length <= VERSIONS_MAX, `there must not be more than ${VERSIONS_MAX}`),
      v.metadata({ maxProperties: VERSIONS_MAX }),
    ),
    projects: v.optional(
      v.nullable(
        v.pipe(
          v.array(trimmedText({ characters: NAME_LIMIT.characters })),
          v.maxLength(PROJECTS_MAX, `there must not be more than ${PROJECTS_MAX}`),
        ),
      ),
    ),
    if_version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(INTEGER_MAX))),
    reason: trimmedText({ characters: REASON_MAX }),
  }),
  v.metadata({
    anyOf: [
      { required: ['groups'] },
      { required: ['description'] },
      {
        allOf: [
          NO_NEW,
          {
            anyOf: [
              { required: ['projects'] },
              { required: ['versions'], properties: { versions: { minProperties: 1 } } },
            ],
          },
        ],
      },
    ],
  }),
)
type UpdateBody = { readonly change: ProfileUpdate; readonly reason: string }

const asked: Body<UpdateBody> = {
  size: 'list',
  schema: Patched,
  read: (json) => {
    const parsed = schemas.readAs(Patched, json)
    if (!parsed.ok) return parsed
    const { groups: given, description, enabled, versions, projects, if_version: ifVersion, reason } = parsed.value
    const changes = [given, description, projects].some((one) => one !== undefined)
    if (!changes && Object.keys(versions).length === 0)
      return invalid('body', 'it must hold groups, description, versions or projects')
    if (enabled !== undefined && given === undefined && description === undefined)
      return invalid(
        'enabled',
        'it is said of a new version, which groups or description make; versions changes others',
      )
    const groups = given === undefined ? null : readGroups(given)
    if (groups && !groups.ok) return groups
    const change = {
      ifVersion: ifVersion ?? null,
      enabled: enabled ?? true,
      versions: Object.entries(versions).map(([version, on]) => ({ version: Number(version), enabled: on })),
      ...(groups && { groups: groups.value }),
      ...(description !== undefined && { description }),
      ...(projects !== undefined && { projects: projects && [...new Set(projects)] }),
    }
    return { ok: true, value: { change, reason } }
  },
}

const VERSIONED = { minor: SINCE.profileVersions, what: 'Device profiles have versions' } as const
const ANY = { isAdmin: true, projectId: '' } as const
const find = (control: Control, id: string) => findProfile(control, id, { caller: ANY, disabled: true })

const update = route({
  method: 'PATCH',
  path: '/v2/device_profiles/:id',
  rule: 'cyborg:device_profile:update',
  since: VERSIONED,
  query: { dry_run: DRY_RUN },
  body: asked,
  docs: {
    summary:
      'Changes a device profile, by UUID or by name (from 2.5): `groups` or `description` make a new version, which is `enabled` unless it is said otherwise; `versions` enables and disables versions by number; `projects` says who may use the profile, null: everybody. All of it or nothing. `if_version`: only if this is the newest version. Requests keep the group of the version that they were made with.',
    answers: { 200: v.union([v.object({ device_profile: profileSchemas.Profile }), schemas.Impact]) },
    refusals: [404, 406, 409],
  },
  handle: async (call) => {
    const { control, caller, body } = call
    const found = await find(control, call.params.id)
    if (!found.ok) return found
    const change = [caller, found.value.uuid, body.change, body.reason] as const
    if (call.query.dry_run) return answerImpact(control.profiles.updateImpact(...change))
    return answer(control.profiles.update(...change), 200, (row) => ({ device_profile: profileBody(row, call) }))
  },
})

const versionBody = ({ version, enabled, description, groups, createdAt }: Version) => ({
  version,
  enabled,
  description,
  groups,
  created_at: time(createdAt),
})

const versions = route({
  method: 'GET',
  path: '/v2/device_profiles/:id/versions',
  rule: 'cyborg:device_profile:versions',
  since: VERSIONED,
  docs: {
    summary: 'The last 32 versions of a device profile, by UUID or by name, oldest first (from 2.5).',
    answers: { 200: v.object({ versions: v.array(profileSchemas.ProfileVersion) }) },
    refusals: [404, 406],
  },
  handle: async ({ control, params }) => {
    const found = await find(control, params.id)
    if (!found.ok) return found
    return answer(control.profiles.versions(found.value.uuid), 200, (all) => ({ versions: all.map(versionBody) }))
  },
})

export const versionRoutes: readonly Route[] = [update, versions]
