/**
 * Traits and resource classes are renamed between releases. This operation updates the device profiles that use them,
 * all or none. Existing accelerator requests keep the group they were created with.
 */
import * as v from 'valibot'
import { askedFor } from '../../actors/arq/groups.ts'
import type { Caller, Control, ProfileRow, Renaming } from '../../actors/control.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { groupOf, NAMES } from './profileGroups.ts'
import type { Group } from './profileGroups.ts'
import { sizeProblem } from './profileRules.ts'
import { readReason, REASON_MAX } from './operatorNote.ts'
import { reply, route } from '../route.ts'
import type { Answered, Body, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { trimmedShape } from '../shapes.ts'
import type { Json } from '../shapes.ts'

type Names = ReadonlyMap<string, string>
type MigrationBody = {
  readonly traits: Names
  readonly classes: Names
  readonly apply: boolean
  readonly reason: string
}
type Step = { readonly group: number; readonly from: string; readonly to: string }
type Change = Renaming & { readonly steps: readonly Step[] }
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused

/** The limit exists because all changed profiles are written in one append. */
const PROFILES_MAX = 1000
const NAMES_MAX = 1000
const PREFIX = { traits: 'trait:', classes: 'resources:' } as const

const nameMap = (kind: keyof typeof PREFIX) =>
  v.optional(
    v.pipe(
      v.record(
        v.pipe(v.string(), v.metadata({ pattern: '[^ ]' })),
        v.pipe(v.string(), v.metadata({ pattern: NAMES[kind] })),
      ),
      v.metadata({ maxProperties: NAMES_MAX }),
    ),
    {},
  )
const given = (name: string, shape: Json): Json => ({ required: [name], properties: { [name]: shape } })
/**
 * The rules about several fields that `read` applies: at least one name is renamed, and applying the renaming needs a
 * reason.
 */
const TOGETHER: Json = {
  allOf: [
    { anyOf: [given('traits', { minProperties: 1 }), given('classes', { minProperties: 1 })] },
    { anyOf: [{ properties: { apply: { const: false } } }, given('reason', trimmedShape({ characters: REASON_MAX }))] },
  ],
}
const Posted = v.pipe(
  v.strictObject({
    traits: nameMap('traits'),
    classes: nameMap('classes'),
    apply: v.optional(v.boolean(), false),
    reason: v.optional(v.string(), ''),
  }),
  v.metadata({ ...TOGETHER }),
)

/** The name in the form that profiles store; null: no profile can contain it. */
const canonical = (kind: keyof typeof PREFIX, name: string): string | null => {
  const probe =
    kind === 'traits' ? { [`trait:${name}`]: 'required', 'resources:FPGA': '1' } : { [`resources:${name}`]: '1' }
  const read = groupOf(probe, kind)
  return read.ok ? Object.keys(read.value)[0]!.slice(PREFIX[kind].length) : null
}
/** An old name need not be valid under the present rules. */
const former = (name: string): string =>
  name
    // of each run of blanks only the first is tried
    .replace(/^ +|(?<! ) +$/g, '')
    .toUpperCase()
    .replaceAll('-', '_')

const namesOf = (kind: keyof typeof PREFIX, given: Readonly<Record<string, string>>): Read<Names> => {
  if (Object.keys(given).length > NAMES_MAX) return invalid(kind, `there must not be more than ${NAMES_MAX}`)
  const names = new Map<string, string>()
  for (const [from, to] of Object.entries(given)) {
    const field = `${kind}.${from.slice(0, 100)}`
    const known = canonical(kind, to)
    if (former(from) === '') return invalid(kind, 'an older name is empty')
    if (known === null)
      return invalid(
        field,
        kind === 'traits'
          ? 'the new name must start with CUSTOM_ or be OWNER_CYBORG'
          : 'there is no such resource class',
      )
    if (names.has(former(from))) return refused({ kind: 'conflict', reason: `${field} stands there twice.` })
    names.set(former(from), known)
  }
  return { ok: true, value: names }
}

const asked: Body<MigrationBody> = {
  size: 'profile',
  schema: Posted,
  read: (json) => {
    const parsed = schemas.readAs(Posted, json)
    if (!parsed.ok) return parsed
    const { apply } = parsed.value
    const [traits, classes] = [namesOf('traits', parsed.value.traits), namesOf('classes', parsed.value.classes)]
    if (!traits.ok) return traits
    if (!classes.ok) return classes
    if (traits.value.size + classes.value.size === 0) return invalid('traits', 'neither traits nor classes are renamed')
    const reason = apply ? readReason(parsed.value) : { ok: true as const, value: '' }
    if (!reason.ok) return reason
    return { ok: true, value: { traits: traits.value, classes: classes.value, apply, reason: reason.value } }
  },
}

const renamed = (key: string, { traits, classes }: MigrationBody): string => {
  for (const [prefix, names] of [
    ['trait:', traits],
    ['resources:', classes],
  ] as const) {
    const to = key.startsWith(prefix) ? names.get(former(key.slice(prefix.length))) : undefined
    if (to !== undefined) return `${prefix}${to}`
  }
  return key
}

/** The group with the new names, in the same order. A group that would lose a key or violate a rule is refused. */
const regroup = (group: Group, map: MigrationBody, place: string): Read<Group> => {
  const entries = Object.entries(group).map(([key, value]) => [renamed(key, map), value] as const)
  const keys = entries.map(([key]) => key)
  const twice = keys.find((key, at) => keys.indexOf(key) !== at)
  if (twice !== undefined)
    return refused({ kind: 'conflict', reason: `${place}: two of its keys would become ${twice}.` })
  return groupOf(Object.fromEntries(entries), place)
}

const changeOf = (row: ProfileRow, map: MigrationBody): Read<Change> => {
  const was = row.groups
  const groups: Group[] = []
  const steps: Step[] = []
  for (const [group, before] of was.entries()) {
    const moved = Object.keys(before).flatMap((from): Step[] => {
      const to = renamed(from, map)
      return to === from ? [] : [{ group, from, to }]
    })
    const after =
      moved.length === 0 ? { ok: true as const, value: before } : regroup(before, map, `${row.name}.groups[${group}]`)
    if (!after.ok) return after
    groups.push(after.value)
    steps.push(...moved)
  }
  // An older profile may already exceed the limit. Renaming must not make a profile exceed it.
  const tooMany = askedFor(groups) > askedFor(was) ? sizeProblem(groups) : null
  if (tooMany !== null) return refused({ kind: 'conflict', reason: `Profile ${row.name}: ${tooMany}` })
  return { ok: true, value: { uuid: row.uuid, name: row.name, was, groups, steps } }
}

const migrate = async (control: Control, caller: Caller, map: MigrationBody): Promise<Answered> => {
  const listed = await control.profiles.list(null, {})
  if (!listed.ok) return listed
  const changes: Change[] = []
  for (const row of listed.value.items) {
    const change = changeOf(row, map)
    if (!change.ok) return change
    if (change.value.steps.length > 0) changes.push(change.value)
  }
  if (changes.length > PROFILES_MAX)
    return refused({
      kind: 'conflict',
      reason: `${changes.length} profiles would change, at most ${PROFILES_MAX} can at once: split the map`,
    })
  if (map.apply && changes.length > 0) {
    const done = await control.profiles.regroup(caller, changes, map.reason)
    if (!done.ok) return done
  }
  const profiles = changes.map(({ uuid, name, steps }) => ({ uuid, name, changes: steps }))
  return reply(200, { applied: map.apply, profiles })
}

const migration = route({
  method: 'POST',
  path: '/v2/profile_migrations',
  rule: 'cyborg:device_profile:migrate',
  body: asked,
  docs: {
    summary:
      'Renames traits and resource classes in all device profiles, all or none; without `apply` it only says what would change.',
    answers: { 200: schemas.Migration },
    refusals: [409],
  },
  handle: ({ control, caller, body }) => migrate(control, caller, body),
})

export const migrationRoutes: readonly Route[] = [migration]
