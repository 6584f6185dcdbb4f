/**
 * The body of a bind or unbind: a JSON patch per accelerator request. It is read, and described for the API, by the
 * tables of fields and operations. Pure; checks that need stored data are made elsewhere.
 */
import * as v from 'valibot'
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import { ARQS_MAX } from '../../actors/arq/groups.ts'
import type { Binding } from '../../actors/control.ts'
import { invalid, refused } from '../faults.ts'
import type { HttpRefused } from '../faults.ts'
import { printed } from '../printed.ts'
import type { RequestContext, Body } from '../route.ts'
import { readAs } from '../schemas.ts'
import { filledText, UUID_SHAPE, UuidText, wordText } from '../shapes.ts'
import type { Json } from '../shapes.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'
import { SINCE } from '../versions.ts'

/** All requests of an instance fit into one body: a profile asks for 256 at most, and an instance has few profiles. */
const PATCHES_MAX = 4 * ARQS_MAX

const Operation = v.looseObject({ op: v.string(), path: v.string(), value: v.optional(v.unknown()) })
type Operation = v.InferOutput<typeof Operation>

export type Patch = { readonly bind: readonly Binding[] } | { readonly unbind: readonly ArqUuid[] }
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused

const TEXT_MAX = { characters: 255 } as const
/** `since`: the version that introduced the field, when it is not the lowest. */
type Field = { readonly needed: boolean; readonly since?: number; readonly schema: v.GenericSchema<unknown, string> }
/** The fields that a bind may set for an accelerator request, in the order in which they are checked. */
const FIELDS = {
  hostname: { needed: true, schema: wordText(TEXT_MAX) },
  device_rp_uuid: { needed: true, schema: UuidText },
  instance_uuid: { needed: true, schema: UuidText },
  project_id: { needed: false, since: SINCE.bindProject, schema: filledText(TEXT_MAX) },
} as const satisfies Readonly<Record<string, Field>>
type Name = keyof typeof FIELDS
const NAMES = Object.keys(FIELDS) as readonly Name[]
/** The path of a field, with any number of slashes before it. */
const pathTo = (...names: readonly Name[]): string => `^/*(?:${names.join('|')})$`
const isName = (text: string): text is Name => Object.hasOwn(FIELDS, text)
const nameAt = (path: string): Name | undefined => {
  const name = path.replace(/^\/+/, '')
  return isName(name) ? name : undefined
}

/** `sets`: each operation has a value, and the fields that a bind needs must be among them. */
const OPS = { add: { sets: true }, remove: { sets: false } } as const
type Op = keyof typeof OPS
type Fields = { readonly [N in Name]?: unknown }
type OnePatch = { readonly arq: ArqUuid; readonly op: Op; readonly fields: Fields }
const isOp = (op: string | undefined): op is Op => op !== undefined && Object.hasOwn(OPS, op)

const opOf = (arq: string, operations: readonly Operation[]): Read<Op> => {
  const ops = new Set(operations.map(({ op }) => op))
  const [op] = ops
  if (!isOp(op)) return invalid(`${arq}.op`, 'it must be add or remove')
  return ops.size === 1 ? { ok: true, value: op } : invalid(`${arq}.op`, 'all must be add, or all remove')
}

const projectProblem = (asked: RequestContext): HttpRefused | null => {
  if (asked.minor < FIELDS.project_id.since)
    return refused({ kind: 'not_acceptable', reason: 'The path /project_id is understood since version 2.1.' })
  return asked.isAdmin ? null : refused({ kind: 'forbidden', rule: 'Only an administrator may set project_id.' })
}

const fieldsOf = (arq: string, op: Op, operations: readonly Operation[], asked: RequestContext): Read<Fields> => {
  const fields: { [N in Name]?: unknown } = {}
  for (const operation of operations) {
    const name = nameAt(operation.path)
    const problem = name === 'project_id' ? projectProblem(asked) : null
    if (problem !== null) return problem
    if (name === undefined) return invalid(`${arq}.path`, `there is no path ${operation.path.slice(0, 60)}`)
    if (Object.hasOwn(fields, name)) return invalid(`${arq}.path`, `the path ${name} is given twice`)
    if (OPS[op].sets && !('value' in operation)) return invalid(`${arq}.${name}`, 'its value is missing')
    fields[name] = operation.value
  }
  return { ok: true, value: fields }
}

const bindingOf = ({ arq, fields }: OnePatch): Read<Binding> => {
  const absent = (name: Name) => fields[name] === undefined || (FIELDS[name].needed && fields[name] === null)
  const lacking = NAMES.find((name) => FIELDS[name].needed && absent(name))
  if (lacking !== undefined) return invalid(`${arq}.${lacking}`, 'it is missing')
  const said: Partial<Record<Name, string>> = {}
  for (const name of NAMES.filter((each) => !absent(each))) {
    const given = v.safeParse(FIELDS[name].schema, fields[name])
    if (!given.success) return invalid(`${arq}.${name}`, given.issues[0].message)
    said[name] = given.output
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
  const fields = fieldsOf(arq, op.value, operations, asked)
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
  if (new Set(arqs).size < arqs.length)
    return refused({ kind: 'conflict', reason: 'The body names one accelerator request twice.' })
  if (new Set(patches.map(({ op }) => op)).size > 1) return invalid('op', 'one request either binds or unbinds')
  if (patches[0]!.op === 'remove') return { ok: true, value: { unbind: arqs } }
  const bindings = each(patches, bindingOf)
  if (!bindings.ok) return bindings
  if (new Set(bindings.value.map(({ instanceUuid }) => instanceUuid)).size > 1)
    return refused({ kind: 'conflict', reason: 'One request binds for one instance.' })
  return { ok: true, value: { bind: bindings.value } }
}

/** The described fields: those of every version, because no schema of a body knows the header that chooses one. */
const DESCRIBED = NAMES.filter((name) => !('since' in FIELDS[name]))
const LATER =
  'Since version 2.1 an administrator may also name `/project_id`, whose value is a text of 1 to 255 characters.'
const once = (name: Name, minContains: number): Json => ({
  contains: { properties: { path: { pattern: pathTo(name) } } },
  minContains,
  maxContains: 1,
})
const setting = (name: Name): Json => ({
  properties: { path: { pattern: pathTo(name) }, value: printed(FIELDS[name].schema) },
})
const operations = (op: Op): Json => ({
  type: 'array',
  minItems: 1,
  items: {
    type: 'object',
    properties: { op: { const: op }, path: { type: 'string', pattern: pathTo(...DESCRIBED), description: LATER } },
    required: OPS[op].sets ? ['op', 'path', 'value'] : ['op', 'path'],
    ...(OPS[op].sets && { anyOf: DESCRIBED.map(setting) }),
  },
  allOf: DESCRIBED.map((name) => once(name, OPS[op].sets && FIELDS[name].needed ? 1 : 0)),
})
const Patches = v.pipe(
  v.record(v.string(), v.pipe(v.array(Operation), v.minLength(1, 'it holds no operation'))),
  v.metadata({
    minProperties: 1,
    maxProperties: PATCHES_MAX,
    propertyNames: UUID_SHAPE,
    additionalProperties: true,
    anyOf: (Object.keys(OPS) as Op[]).map((op) => ({ additionalProperties: operations(op) })),
  }),
)

export const patch: Body<Patch> = {
  size: 'list',
  schema: Patches,
  read: (json, asked) => {
    // before the schema, whose work grows with what it is given
    const count = typeof json === 'object' && json !== null ? Object.keys(json).length : 0
    if (count > PATCHES_MAX) return invalid('body', `it names ${count} accelerator requests, more than ${PATCHES_MAX}`)
    const parsed = readAs(Patches, json)
    if (!parsed.ok) return parsed
    // The original body is read, because a schema could silently drop some keys.
    const entries = Object.entries(json as Record<string, readonly Operation[]>)
    if (entries.length === 0) return invalid('body', 'it holds no patch')
    const patches = each(entries, ([key, operations]) => onePatch(key, operations, asked))
    return patches.ok ? together(patches.value) : patches
  },
}
