/** Attributes: key-value pairs that describe a deployable. */
import * as v from 'valibot'
import type { DeployableUuid } from '../../identifiers.ts'
import type { AttributeRow, Control } from '../../actors/control.ts'
import { listBody, pageArgs, pageOf } from '../pages.ts'
import { INT_MAX, text } from '../query.ts'
import type { Arg } from '../query.ts'
import { brokenText } from '../../text.ts'
import { invalid } from '../faults.ts'
import { self, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Body, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { canonicalUuid } from '../../uuid.ts'
import { SINCE } from '../versions.ts'

const KEY_MAX = 255
const VALUE_MAX_BYTES = 65_535

const attributeBody = (row: AttributeRow, minor: number, base: string) => ({
  uuid: row.uuid,
  deployable_id: row.deployable_id,
  key: row.key,
  value: row.value,
  ...(minor >= SINCE.uuids && { deployable_uuid: row.deployable_uuid, parent_uuid: null }),
  ...times(row),
  links: [self(base, 'attributes', row.uuid)],
})

/** The integer id of a deployable as a number or as text, or its UUID. Null: the value is neither. */
const deployableId = (given: string | number): number | DeployableUuid | null => {
  if (typeof given === 'number') return Number.isInteger(given) && given >= 0 && given <= INT_MAX ? given : null
  if (/^\d{1,10}$/.test(given)) return deployableId(Number(given))
  return canonicalUuid(given)
}

const deployableArg: Arg<number | DeployableUuid> = {
  read: (values, name) => {
    const id = deployableId(values.at(-1) ?? '')
    // Zero is not a valid id: clients send it to mean any deployable.
    return id === null
      ? invalid(name, 'it must be the integer id or the UUID of a deployable')
      : { ok: true, value: id || undefined }
  },
  schema: { type: 'string' },
  about: 'The integer id of a deployable, or its UUID.',
}

/** Lists are filtered by the integer id. Null: the deployable does not exist. */
const integerOf = async (control: Control, deployable: number | DeployableUuid): Promise<number | null> => {
  if (typeof deployable === 'number') return deployable
  const found = await control.deployables.get(deployable)
  return found.ok ? found.value.id : null
}

const list = route({
  method: 'GET',
  path: '/v2/attributes',
  rule: 'cyborg:attribute:get_all',
  query: {
    ...pageArgs(['created_at', 'key', 'deployable_id', 'uuid']),
    deployable_id: deployableArg,
    key: text('Only attributes with this key.'),
  },
  docs: { summary: 'Attributes.', answers: { 200: schemas.listOf('attributes', schemas.Attribute) } },
  handle: async ({ control, query, minor, base, pairs }) => {
    const deployableId = query.deployable_id === undefined ? undefined : await integerOf(control, query.deployable_id)
    if (deployableId === null) return reply(200, { attributes: [] })
    const filter = { ...(deployableId !== undefined && { deployableId }), ...(query.key && { key: query.key }) }
    return answer(control.attributes.list(filter, pageOf(query)), 200, (listed) =>
      listBody(listed, {
        key: 'attributes',
        collection: 'attributes',
        base,
        pairs,
        item: (row) => attributeBody(row, minor, base),
        markerOf: (row) => row.uuid,
      }),
    )
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
  deployable_id: v.union([v.number(), v.string()]),
  key: v.pipe(v.string(), v.minLength(1), v.maxLength(KEY_MAX)),
  value: v.union([v.string(), v.number(), v.boolean()]),
})
/** The current command-line client wraps the value in an object; older clients send it bare. */
const Wrapped = v.looseObject({ attribute: Bare })

type NewAttribute = { readonly deployable: number | DeployableUuid; readonly key: string; readonly value: string }

const unwrapped = (json: unknown): unknown =>
  typeof json === 'object' && json !== null && 'attribute' in json ? json.attribute : json

const newAttribute: Body<NewAttribute> = {
  schema: v.union([Bare, Wrapped]),
  read: (json) => {
    const parsed = schemas.readAs(Bare, unwrapped(json))
    if (!parsed.ok) return parsed
    const deployable = deployableId(parsed.value.deployable_id)
    if (deployable === null) return invalid('deployable_id', 'it must be the integer id or the UUID of a deployable')
    const { key } = parsed.value
    const badKey = brokenText(key, { characters: KEY_MAX })
    if (badKey !== null) return invalid('key', badKey.problem)
    const value = String(parsed.value.value)
    const badValue = brokenText(value, { bytes: VALUE_MAX_BYTES })
    return badValue === null ? { ok: true, value: { deployable, key, value } } : invalid('value', badValue.problem)
  },
}

const create = route({
  method: 'POST',
  path: '/v2/attributes',
  rule: 'cyborg:attribute:create',
  body: newAttribute,
  docs: { summary: 'Adds an attribute to a deployable.', answers: { 201: schemas.Attribute }, refusals: [409] },
  handle: ({ control, caller, body, minor, base }) =>
    answer(control.attributes.create(caller, body.deployable, body.key, body.value), 201, (row) =>
      attributeBody(row, minor, base),
    ),
})

const remove = route({
  method: 'DELETE',
  path: '/v2/attributes/:uuid',
  rule: 'cyborg:attribute:delete',
  uuids: { uuid: { resource: 'attribute', otherwise: 'not_found' } },
  docs: { summary: 'Deletes an attribute.', answers: { 204: null }, refusals: [404] },
  handle: ({ control, caller, params }) => answer(control.attributes.remove(caller, params.uuid), 204),
})

const removeNone = route({
  method: 'DELETE',
  path: '/v2/attributes',
  rule: 'cyborg:attribute:delete',
  docs: { summary: 'Always refused: an attribute must be named.', answers: {} },
  handle: () => invalid('uuid', 'the attribute to delete must be named in the path'),
})

export const attributeRoutes: readonly Route[] = [list, one, create, remove, removeNone]
