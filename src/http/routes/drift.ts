/**
 * The differences between hardware, records and Placement. These paths are an extension that clients of the original
 * API do not use.
 */
import type { DriftEntry, HostDrift, HostPassed } from '../../actors/answers/drift.ts'
import { answerList } from '../listing.ts'
import { namedPageArgs, pageOf } from '../pages.ts'
import { flag, text } from '../query.ts'
import { time } from '../render.ts'
import { reply, route } from '../route.ts'
import type { Route } from '../route.ts'
import { listOf } from '../schemas.ts'
import { ignoredRoutes } from './ignoredDrift.ts'
import { Healing, HostDrift as HostDriftSchema } from '../driftSchemas.ts'

const entryBody = ({
  uuid,
  kind,
  provider,
  name,
  deployable,
  repairs,
  state,
  reason,
  reserving,
  consumer,
  arqs,
  ignored,
}: DriftEntry) => ({
  uuid,
  kind,
  provider_uuid: provider,
  name,
  deployable_uuid: deployable,
  repairs,
  state,
  reason,
  reserving,
  consumer_uuid: consumer,
  arqs,
  ignored: ignored && { by: ignored.by, reason: ignored.reason, at: time(ignored.at), until: time(ignored.until) },
})
const driftBody = ({ host, root, checkedAt, trouble, entries }: HostDrift) => ({
  host,
  compute_node_uuid: root,
  checked_at: checkedAt === null ? null : time(checkedAt),
  trouble: trouble && { state: trouble.state, reason: trouble.reason },
  entries: entries.map(entryBody),
})

const HOST = text('Only this host.')

const list = route({
  method: 'GET',
  path: '/v2/drift',
  rule: 'cyborg:drift:get_all',
  query: {
    ...namedPageArgs(['created_at', 'name']),
    host: HOST,
    nova: flag('Also ask Nova about each server that has accelerators.'),
  },
  waits: true,
  docs: {
    summary:
      'What differs between hardware, records and Placement, by host. Reads everything anew, and writes nothing.',
    answers: { 200: listOf('drift', HostDriftSchema) },
    refusals: [404, 409],
  },
  handle: ({ control, query, base, pairs }) =>
    answerList((page) => control.drift.list(query.host ?? null, page, query.nova ?? false), pageOf(query), {
      key: 'drift',
      collection: 'drift',
      base,
      pairs,
      item: driftBody,
      markerOf: ({ host }) => host,
    }),
})

/** How many hosts are repaired in one request at most: each costs several requests to Placement. */
const HEALED_MAX = 100

/** What is ignored is not counted. */
const differs = (one: HostDrift | undefined): boolean =>
  one !== undefined && (one.trouble !== null || one.entries.some(({ ignored }) => ignored === null))
/** What came of the repair of a host; `after`: what differs now, undefined: it was not compared again, or is gone. */
const healedBody = ({ host, ended }: HostPassed, after: HostDrift | undefined) => ({
  host,
  outcome: ended ? (differs(after) ? 'left' : 'in_step') : 'busy',
  left: after !== undefined && (differs(after) || after.entries.length > 0) ? driftBody(after) : null,
})

const heal = route({
  method: 'POST',
  path: '/v2/drift/heal',
  rule: 'cyborg:drift:heal',
  query: {
    ...namedPageArgs(['created_at', 'name']),
    host: HOST,
    dry_run: flag('Only answer what would be done, which is what happens unless it is false.'),
  },
  waits: true,
  docs: {
    summary: `Repairs Placement where it differs from what is recorded, at most ${HEALED_MAX} hosts at a time. Answers what differed before, and what differs now.`,
    answers: { 200: Healing },
    refusals: [404, 409],
  },
  handle: async ({ control, caller, query }) => {
    const name = query.host ?? null
    const page = { ...pageOf(query), limit: Math.min(query.limit ?? HEALED_MAX, HEALED_MAX) }
    const before = await control.drift.list(name, page, false, true)
    if (!before.ok) return before
    const { items, next: more } = before.value
    const body = { drift: items.map(driftBody), next: more === null ? null : (items.at(-1)?.host ?? null) }
    if (query.dry_run ?? true) return reply(200, { dry_run: true, ...body, healed: [] })
    const passed = await control.drift.heal(caller, name, page)
    if (!passed.ok) return passed
    const stillHolds = !items.some(differs) && passed.value.items.every(({ ended }) => ended)
    const after = stillHolds ? before : await control.drift.list(name, page, false, true)
    if (!after.ok) return after
    const now = new Map(after.value.items.map((one) => [one.host, one]))
    const healed = passed.value.items.map((one) => healedBody(one, now.get(one.host)))
    return reply(200, { dry_run: false, ...body, healed })
  },
})

export const driftRoutes: readonly Route[] = [list, heal, ...ignoredRoutes]
