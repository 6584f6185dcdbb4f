/** Validates a device profile and brings it into canonical form. Pure. */
import { isRecord } from '../../vocabulary/record.ts'
import * as v from 'valibot'
import { ARQS_MAX, askedFor } from '../../actors/arq/groups.ts'
import { isProfileName, PROFILE_NAME, PROFILE_NAME_MAX } from '../../actors/profile/name.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import type { Refusal } from '../guard.ts'
import { GROUP_SHAPE, newGroupOf } from './profileGroups.ts'
import type { Group } from './profileGroups.ts'
import type { Body } from '../route.ts'
import { readAs } from '../schemas.ts'
import { paragraphs, UuidText } from '../shapes.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'

export type NewProfile = {
  readonly uuid?: string
  readonly name: string
  readonly description: string | null
  readonly groups: readonly Group[]
}
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused

/** With line breaks: clients of Cyborg describe profiles in paragraphs. */
const DESCRIPTION_MAX = 65_535
const GROUPS_MAX = 100
/** The limit for the size of all groups together, because every accelerator request stores a copy of its group. */
const GROUPS_MAX_CHARS = 65_535

const EMPTY = 'it is empty'
const TOO_LONG = `it must not be longer than ${PROFILE_NAME_MAX} characters`

/** True for a text that may select a profile: a UUID in any spelling, or a name. */
export const isSelector = (id: string): boolean => isProfileName(id) || canonicalUuid(id) !== null

/** The problem of a profile that requests too much to be ever used (rest-api 3.3); null: its size is acceptable. */
export const sizeProblem = (groups: readonly Group[]): string | null => {
  const asked = askedFor(groups)
  return asked > ARQS_MAX
    ? `The amounts of a profile must not sum to more than ${ARQS_MAX}; these ask for ${asked}.`
    : null
}

/** The groups in canonical form, or the field that breaks a rule and the rule. */
export const readGroups = (given: readonly unknown[]): Read<readonly Group[]> => {
  const groups: Group[] = []
  let clash: HttpRefused | undefined
  for (const [index, entry] of given.entries()) {
    if (!isRecord(entry)) return invalid(`groups[${index}]`, 'it must be an object')
    const group = newGroupOf(entry, `groups[${index}]`)
    if (group.ok) groups.push(group.value)
    // another group may be malformed, which is told first
    else if (group.fault.kind === 'conflict') clash ??= group
    else return group
  }
  if (clash !== undefined) return clash
  if (JSON.stringify(groups).length > GROUPS_MAX_CHARS)
    return refused({
      kind: 'conflict',
      reason: `All groups together must not be longer than ${GROUPS_MAX_CHARS} characters.`,
    })
  const tooMany = sizeProblem(groups)
  return tooMany === null ? { ok: true, value: groups } : refused({ kind: 'conflict', reason: tooMany })
}

const Description = paragraphs({ characters: DESCRIPTION_MAX })
const Groups = v.pipe(
  v.array(v.unknown(), 'it must be a list of at least one object'),
  v.minLength(1, 'it must be a list of at least one object'),
  v.maxLength(GROUPS_MAX, `there must not be more than ${GROUPS_MAX}`),
  v.metadata({ items: GROUP_SHAPE }),
)
/** The content of a version of a profile. */
export const CONTENT = { description: Description, groups: Groups } as const

/** The fields in the order in which the contract checks them. Unknown keys are ignored. */
const Profile = v.looseObject({
  name: v.pipe(
    v.string(),
    v.minLength(1, EMPTY),
    v.regex(PROFILE_NAME, 'it may hold letters, digits, "_" and "-" only'),
    v.maxLength(PROFILE_NAME_MAX, TOO_LONG),
  ),
  groups: Groups,
  description: v.nullish(Description),
  // an empty text is what a form sends for a UUID that nobody chose
  uuid: v.nullish(v.union([v.literal(''), UuidText], 'it must be a UUID')),
})
/** Clients send a list with exactly one element; the object alone is accepted as well. */
const Posted = v.union([v.pipe(v.array(Profile), v.minLength(1), v.maxLength(1)), Profile])

const only = (json: unknown): unknown => (Array.isArray(json) && json.length === 1 ? json[0] : json)

/**
 * Tests of existing clients expect status 500 here. When the compatibility option is off, the status is that of an
 * invalid request.
 */
const withExpected500 = ({ fault }: Refusal): HttpRefused =>
  fault.kind === 'invalid' && fault.field === 'name' && [EMPTY, TOO_LONG].includes(fault.rule)
    ? refused({ kind: 'expected_500', instead: fault })
    : refused(fault)

export const newProfile: Body<NewProfile> = {
  size: 'profile',
  schema: Posted,
  read: (json) => {
    const given = only(json)
    if (!isRecord(given)) return invalid('body', 'it must be a list of exactly one device profile')
    const read = readAs(Profile, given)
    if (!read.ok) return withExpected500(read)
    const groups = readGroups(read.value.groups)
    if (!groups.ok) return groups
    const { name, description = null, uuid } = read.value
    return { ok: true, value: { ...(uuid && { uuid }), name, description, groups: groups.value } }
  },
}

const Draft = v.looseObject({ groups: Profile.entries.groups })
/** Groups that are posted and belong to no profile yet. Other fields of a profile may be present and are ignored. */
export const draftProfile: Body<readonly Group[]> = {
  size: 'profile',
  schema: v.union([v.pipe(v.array(Draft), v.minLength(1), v.maxLength(1)), Draft]),
  read: (json) => {
    const read = readAs(Draft, only(json))
    return read.ok ? readGroups(read.value.groups) : read
  },
}
