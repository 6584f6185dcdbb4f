/** Reads answers of Placement: the parts that are used, and the kind of each error (placement.md 5.1). Pure. */
import * as v from 'valibot'
import type { PlacementFault, PlacementError, PlacementResult } from '../../actors/placement/port.ts'
import { isUuid } from '../../vocabulary/uuid.ts'
import type { Answer } from './send.ts'

const LIST_MAX = 100_000
const REASON_MAX = 500

const NAME = v.pipe(v.string(), v.minLength(1), v.maxLength(255))
const UUID = v.pipe(v.string(), v.toLowerCase(), v.check(isUuid, 'is not a UUID'))
const COUNT = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

export const PROVIDER = v.pipe(
  v.object({
    uuid: UUID,
    name: v.pipe(v.string(), v.maxLength(255)),
    generation: COUNT,
    parent_provider_uuid: v.nullable(UUID),
    root_provider_uuid: UUID,
  }),
  v.transform(({ uuid, name, generation, parent_provider_uuid: parent, root_provider_uuid: root }) => ({
    uuid,
    name,
    generation,
    parent,
    root,
  })),
)
export const PROVIDERS = v.pipe(
  v.object({ resource_providers: v.pipe(v.array(PROVIDER), v.maxLength(LIST_MAX)) }),
  v.transform(({ resource_providers: all }) => all),
)
/** The generation of the provider, which the answers to both kinds of change contain. */
export const GENERATION = v.pipe(
  v.object({ resource_provider_generation: COUNT }),
  v.transform(({ resource_provider_generation: generation }) => generation),
)
const RECORD = v.object({
  total: COUNT,
  reserved: COUNT,
  min_unit: COUNT,
  max_unit: COUNT,
  step_size: COUNT,
  allocation_ratio: v.pipe(v.number(), v.finite()),
})
export const INVENTORIES = v.pipe(
  v.object({ resource_provider_generation: COUNT, inventories: v.record(NAME, RECORD) }),
  v.transform(({ resource_provider_generation: generation, inventories }) => ({ generation, inventories })),
)
export const TRAITS = v.pipe(
  v.object({ resource_provider_generation: COUNT, traits: v.pipe(v.array(NAME), v.maxLength(LIST_MAX)) }),
  v.transform(({ resource_provider_generation: generation, traits }) => ({ generation, traits })),
)
export const ALLOCATIONS = v.pipe(
  v.object({
    resource_provider_generation: COUNT,
    allocations: v.record(NAME, v.object({ resources: v.record(NAME, COUNT) })),
  }),
  v.transform(({ resource_provider_generation: generation, allocations }) => ({
    generation,
    consumers: Object.fromEntries(
      Object.entries(allocations).map(([consumer, { resources }]) => [consumer, resources]),
    ),
  })),
)
/** For each way to serve the groups: the providers of each group, by the number of the group. */
export const CANDIDATES = v.pipe(
  v.object({
    allocation_requests: v.pipe(
      v.array(v.object({ mappings: v.record(v.string(), v.array(UUID)) })),
      v.maxLength(LIST_MAX),
    ),
  }),
  v.transform(({ allocation_requests: all }) => all.map(({ mappings }) => mappings)),
)
const NUMBER = v.pipe(
  v.string(),
  v.regex(/^1\.\d{1,4}$/),
  v.transform((text) => Number(text.slice(2))),
)
/** The lowest and the highest minor version; the major version is always 1. */
export const VERSIONS = v.pipe(
  v.object({ versions: v.pipe(v.array(v.object({ min_version: NUMBER, max_version: NUMBER })), v.minLength(1)) }),
  v.transform(({ versions: [{ min_version: lowest, max_version: highest } = { min_version: 0, max_version: 0 }] }) => ({
    lowest,
    highest,
  })),
)
const ERRORS = v.object({
  errors: v.pipe(
    v.array(v.object({ status: v.number(), detail: v.string(), code: v.optional(v.string()) })),
    v.minLength(1),
  ),
})

export const fault = (error: PlacementError, reason: string): PlacementFault => ({
  ok: false,
  error,
  reason: reason
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, REASON_MAX),
})

const decoded = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Error codes of `placement/errors.py` that say more than the status. */
const BY_CODE: Readonly<Record<string, PlacementError>> = {
  'placement.concurrent_update': 'stale',
  'placement.inventory.inuse': 'inUse',
  'placement.resource_provider.inuse': 'inUse',
  'placement.resource_provider.cannot_delete_parent': 'hasChildren',
  'placement.duplicate_name': 'duplicate',
}
/** There is no error code for a name that Placement does not know, so its text is matched. */
const UNKNOWN_NAME = /\bno such (trait|resource class)\b/i
/** The part of the text about this request, which follows a general sentence for the status and an empty line. */
const own = (detail: string): string => detail.slice(detail.indexOf('\n\n') + 1).trim()
const HINTS: Readonly<Record<number, string>> = {
  401: 'Placement refuses the token of this service',
  403: 'the account of this service needs the role admin or service for Placement',
  406: 'Placement does not offer this version any more',
}
/** Statuses of a proxy, or of an overloaded service. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])

/** The fault that an unsuccessful answer means. */
export const errorOf = ({ status, text }: Answer): PlacementFault => {
  const body = v.safeParse(ERRORS, decoded(text))
  const [error] = body.success ? body.output.errors : []
  const reason = [HINTS[status] ?? `Placement answers ${status}`, error === undefined ? text : own(error.detail)]
    .filter(Boolean)
    .join(': ')
  if (status === 401 || status === 403) return fault('denied', reason)
  // The page of a proxy is not an answer of Placement: its 404 does not say that a provider is gone.
  if (error === undefined || status >= 500 || PASSING.has(status)) return fault('unanswered', reason)
  const known = BY_CODE[error.code ?? '']
  if (known !== undefined) return fault(known, reason)
  if (status === 404) return fault('gone', reason)
  // A 409 without a code: another writer changed the inventory between the check of the generation and the change.
  if (status === 409) return fault('stale', reason)
  return fault(status === 400 && UNKNOWN_NAME.test(error.detail) ? 'unknownName' : 'refused', reason)
}

export type Shape<Value> = v.GenericSchema<unknown, Value>
/** An unreadable body with a successful status: the change may have been made. */
export const valueIn = <Value>(shape: Shape<Value>, { text }: Answer): PlacementResult<Value> => {
  const read = v.safeParse(shape, decoded(text))
  if (read.success) return { ok: true, value: read.output }
  const [issue] = read.issues
  const where = v.getDotPath(issue) ?? 'the body'
  return fault('unanswered', `the answer of Placement is not what its API promises, at ${where}: ${issue.message}`)
}
