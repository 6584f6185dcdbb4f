/**
 * The body of a bind or unbind: a JSON patch per accelerator request. Pure; checks that need stored data are made
 * elsewhere.
 */
import * as v from 'valibot'
import type { ArqUuid } from '../../identifiers.ts'
import type { Binding } from '../../actors/control.ts'
import { brokenText } from '../../text.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import type { RequestContext, Body } from '../route.ts'
import { readAs } from '../schemas.ts'
import { filledShape, UUID_SHAPE, wordShape } from '../shapes.ts'
import type { Json } from '../shapes.ts'
import { canonicalUuid } from '../../uuid.ts'
import { SINCE } from '../versions.ts'

const Operation = v.looseObject({ op: v.string(), path: v.string(), value: v.optional(v.unknown()) })
type Operation = v.InferOutput<typeof Operation>

export type Patch = { readonly bind: readonly Binding[] } | { readonly unbind: readonly ArqUuid[] }
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused
type Fields = Readonly<Record<string, unknown>>
type OnePatch = { readonly arq: ArqUuid; readonly op: string; readonly fields: Fields }

const TEXT_MAX = { characters: 255 } as const
type Given = { readonly ok: true; readonly value: string } | { readonly ok: false; readonly rule: string }
type Field = {
  readonly needed: boolean
  readonly read: (given: unknown) => Given
  /** The JSON schema of the values that `read` accepts. */
  readonly shape: Json
}

const uuidIn = (given: unknown): Given => {
  const uuid = typeof given === 'string' ? canonicalUuid(given) : null
  return uuid === null ? { ok: false, rule: 'it must be a UUID' } : { ok: true, value: uuid }
}
const textIn = (given: unknown): Given => {
  if (typeof given !== 'string' || given.trim() === '')
    return { ok: false, rule: `it must be a text of 1 to ${TEXT_MAX.characters} characters` }
  const broken = brokenText(given, TEXT_MAX)
  return broken === null ? { ok: true, value: given } : { ok: false, rule: broken.problem }
}
const wordIn = (given: unknown): Given => {
  const word = textIn(given)
  return word.ok && /\p{White_Space}/u.test(word.value) ? { ok: false, rule: 'it holds white space' } : word
}

/** The fields that a bind may set for an accelerator request, in the order in which they are checked. */
const FIELDS = {
  hostname: { needed: true, read: wordIn, shape: wordShape(TEXT_MAX) },
  device_rp_uuid: { needed: true, read: uuidIn, shape: UUID_SHAPE },
  instance_uuid: { needed: true, read: uuidIn, shape: UUID_SHAPE },
  project_id: { needed: false, read: textIn, shape: filledShape(TEXT_MAX) },
} as const satisfies Readonly<Record<string, Field>>
type Name = keyof typeof FIELDS
const NAMES = Object.keys(FIELDS) as readonly Name[]

const opOf = (arq: string, operations: readonly Operation[]): Read<string> => {
  const ops = new Set(operations.map(({ op }) => op))
  const [op] = ops
  if (op !== 'add' && op !== 'remove') return invalid(`${arq}.op`, 'it must be add or remove')
  return ops.size === 1 ? { ok: true, value: op } : invalid(`${arq}.op`, 'all must be add, or all remove')
}

const projectProblem = (asked: RequestContext): HttpRefused | null => {
  if (asked.minor < SINCE.bindProject)
    return refused({ kind: 'not_acceptable', reason: 'The path /project_id is understood since version 2.1.' })
  return asked.isAdmin ? null : refused({ kind: 'forbidden', rule: 'Only an administrator may set project_id.' })
}

const fieldsOf = (arq: string, operations: readonly Operation[], asked: RequestContext): Read<Fields> => {
  const fields: Record<string, unknown> = {}
  for (const { op, path, ...rest } of operations) {
    const name = path.replace(/^\/+/, '')
    const problem = name === 'project_id' ? projectProblem(asked) : null
    if (problem !== null) return problem
    if (!Object.hasOwn(FIELDS, name)) return invalid(`${arq}.path`, `there is no path ${path.slice(0, 60)}`)
    if (Object.hasOwn(fields, name)) return invalid(`${arq}.path`, `the path ${name} is given twice`)
    if (op === 'add' && !('value' in rest)) return invalid(`${arq}.${name}`, 'its value is missing')
    fields[name] = rest['value']
  }
  return { ok: true, value: fields }
}

const bindingOf = ({ arq, fields }: OnePatch): Read<Binding> => {
  const absent = (name: Name) => fields[name] === undefined || (FIELDS[name].needed && fields[name] === null)
  const lacking = NAMES.find((name) => FIELDS[name].needed && absent(name))
  if (lacking !== undefined) return invalid(`${arq}.${lacking}`, 'it is missing')
  const said: Partial<Record<Name, string>> = {}
  for (const name of NAMES.filter((each) => !absent(each))) {
    const given = FIELDS[name].read(fields[name])
    if (!given.ok) return invalid(`${arq}.${name}`, given.rule)
    said[name] = given.value
  }
  const { hostname, device_rp_uuid: deviceRpUuid, instance_uuid: instanceUuid, project_id: projectId } = said
  // The loop above has checked that these three are present.
  const binding = { arq, hostname: hostname!, deviceRpUuid: deviceRpUuid!, instanceUuid: instanceUuid! }
  return { ok: true, value: projectId === undefined ? binding : { ...binding, projectId } }
}

const onePatch = (key: string, operations: readonly Operation[], asked: RequestContext): Read<OnePatch> => {
  const arq = canonicalUuid(key)
  if (arq === null) return invalid(key.slice(0, 60), 'each key must be the UUID of an accelerator request')
  const op = opOf(arq, operations)
  if (!op.ok) return op
  const fields = fieldsOf(arq, operations, asked)
  return fields.ok ? { ok: true, value: { arq, op: op.value, fields: fields.value } } : fields
}

const each = <From, To>(items: readonly From[], read: (item: From) => Read<To>): Read<readonly To[]> => {
  const values: To[] = []
  for (const item of items) {
    const value = read(item)
    if (!value.ok) return value
    values.push(value.value)
  }
  return { ok: true, value: values }
}

const together = (patches: readonly OnePatch[]): Read<Patch> => {
  const arqs = patches.map(({ arq }) => arq)
  if (new Set(arqs).size < arqs.length) return invalid('body', 'it names one accelerator request twice')
  if (new Set(patches.map(({ op }) => op)).size > 1) return invalid('op', 'one request either binds or unbinds')
  if (patches[0]!.op === 'remove') return { ok: true, value: { unbind: arqs } }
  const bindings = each(patches, bindingOf)
  if (!bindings.ok) return bindings
  if (new Set(bindings.value.map(({ instanceUuid }) => instanceUuid)).size > 1)
    return invalid('instance_uuid', 'one request binds for one instance')
  return { ok: true, value: { bind: bindings.value } }
}

const pathOf = (name: string): Json => ({ pattern: `^/*(?:${name})$` })
const once = (name: Name, minContains: number): Json => ({
  contains: { properties: { path: pathOf(name) } },
  minContains,
  maxContains: 1,
})
const addition = (name: Name): Json => ({ properties: { path: pathOf(name), value: FIELDS[name].shape } })
const operations = (op: 'add' | 'remove', more: Json, needed: (name: Name) => boolean): Json => ({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    properties: { op: { const: op }, path: { type: 'string', ...pathOf(NAMES.join('|')) } },
    ...more,
  },
  allOf: NAMES.map((name) => once(name, needed(name) ? 1 : 0)),
})
const BIND = operations(
  'add',
  { required: ['op', 'path', 'value'], anyOf: NAMES.map(addition) },
  (name) => FIELDS[name].needed,
)
const UNBIND = operations('remove', { required: ['op', 'path'] }, () => false)
const Patches = v.pipe(
  v.record(v.string(), v.pipe(v.array(Operation), v.minLength(1, 'it holds no operation'))),
  v.metadata({
    minProperties: 1,
    propertyNames: UUID_SHAPE,
    additionalProperties: true,
    anyOf: [{ additionalProperties: BIND }, { additionalProperties: UNBIND }],
  }),
)

export const patch: Body<Patch> = {
  schema: Patches,
  read: (json, asked) => {
    const parsed = readAs(Patches, json)
    if (!parsed.ok) return parsed
    // The original body is read, because a schema could silently drop some keys.
    const entries = Object.entries(json as Record<string, readonly Operation[]>)
    if (entries.length === 0) return invalid('body', 'it holds no patch')
    const patches = each(entries, ([key, operations]) => onePatch(key, operations, asked))
    return patches.ok ? together(patches.value) : patches
  },
}
