/** Validates a device profile and brings it into canonical form. Pure. */
import { ARQS_MAX, askedFor } from '../../actors/arq/groups.ts'
import type { Fault } from '../../fault.ts'
import { brokenText } from '../../text.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { groupOf } from './profileGroups.ts'
import type { Group } from './profileGroups.ts'
import { canonicalUuid } from '../../uuid.ts'

export type NewProfile = {
  readonly uuid?: string
  readonly name: string
  readonly description: string | null
  readonly groups: readonly Group[]
}
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused
type Json = Readonly<Record<string, unknown>>

const NAME = /^[A-Za-z0-9_-]+$/
export const NAME_MAX = 255
const DESCRIPTION_MAX = 255
const GROUPS_MAX = 100
/** Every accelerator request stores a copy of its group. This limits the size of all groups together. */
const GROUPS_MAX_CHARS = 65_535

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Tests of existing clients expect status 500 here. With the compatibility option off it is an ordinary client error.
 */
const expected500 = (instead: { readonly fault: Fault }): HttpRefused =>
  refused({ kind: 'expected_500', instead: instead.fault })

/** True for every valid profile name. No profile can have another name. */
export const isProfileName = (name: string): boolean => name.length <= NAME_MAX && NAME.test(name)

const readName = (name: unknown): Read<string> => {
  if (name === undefined || name === null) return invalid('name', 'it is missing')
  if (typeof name !== 'string') return invalid('name', 'it must be a string')
  if (name === '') return expected500(invalid('name', 'it is empty'))
  if (!NAME.test(name)) return invalid('name', 'it may hold letters, digits, "_" and "-" only')
  if (name.length > NAME_MAX) return expected500(invalid('name', `it must not be longer than ${NAME_MAX} characters`))
  // Such a profile could never be found by name, because a UUID in its place is looked up as a UUID.
  if (canonicalUuid(name) !== null) return invalid('name', 'it must not look like a UUID')
  return { ok: true, value: name }
}

/** A profile that requests more could never be used (rest-api 3.3). Null when the size is acceptable. */
export const sizeProblem = (groups: readonly Group[]): string | null => {
  const asked = askedFor(groups)
  return asked > ARQS_MAX
    ? `the amounts of a profile must not sum to more than ${ARQS_MAX}; these ask for ${asked}`
    : null
}

const readGroups = (given: unknown): Read<readonly Group[]> => {
  if (!Array.isArray(given) || given.length === 0) return invalid('groups', 'it must be a list of at least one object')
  if (given.length > GROUPS_MAX) return invalid('groups', `there must not be more than ${GROUPS_MAX}`)
  const groups: Group[] = []
  for (const [index, entry] of (given as readonly unknown[]).entries()) {
    if (!isObject(entry)) return invalid(`groups[${index}]`, 'it must be an object')
    const group = groupOf(entry, `groups[${index}]`)
    if (!group.ok) return group
    groups.push(group.value)
  }
  if (JSON.stringify(groups).length > GROUPS_MAX_CHARS)
    return invalid('groups', `they must not be longer than ${GROUPS_MAX_CHARS} characters`)
  const tooMany = sizeProblem(groups)
  return tooMany === null ? { ok: true, value: groups } : invalid('groups', tooMany)
}

const readDescription = (given: unknown): Read<string | null> => {
  if (given === undefined || given === null) return { ok: true, value: null }
  if (typeof given !== 'string') return invalid('description', 'it must be a string or null')
  const broken = brokenText(given, { characters: DESCRIPTION_MAX })
  return broken === null ? { ok: true, value: given } : invalid('description', broken.problem)
}

const readUuid = (given: unknown): Read<string | null> => {
  if (given === undefined || given === null) return { ok: true, value: null }
  const uuid = typeof given === 'string' ? canonicalUuid(given) : null
  return uuid === null ? invalid('uuid', 'it must be a UUID') : { ok: true, value: uuid }
}

/** Clients send a list with exactly one element; the object alone is accepted as well. */
const only = (json: unknown): Json | null => {
  const given: unknown = Array.isArray(json) && json.length === 1 ? json[0] : json
  return isObject(given) ? given : null
}

/** Checks the fields in the order of the contract. Unknown keys are ignored. */
export const readProfile = (json: unknown): Read<NewProfile> => {
  const given = only(json)
  if (given === null) return invalid('body', 'it must be a list of exactly one device profile')
  const name = readName(given['name'])
  if (!name.ok) return name
  const groups = readGroups(given['groups'])
  if (!groups.ok) return groups
  const description = readDescription(given['description'])
  if (!description.ok) return description
  const uuid = readUuid(given['uuid'])
  if (!uuid.ok) return uuid
  return {
    ok: true,
    value: {
      ...(uuid.value !== null && { uuid: uuid.value }),
      name: name.value,
      description: description.value,
      groups: groups.value,
    },
  }
}
