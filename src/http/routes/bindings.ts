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
import type { Asked, Body } from '../route.ts'
import { readAs } from '../schemas.ts'
import { canonicalUuid } from '../../uuid.ts'
import { SINCE } from '../versions.ts'

const Operation = v.looseObject({ op: v.string(), path: v.string(), value: v.optional(v.unknown()) })
const Patches = v.record(v.string(), v.pipe(v.array(Operation), v.minLength(1)))
type Operation = v.InferOutput<typeof Operation>

export type Patch = { readonly bind: readonly Binding[] } | { readonly unbind: readonly ArqUuid[] }
type Read<Value> = { readonly ok: true; readonly value: Value } | HttpRefused
type Fields = Readonly<Record<string, unknown>>
type OnePatch = { readonly arq: ArqUuid; readonly op: string; readonly fields: Fields }

const TEXT_MAX = 255
const PATHS = new Set(['hostname', 'device_rp_uuid', 'instance_uuid', 'project_id'])
const NEEDED = ['hostname', 'device_rp_uuid', 'instance_uuid'] as const

const opOf = (arq: string, operations: readonly Operation[]): Read<string> => {
  const ops = new Set(operations.map(({ op }) => op))
  const [op] = ops
  if (op !== 'add' && op !== 'remove') return invalid(`${arq}.op`, 'it must be add or remove')
  return ops.size === 1 ? { ok: true, value: op } : invalid(`${arq}.op`, 'all must be add, or all remove')
}

const projectProblem = (asked: Asked): HttpRefused | null => {
  if (asked.minor < SINCE.bindProject)
    return refused({ kind: 'not_acceptable', reason: 'The path /project_id is understood since version 2.1.' })
  return asked.isAdmin ? null : refused({ kind: 'forbidden', rule: 'Only an administrator may set project_id.' })
}

const fieldsOf = (arq: string, operations: readonly Operation[], asked: Asked): Read<Fields> => {
  const fields: Record<string, unknown> = {}
  for (const { op, path, ...rest } of operations) {
    const name = path.replace(/^\/+/, '')
    const problem = name === 'project_id' ? projectProblem(asked) : null
    if (problem !== null) return problem
    if (!PATHS.has(name)) return invalid(`${arq}.path`, `there is no path ${path.slice(0, 60)}`)
    if (Object.hasOwn(fields, name)) return invalid(`${arq}.path`, `the path ${name} is given twice`)
    if (op === 'add' && !('value' in rest)) return invalid(`${arq}.${name}`, 'its value is missing')
    fields[name] = rest['value']
  }
  return { ok: true, value: fields }
}

const uuidIn = (arq: string, fields: Fields, name: string): Read<string> => {
  const given = fields[name]
  const uuid = typeof given === 'string' ? canonicalUuid(given) : null
  return uuid === null ? invalid(`${arq}.${name}`, 'it must be a UUID') : { ok: true, value: uuid }
}

const textIn = (arq: string, fields: Fields, name: string): Read<string> => {
  const given = fields[name]
  if (typeof given !== 'string' || given.trim() === '')
    return invalid(`${arq}.${name}`, `it must be a text of 1 to ${TEXT_MAX} characters`)
  const broken = brokenText(given, { characters: TEXT_MAX })
  return broken === null ? { ok: true, value: given } : invalid(`${arq}.${name}`, broken.problem)
}

const bindingOf = ({ arq, fields }: OnePatch): Read<Binding> => {
  const lacking = NEEDED.find((name) => fields[name] === undefined || fields[name] === null)
  if (lacking !== undefined) return invalid(`${arq}.${lacking}`, 'it is missing')
  const hostname = textIn(arq, fields, 'hostname')
  if (!hostname.ok) return hostname
  if (/\p{White_Space}/u.test(hostname.value)) return invalid(`${arq}.hostname`, 'it holds white space')
  const deviceRpUuid = uuidIn(arq, fields, 'device_rp_uuid')
  if (!deviceRpUuid.ok) return deviceRpUuid
  const instanceUuid = uuidIn(arq, fields, 'instance_uuid')
  if (!instanceUuid.ok) return instanceUuid
  const binding = { arq, hostname: hostname.value, deviceRpUuid: deviceRpUuid.value, instanceUuid: instanceUuid.value }
  if (!('project_id' in fields)) return { ok: true, value: binding }
  const projectId = textIn(arq, fields, 'project_id')
  return projectId.ok ? { ok: true, value: { ...binding, projectId: projectId.value } } : projectId
}

const onePatch = (key: string, operations: readonly Operation[], asked: Asked): Read<OnePatch> => {
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

export const patch: Body<Patch> = {
  schema: Patches,
  read: (json, asked) => {
    const parsed = readAs(Patches, json)
    if (!parsed.ok) return parsed
    // Read from the original body, so that keys that a schema would drop are not lost silently.
    const entries = Object.entries(json as Record<string, readonly Operation[]>)
    if (entries.length === 0) return invalid('body', 'it holds no patch')
    const patches = each(entries, ([key, operations]) => onePatch(key, operations, asked))
    return patches.ok ? together(patches.value) : patches
  },
}
