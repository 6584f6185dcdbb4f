/**
 * Explains why hosts do or do not fit a device profile. These paths are an extension that clients of the original API
 * do not use.
 */
import type { Control, ProfileRow } from '../../actors/control.ts'
import type { Viewer } from '../../actors/profile/usable.ts'
import { type Explanation, HOSTS_SHOWN, type JudgedHost } from '../../actors/explain/answer.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import * as shapes from '../explanationSchema.ts'
import { refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { integer, text } from '../query.ts'
import { answer, route } from '../route.ts'
import type { Answered, Route } from '../route.ts'
import { draftProfile, isSelector } from './profileRules.ts'

const hostBody = ({ groups, ...judged }: JudgedHost) => ({
  ...judged,
  groups: groups.map(({ group, fits, devices, leftOut }) => ({
    group,
    fits,
    devices: devices.map(({ deployable, device, provider, name, obstacles }) => ({
      deployable_uuid: deployable,
      device_uuid: device,
      device_rp_uuid: provider,
      name,
      obstacles,
    })),
    left_out: leftOut,
  })),
})
const bodyOf = (profile: ProfileRow | null) => (explanation: Explanation) => ({
  profile: profile && { uuid: profile.uuid, name: profile.name },
  fits: explanation.fits,
  hosts_checked: explanation.hostsChecked,
  devices_checked: explanation.devicesChecked,
  hosts_fitting: explanation.hostsFitting,
  placement: explanation.placement,
  groups: explanation.groups.map(({ nearest, ...group }) => ({
    ...group,
    nearest: nearest && {
      host: nearest.host,
      deployable_uuid: nearest.deployable,
      name: nearest.name,
      obstacles: nearest.obstacles,
    },
  })),
  warnings: explanation.warnings,
  hosts: explanation.hosts.map(hostBody),
  hosts_left_out: explanation.hostsLeftOut,
})

const query = {
  host: text('Only this host.'),
  limit: integer(
    1,
    `How many hosts are shown: ${HOSTS_SHOWN.usual} unless said otherwise, never more than ${HOSTS_SHOWN.most}.`,
  ),
}
type Query = { readonly host?: string | undefined; readonly limit?: number | undefined }

const check = (
  control: Control,
  groups: ProfileRow['groups'],
  { host, limit = HOSTS_SHOWN.usual }: Query,
  profile: ProfileRow | null,
): Promise<Answered> => {
  const asked = { groups, host: host ?? null, limit: Math.min(limit, HOSTS_SHOWN.most) }
  return answer(control.profiles.check(asked), 200, bodyOf(profile))
}

/** Finds a profile by UUID or by name. `viewer` absent: all profiles are found. */
export const findProfile = async (
  { profiles }: Control,
  id: string,
  viewer?: Viewer,
): Promise<Outcome<ProfileRow> | HttpRefused> => {
  if (!isSelector(id)) return refused({ kind: 'not_found', resource: 'device_profile', id })
  return profiles.find(id, viewer)
}

const stored = route({
  method: 'POST',
  path: '/v2/device_profiles/:id/check',
  rule: 'cyborg:device_profile:check',
  query,
  waits: true,
  share: 'explanations',
  docs: {
    summary:
      'Which hosts fit a device profile, by UUID or by name, and why the others do not. Changes nothing; a body is ignored.',
    answers: { 200: shapes.Explanation },
    refusals: [404],
  },
  handle: async ({ control, caller, params, query: asked }) => {
    const profile = await findProfile(control, params.id, { caller, disabled: true })
    return profile.ok ? check(control, profile.value.groups, asked, profile.value) : profile
  },
})

const draft = route({
  method: 'POST',
  path: '/v2/profile_checks',
  rule: 'cyborg:device_profile:check',
  query,
  body: draftProfile,
  waits: true,
  share: 'explanations',
  docs: {
    summary: 'The same for groups that no device profile has yet.',
    answers: { 200: shapes.Explanation },
    refusals: [404, 409],
  },
  handle: ({ control, body, query: asked }) => check(control, body, asked, null),
})

export const checkRoutes: readonly Route[] = [draft, stored]
