/** Attributes: key-value pairs that describe a deployable. */
import * as v from 'valibot'
import type { AttributeUuid, DeployableUuid } from '../../vocabulary/identifiers.ts'
import type { AttributeRow, Control } from '../../actors/control.ts'
import { type Outcome, done } from '../../vocabulary/fault.ts'
import { answerList } from '../listing.ts'
import { pageArgs, pageOf } from '../pages.ts'
import { INT_MAX } from '../../vocabulary/fields.ts'
import { intText, last, text as textArg } from '../query.ts'
import type { Arg } from '../query.ts'
import { invalid } from '../faults.ts'
import { self, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Body, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { finite, text, UUID_SHAPE } from '../shapes.ts'
import type { Json } from '../shapes.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { SINCE } from '../versions.ts'

const KEY_MAX = 255
const VALUE_MAX = 65_535

const attributeBody = (row: AttributeRow, minor: number, base: string) => ({
  uuid: row.uuid,
  deployable_id: row.deployable_id,
  key: row.key,
  value: row.value,
  ...(minor >= SINCE.uuids && { deployable_uuid: row.deployable_uuid, parent_uuid: row.parent_uuid }),
  ...times(row),
  links: [self(base, 'attributes', row.uuid)],
})

const DEPLOYABLE_SHAPE: Json = {
  anyOf: [{ type: 'integer', minimum: 0, maximum: INT_MAX }, intText(0), UUID_SHAPE],
}
/** The integer id of a deployable as a number or as text, or its UUID. Null: the value is neither. */
const deployableId = (given: string | number): number | DeployableUuid | null => {
  if (typeof given === 'number') return Number.isInteger(given) && given >= 0 && given <= INT_MAX ? given : null
  if (/^\d{1,10}$/.test(given)) return deployableId(Number(given))
  return canonicalUuid(given)
}

const deployableArg: Arg<number | DeployableUuid> = {
  read: (values, name) => {
    const id = deployableId(last(values))
    // Zero is not a valid id: clients send it to mean any deployable.
    return id === null
      ? invalid(name, 'it must be the integer id or the UUID of a deployable')
      : { ok: true, value: id || undefined }
  },
  schema: DEPLOYABLE_SHAPE,
  about: 'The integer id of a deployable, or its UUID.',
}

/** Lists are filtered by the integer id. Fault `not_found`: the deployable does not exist. */
const integerOf = async (control: Control, deployable: number | DeployableUuid): Promise<Outcome<number>> => {
  if (typeof deployable === 'number') return done(deployable)
  const found = await control.deployables.get(deployable)
  return found.ok ? done(found.value.id) : found
}

const list = route({
  method: 'GET',
  path: '/v2/attributes',
  rule: 'cyborg:attribute:get_all',
  query: {
    ...pageArgs(['created_at', 'key', 'deployable_id', 'uuid']),
    deployable_id: deployableArg,
    key: textArg('Only attributes with this key.'),
  },
  docs: { summary: 'Attributes.', answers: { 200: schemas.listOf('attributes', schemas.Attribute) } },
  handle: async ({ control, query, minor, base, pairs }) => {
    const id = query.deployable_id === undefined ? null : await integerOf(control, query.deployable_id)
    if (id && !id.ok) return id.fault.kind === 'not_found' ? reply(200, { attributes: [] }) : id
    const filter = { ...(id && { deployableId: id.value }), ...(query.key && { key: query.key }) }
    return answerList((page) => control.attributes.list(filter, page), pageOf(query), {
      key: 'attributes',
      collection: 'attributes',
      base,
      pairs,
      item: (row) => attributeBody(row, minor, base),
      markerOf: (row) => row.uuid,
    })
  },
})

const one = route({
  method: 'GET',
  path: '/v2/attributes/:uuid',
  rule: 'cyborg:attribute:get_one',
  uuids: { uuid: { resource: 'attribute', otherwise: 'invalid' } },
  docs: { summary: 'One attribute.', answers: { 200: schemas.Attribute }, refusals: [404] },
  handle: ({ control, params, minor, base }) =>
    answer(control.attributes.get(params.uuid), 200, (row) => attributeBody(row, minor, base)),
})

const Bare = v.looseObject({
  deployable_id: v.pipe(v.union([v.number(), v.string()]), v.metadata({ ...DEPLOYABLE_SHAPE })),
  key: v.pipe(text({ characters: KEY_MAX }), v.minLength(1, 'it is empty')),
  value: v.union([text({ characters: VALUE_MAX }), finite, v.boolean()]),
  /** The attribute of the same deployable that the new attribute describes. */
  parent_uuid: v.optional(v.nullable(v.pipe(v.string(), v.metadata({ ...UUID_SHAPE })))),
  /** This key occurs only in the wrapped form, so it is refused here. */
  attribute: v.optional(v.never()),
})
/** The current command-line client wraps the value in an object; older clients send it bare. */
const Wrapped = v.looseObject({ attribute: Bare })

type NewAttribute = {
  readonly deployable: number | DeployableUuid
  readonly key: string
  readonly value: string
  readonly parent: AttributeUuid | undefined
}

const unwrapped = (json: unknown): unknown =>
  typeof json === 'object' && json !== null && 'attribute' in json ? json.attribute : json

const newAttribute: Body<NewAttribute> = {
  // a value may be long
  size: 'profile',
  schema: v.union([Bare, Wrapped]),
  read: (json) => {
    const parsed = schemas.readAs(Bare, unwrapped(json))
    if (!parsed.ok) return parsed
    const deployable = deployableId(parsed.value.deployable_id)
    if (deployable === null) return invalid('deployable_id', 'it must be the integer id or the UUID of a deployable')
    const { key, value, parent_uuid: above } = parsed.value
    const parent = above === undefined || above === null ? undefined : canonicalUuid(above)
    if (parent === null) return invalid('parent_uuid', 'it must be a UUID')
    return { ok: true, value: { deployable, key, value: String(value), parent } }
  },
}

const create = route({
  method: 'POST',
  path: '/v2/attributes',
  rule: 'cyborg:attribute:create',
  body: newAttribute,
  docs: { summary: 'Adds an attribute to a deployable.', answers: { 201: schemas.Attribute }, refusals: [404, 409] },
  handle: ({ control, caller, body, minor, base }) =>
    answer(control.attributes.create(caller, body.deployable, body.key, body.value, body.parent), 201, (row) =>
      attributeBody(row, minor, base),
    ),
})

const remove = route({
  method: 'DELETE',
  path: '/v2/attributes/:uuid',
  rule: 'cyborg:attribute:delete',
  uuids: { uuid: { resource: 'attribute', otherwise: 'not_found' } },
  docs: { summary: 'Deletes an attribute.', answers: { 204: null }, refusals: [404, 409] },
  handle: ({ control, caller, params }) => answer(control.attributes.remove(caller, params.uuid), 204),
})

export const attributeRoutes: readonly Route[] = [list, one, create, remove]
