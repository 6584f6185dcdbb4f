/** The actions on device profiles. */
import { type Action, type Field, REASON, type Stand, type Typed } from './action.ts'
import { at } from './api.ts'
import type { Profile, ProfileVersions } from './shapes.ts'
import { type Loaded, loaded, pageError } from './loaded.ts'
import { shell } from './view/words.ts'

/** In characters. */
export const GROUPS_MAX = 30_000
const TEXT_MAX = 255
const GROUPS: Field = {
  name: 'groups',
  title: 'Groups',
  hint: 'JSON: a list with an object for each accelerator request, such as [{"resources:FPGA": "1"}]',
  kind: 'area',
  max: GROUPS_MAX,
}
const DESCRIPTION: Field = { name: 'description', title: 'Description', optional: true, max: TEXT_MAX }
const NUMBER_MAX = 9
const versionFrom = (from: string): Field => ({
  name: 'version',
  title: 'Version',
  hint: 'its number',
  from,
  max: NUMBER_MAX,
})

/**
 * The state of a profile, by its versions. Where the user may not see them, what the profile itself says has to do.
 */
export const profileStand = (profile: Profile, versions: ProfileVersions['versions']): Stand => {
  const on = versions.filter(({ enabled }) => enabled)
  const newest = (list: ProfileVersions['versions']) => String(list.at(-1)?.version ?? profile.version)
  const all = on.length === versions.length ? 'enabled' : on.length === 0 ? 'disabled' : 'partly'
  return {
    state: versions.length === 0 ? 'partly' : all,
    known: {
      if_version: newest(versions),
      enabled: newest(on),
      disabled: newest(versions.filter(({ enabled }) => !enabled)),
      groups: JSON.stringify(profile.groups, null, 1),
      description: profile.description ?? '',
    },
  }
}

const withGroups = ({ groups = '' }: Typed, body: (groups: unknown) => object): Loaded<object> => {
  try {
    return loaded(body(JSON.parse(groups)))
  } catch (error) {
    return pageError('refused', `The groups are not JSON: ${String(error)}`)
  }
}
const switched =
  (enabled: boolean) =>
  ({ version = '', reason }: Typed): Loaded<object> =>
    loaded({ versions: { [version]: enabled }, reason })

export const PROFILE_ACTIONS: readonly Action[] = [
  {
    kind: 'profiles',
    name: 'create',
    label: 'New profile',
    makes: true,
    rule: 'cyborg:device_profile:create',
    fields: [{ name: 'name', title: 'Name', max: TEXT_MAX }, DESCRIPTION, GROUPS],
    method: 'POST',
    sentence: 'A flavor names the profile, and the profile says which accelerators each of its servers gets.',
    path: () => '/device_profiles',
    body: (typed) =>
      withGroups(typed, (groups) => [
        { name: typed['name'], groups, ...(typed['description'] && { description: typed['description'] }) },
      ]),
    command: () => shell`accelerando profile create NAME --file FILE`,
    states: ['none'],
    otherwise: '',
    after: 'named',
  },
  {
    kind: 'profiles',
    name: 'version',
    label: 'New version',
    rule: 'cyborg:device_profile:update',
    fields: [{ name: 'if_version', title: '', kind: 'hidden', max: NUMBER_MAX }, GROUPS, DESCRIPTION, REASON],
    dryRun: true,
    method: 'PATCH',
    sentence:
      'New requests are made from it at once; those that exist keep the version that they were made with. It is refused if somebody else has made a version meanwhile.',
    path: (id) => at`/device_profiles/${id}`,
    body: (typed) =>
      withGroups(typed, (groups) => ({
        groups,
        description: typed['description'] || null,
        ...(typed['if_version'] && { if_version: Number(typed['if_version']) }),
        reason: typed['reason'],
      })),
    command: (id) => shell`accelerando profile set ${id} --group KEY=VALUE,... --reason TEXT`,
    states: ['enabled', 'partly', 'disabled'],
    otherwise: '',
  },
  {
    kind: 'profiles',
    name: 'disable',
    label: 'Disable',
    rule: 'cyborg:device_profile:update',
    fields: [versionFrom('enabled'), REASON],
    dryRun: true,
    method: 'PATCH',
    sentence:
      'No request is made from this version any more; the newest enabled one is used. Without any, nobody can use the profile.',
    path: (id) => at`/device_profiles/${id}`,
    body: switched(false),
    command: (id) => shell`accelerando profile set ${id} --disable VERSION --reason TEXT`,
    states: ['enabled', 'partly'],
    otherwise: 'no version of it is enabled',
  },
  {
    kind: 'profiles',
    name: 'enable',
    label: 'Enable',
    rule: 'cyborg:device_profile:update',
    fields: [versionFrom('disabled'), REASON],
    dryRun: true,
    method: 'PATCH',
    sentence: 'Requests are made from this version again, unless a newer one is enabled.',
    path: (id) => at`/device_profiles/${id}`,
    body: switched(true),
    command: (id) => shell`accelerando profile set ${id} --enable VERSION --reason TEXT`,
    states: ['partly', 'disabled'],
    otherwise: 'each version of it is enabled',
  },
  {
    kind: 'profiles',
    name: 'delete',
    label: 'Delete',
    grave: true,
    rule: 'cyborg:device_profile:delete',
    dryRun: true,
    method: 'DELETE',
    after: 'list',
    sentence: 'No request can be made from it any more. It is refused while requests use it.',
    path: (id) => at`/device_profiles/${id}`,
    command: (id) => shell`openstack accelerator device profile delete ${id}`,
    states: ['enabled', 'partly', 'disabled'],
    otherwise: '',
  },
]
