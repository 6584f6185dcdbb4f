/** Device profiles: named descriptions of the accelerators that an instance may request. */
import * as v from 'valibot'
import { AS_OF } from '../asOf.ts'
import type { Caller, ProfileRow } from '../../actors/control.ts'
import type { Viewer } from '../../actors/profile/usable.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { DRY_RUN, answerImpact } from '../impact.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { isProfileName } from '../../actors/profile/name.ts'
import { isSelector, newProfile } from './profileRules.ts'
import { list as listArg } from '../query.ts'
import { self, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Answered, Call, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import * as profileSchemas from '../profileSchemas.ts'
import { elementShape, UUID_SHAPE } from '../shapes.ts'
import { NAME_LIMIT } from '../../vocabulary/text.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { SINCE } from '../versions.ts'

type Shown = { readonly base: string; readonly minor: number; readonly caller: Caller }
export const profileBody = (row: ProfileRow, { base, minor, caller }: Shown) => ({
  uuid: row.uuid,
  name: row.name,
  description: row.description,
  groups: row.groups,
  ...(minor >= SINCE.profileVersions && {
    version: row.version,
    enabled: row.enabled,
    projects: row.projects && (caller.isAdmin ? row.projects : [caller.projectId]),
  }),
  ...times(row),
  links: [self(base, 'device_profiles', row.uuid)],
})

/** Before 2.5, a profile without an enabled version counts as not existing. */
const viewerOf = ({ caller, minor }: Pick<Call<{}, unknown>, 'caller' | 'minor'>): Viewer => ({
  caller,
  disabled: minor >= SINCE.profileVersions,
})

const unknown = (id: string): HttpRefused => refused({ kind: 'not_found', resource: 'device_profile', id })

const list = route({
  method: 'GET',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:get_all',
  query: {
    ...pageArgs(['created_at', 'name', 'uuid']),
    name: listArg('Exactly these names, comma separated; unknown ones are left out.'),
    ...AS_OF,
  },
  docs: { summary: 'Device profiles.', answers: { 200: schemas.listOf('device_profiles', profileSchemas.Profile) } },
  handle: (call) => {
    const { control, query, base, pairs } = call
    const names = query.name?.filter(isProfileName) ?? null
    return answerList((page) => control.profiles.list(names, page, viewerOf(call)), pageOf(query), {
      key: 'device_profiles',
      collection: 'device_profiles',
      base,
      pairs,
      item: (row) => profileBody(row, call),
      markerOf: (row) => row.uuid,
    })
  },
})

const create = route({
  method: 'POST',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:create',
  body: newProfile,
  docs: { summary: 'Creates a device profile.', answers: { 201: profileSchemas.Profile }, refusals: [409, 500] },
  handle: async (call) => {
    const made = await call.control.profiles.create(call.caller, call.body)
    if (made.ok) return reply(201, profileBody(made.value, call))
    const { fault } = made
    return fault.kind === 'exists' && fault.field === 'uuid' ? refused({ kind: 'expected_500', instead: fault }) : made
  },
})

/** The same path accepts a UUID or, since 2.2, a name. */
const show = async (call: Call<{}, undefined, { readonly id: string }>): Promise<Answered> => {
  const { control, minor } = call
  const { id } = call.params
  const wrap = (row: ProfileRow) => ({ device_profile: profileBody(row, call) })
  if (minor >= SINCE.profileByName)
    return isSelector(id) ? answer(control.profiles.find(id, viewerOf(call)), 200, wrap) : unknown(id)
  const uuid = canonicalUuid(id)
  return uuid === null
    ? refused({ kind: 'not_acceptable', reason: 'Device profiles are found by name since version 2.2.' })
    : answer(control.profiles.byUuid(uuid, viewerOf(call)), 200, wrap)
}

const one = route({
  method: 'GET',
  path: '/v2/device_profiles/:id',
  rule: 'cyborg:device_profile:get_one',
  query: AS_OF,
  docs: {
    summary: 'One device profile, by UUID or (since 2.2) by name.',
    path: { id: { about: 'The UUID. Since version 2.2 also the name.', schema: UUID_SHAPE } },
    answers: { 200: v.object({ device_profile: profileSchemas.Profile }) },
    refusals: [404, 406],
  },
  handle: show,
})

const NAMED = elementShape(NAME_LIMIT)

/** Deletes all or none, so one id that cannot exist makes the whole request fail. */
const remove = (
  control: Call<{}, undefined>['control'],
  caller: Caller,
  ids: readonly string[],
  dryRun: boolean | undefined,
): Answered | Promise<Answered> => {
  const stray = ids.find((id) => !isSelector(id))
  if (stray !== undefined) return unknown(stray)
  const selectors = [...new Set(ids)]
  return dryRun
    ? answerImpact(control.profiles.impact(selectors))
    : answer(control.profiles.remove(caller, selectors), 204)
}

const removeOne = route({
  method: 'DELETE',
  path: '/v2/device_profiles/:id',
  rule: 'cyborg:device_profile:delete',
  query: { dry_run: DRY_RUN },
  docs: {
    summary: 'Deletes a device profile, by UUID or by name.',
    answers: { 200: schemas.Impact, 204: null },
    refusals: [404, 409],
  },
  handle: ({ control, caller, params, query }) => remove(control, caller, [params.id], query.dry_run),
})

const removeSome = route({
  method: 'DELETE',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:delete',
  query: {
    value: listArg('Names or UUIDs, comma separated.', NAMED),
    name: listArg('The same under its older name.', NAMED),
    dry_run: DRY_RUN,
  },
  oneOf: ['value', 'name'],
  docs: {
    summary: 'Deletes several device profiles, all or none.',
    answers: { 200: schemas.Impact, 204: null },
    refusals: [404, 409],
  },
  handle: ({ control, caller, query }) => {
    const ids = query.value ?? query.name!
    if (ids.includes('')) return invalid(query.value === undefined ? 'name' : 'value', 'it holds an empty element')
    return remove(control, caller, ids, query.dry_run)
  },
})

export const profileRoutes: readonly Route[] = [list, create, one, removeOne, removeSome]
