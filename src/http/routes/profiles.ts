/** Device profiles: named descriptions of the accelerators that an instance may request. */
import * as v from 'valibot'
import type { Caller, ProfileRow } from '../../actors/control.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { isProfileName, newProfile } from './profileRules.ts'
import { list as listArg } from '../query.ts'
import { self, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Answered, Call, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { elementShape } from '../shapes.ts'
import { NAME_LIMIT } from '../../text.ts'
import { canonicalUuid } from '../../uuid.ts'
import { SINCE } from '../versions.ts'

const profileBody = (row: ProfileRow, base: string) => ({
  uuid: row.uuid,
  name: row.name,
  description: row.description,
  groups: row.groups,
  ...times(row),
  links: [self(base, 'device_profiles', row.uuid)],
})

const unknown = (id: string): HttpRefused => refused({ kind: 'not_found', resource: 'device_profile', id })

const list = route({
  method: 'GET',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:get_all',
  query: {
    ...pageArgs(['created_at', 'name', 'uuid']),
    name: listArg('Exactly these names, comma separated; unknown ones are left out.'),
  },
  docs: { summary: 'Device profiles.', answers: { 200: schemas.listOf('device_profiles', schemas.Profile) } },
  handle: ({ control, query, base, pairs }) =>
    answerList((page) => control.profiles.list(query.name?.filter(isProfileName) ?? null, page), pageOf(query), {
      key: 'device_profiles',
      collection: 'device_profiles',
      base,
      pairs,
      item: (row) => profileBody(row, base),
      markerOf: (row) => row.uuid,
    }),
})

const create = route({
  method: 'POST',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:create',
  body: newProfile,
  docs: { summary: 'Creates a device profile.', answers: { 201: schemas.Profile }, refusals: [409, 500] },
  handle: async ({ control, caller, body, base }) => {
    const made = await control.profiles.create(caller, body)
    if (made.ok) return reply(201, profileBody(made.value, base))
    const { fault } = made
    return fault.kind === 'exists' && fault.field === 'uuid' ? refused({ kind: 'expected_500', instead: fault }) : made
  },
})

/** The same path accepts a UUID or, since 2.2, a name. */
const show = async ({
  control,
  params,
  minor,
  base,
}: Call<{}, undefined, { readonly id: string }>): Promise<Answered> => {
  const { id } = params
  const uuid = canonicalUuid(id)
  const wrap = (row: ProfileRow) => ({ device_profile: profileBody(row, base) })
  if (uuid !== null) return answer(control.profiles.byUuid(uuid), 200, wrap)
  if (minor < SINCE.profileByName)
    return refused({ kind: 'not_acceptable', reason: 'Device profiles are found by name since version 2.2.' })
  return isProfileName(id) ? answer(control.profiles.byName(id), 200, wrap) : unknown(id)
}

const one = route({
  method: 'GET',
  path: '/v2/device_profiles/:id',
  rule: 'cyborg:device_profile:get_one',
  docs: {
    summary: 'One device profile, by UUID or (since 2.2) by name.',
    answers: { 200: v.object({ device_profile: schemas.Profile }) },
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
): Answered | Promise<Answered> => {
  const stray = ids.find((id) => canonicalUuid(id) === null && !isProfileName(id))
  if (stray !== undefined) return unknown(stray)
  return answer(control.profiles.remove(caller, [...new Set(ids.map((id) => canonicalUuid(id) ?? id))]), 204)
}

const removeOne = route({
  method: 'DELETE',
  path: '/v2/device_profiles/:id',
  rule: 'cyborg:device_profile:delete',
  docs: { summary: 'Deletes a device profile, by UUID or by name.', answers: { 204: null }, refusals: [404, 409] },
  handle: ({ control, caller, params }) => remove(control, caller, [params.id]),
})

const removeSome = route({
  method: 'DELETE',
  path: '/v2/device_profiles',
  rule: 'cyborg:device_profile:delete',
  query: {
    value: listArg('Names or UUIDs, comma separated.', NAMED),
    name: listArg('The same under its older name. Only one of the two.', NAMED),
  },
  docs: { summary: 'Deletes several device profiles, all or none.', answers: { 204: null }, refusals: [404, 409] },
  handle: ({ control, caller, query }) => {
    if (query.value !== undefined && query.name !== undefined) return invalid('name', 'it cannot stand beside value')
    const ids = query.value ?? query.name
    if (ids === undefined) return invalid('value', 'the device profiles to delete must be named')
    if (ids.includes('')) return invalid(query.value === undefined ? 'name' : 'value', 'it holds an empty element')
    return remove(control, caller, ids)
  },
})

export const profileRoutes: readonly Route[] = [list, create, one, removeOne, removeSome]
