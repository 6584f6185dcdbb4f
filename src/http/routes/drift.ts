/** The differences between hardware, records and Placement. These paths are an extension that clients of the original API do not use. */
import type { DriftEntry, HostDrift } from '../../actors/answers/drift.ts'
import { answerList } from '../listing.ts'
import { namedPageArgs, pageOf } from '../pages.ts'
import { flag, text } from '../query.ts'
import { time } from '../render.ts'
import { reply, route } from '../route.ts'
import type { Route } from '../route.ts'
import * as schemas from '../schemas.ts'

const entryBody = ({
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
}: DriftEntry) => ({
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
    answers: { 200: schemas.listOf('drift', schemas.HostDrift) },
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

const heal = route({
  method: 'POST',
  path: '/v2/drift/heal',
  rule: 'cyborg:drift:heal',
  query: {
    host: HOST,
    dry_run: flag('Only answer what would be done, which is what happens unless it is false.'),
  },
  waits: true,
  docs: {
    summary: 'Repairs Placement where it differs from what is recorded. Answers what differed before.',
    answers: { 200: schemas.Healing },
    refusals: [404, 409],
  },
  handle: async ({ control, caller, query }) => {
    const name = query.host ?? null
    const before = await control.drift.list(name, {})
    if (!before.ok) return before
    const dryRun = query.dry_run ?? true
    const healed = dryRun ? null : await control.drift.heal(caller, name)
    if (healed && !healed.ok) return healed
    return reply(200, { dry_run: dryRun, drift: before.value.items.map(driftBody) })
  },
})

export const driftRoutes: readonly Route[] = [list, heal]
