/**
 * What an import makes of a database of upstream Cyborg: everything that will be recorded, and a note on everything
 * that changes. Pure.
 */
import { createHash } from 'node:crypto'
import type { ArqUuid, ProfileUuid, ProjectId } from '../../vocabulary/identifiers.ts'
import { uuidOfHash } from '../../vocabulary/uuid.ts'
import type { Group } from '../arq/messages.ts'
import { ARQS_MAX, askedFor } from '../arq/groups.ts'
import type { Groups, ProfileFacts } from '../profile/decider.ts'
import { isProfileName } from '../profile/name.ts'
import { boundHandles, devicesIn, doubtfulDevices } from './devices.ts'
import { type PlannedDevice, planDevice, planRetired } from './inventoryPlan.ts'
import { keep } from './kept.ts'
import { type Note, type Notes, openNotes } from './notes.ts'
import { openProgramming } from './programming.ts'
import { cleaned, groupsIn, uuidIn } from './readable.ts'
import { type Fate, type Judged, type Withheld, judgeRequests } from './requests.ts'
import type { ProfileRow, UpstreamTables } from './rows.ts'

export type PlannedProfile = { readonly facts: ProfileFacts; readonly createdAt: number | null }
export type PlannedArq = {
  readonly uuid: ArqUuid
  readonly projectId: ProjectId | null
  readonly profileUuid: ProfileUuid
  readonly profileName: string
  readonly groupId: number
  readonly group: Group
  readonly createdAt: number | null
  readonly updatedAt: number | null
  readonly fate: Fate
}
export type Plan = {
  readonly profiles: readonly PlannedProfile[]
  readonly devices: readonly PlannedDevice[]
  readonly arqs: readonly PlannedArq[]
  readonly withheld: readonly Withheld[]
  readonly notes: readonly Note[]
}

/** A UUID that is the same in each run, for a profile that has none. */
const derivedUuid = (of: string): ProfileUuid =>
  uuidOfHash(createHash('sha1').update(`device_profiles ${of}`, 'utf8').digest(), 5)

/** A profile as its requests know it; `facts` null: it is not taken over. */
type KnownProfile = { readonly uuid: ProfileUuid; readonly name: string; readonly facts: ProfileFacts | null }

const noteUnusable = (row: ProfileRow, groups: Groups, notes: Notes): void => {
  if (!isProfileName(row.name))
    notes.unusable(
      'device_profiles',
      row,
      'name',
      `no request can name '${row.name}': create it under another name, and name that one in the flavors`,
    )
  const asked = askedFor(groups)
  if (asked > ARQS_MAX)
    notes.unusable('device_profiles', row, 'amount', `no request can be made of it, since it asks for ${asked}`)
}

const profileOf = (row: ProfileRow, taken: Set<string>, notes: Notes): KnownProfile => {
  const [uuid, groups] = [uuidIn(row.uuid), groupsIn(row.json)]
  const { name, description } = row
  const fault =
    uuid === null
      ? 'uuid is not a UUID: its requests keep an empty group, and get a UUID that follows from this one'
      : groups === null
        ? 'profile_json cannot be read: its requests keep an empty group'
        : name === '' || taken.has(name)
          ? `the name '${name}' is empty or taken`
          : null
  if (fault !== null) notes.leftOut('device_profiles', row, 'value', fault)
  else {
    taken.add(name)
    noteUnusable(row, groups!, notes)
  }
  return {
    uuid: uuid ?? derivedUuid(row.uuid),
    name,
    facts: fault === null ? { uuid: uuid!, name, description, groups: groups! } : null,
  }
}

/** As a bound request knows a profile whose row is gone. */
const lostProfile = (id: number): KnownProfile => ({ uuid: derivedUuid(`${id}`), name: '', facts: null })

const arqOf = ({ row, uuid, fate }: Judged, profile: KnownProfile, notes: Notes): PlannedArq => {
  if (row.projectId === null)
    notes.repaired(
      'extended_accelerator_requests',
      row,
      'value',
      'its project is not known: only administrators and services see it',
    )
  const { projectId, groupId, createdAt, updatedAt } = row
  const group = profile.facts?.groups[groupId] ?? {}
  const of = { profileUuid: profile.uuid, profileName: profile.name, groupId, group }
  return { uuid, projectId, ...of, createdAt, updatedAt, fate }
}

export const planImport = (given: UpstreamTables): Plan => {
  const notes = openNotes()
  const tables = cleaned(given, notes)
  const live = boundHandles(tables)
  const found = devicesIn(tables, notes)
  const kept = keep(found, live, notes)
  const doubtful = new Set([...doubtfulDevices(tables, found)].map(kept.standsFor))
  const uses = { live, doubtful, mayHoldOther: openProgramming(tables) }
  const devices = kept.devices.map((device) => planDevice(device, uses, notes))
  const retired = kept.retired.map(planRetired)
  const providers = new Map(
    devices.flatMap(({ deployables }) => deployables.map(({ identity }) => [identity.uuid, identity.rpUuid] as const)),
  )
  const names = new Set<string>()
  const profiles = new Map(tables.device_profiles.map((row) => [row.id, profileOf(row, names, notes)]))
  const { arqs, withheld } = judgeRequests(
    {
      arqs: tables.extended_accelerator_requests,
      handles: tables.attach_handles,
      kept,
      providers,
      hasProfile: ({ profileId }) => profiles.has(profileId),
    },
    notes,
  )
  return {
    profiles: tables.device_profiles.flatMap(({ id, createdAt }) => {
      const { facts } = profiles.get(id)!
      return facts ? [{ facts, createdAt }] : []
    }),
    devices: [...devices, ...retired],
    arqs: arqs.map((one) => arqOf(one, profiles.get(one.row.profileId) ?? lostProfile(one.row.profileId), notes)),
    withheld,
    notes: notes.all(),
  }
}
