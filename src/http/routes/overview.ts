/**
 * The overview for operators: counts of all entities, and the events that Nova has not taken. These paths are an
 * extension.
 */
import { DELIVERY_STATES, type Delivery, type Overview } from '../../actors/answers/tallied.ts'
import { OPERATION_RULES, type RuleName } from '../policy/rules.ts'
import { integer, oneOf, uuid } from '../query.ts'
import { noteOf, reasonIn } from './operatorNote.ts'
import { listBody } from '../listing.ts'
import { time } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Route } from '../route.ts'
import { Delivery as DeliverySchema, FOUND_AS, Overview as OverviewSchema, Permissions } from '../overviewSchemas.ts'
import * as schemas from '../schemas.ts'

const RULE_NAMES = Object.keys(OPERATION_RULES) as readonly RuleName[]
const LIMIT = { usual: 100, most: 500 }

const maybe = (at: number | null): string | null => (at === null ? null : time(at))
const waitingBody = ({ waiting, oldestAt }: Overview['orders']) => ({ waiting, oldest_at: maybe(oldestAt) })
const progressBody = ({ binds, overdueSince, journal, found, viewsChecked }: Overview['progress']) => ({
  binds: { late: binds.late, next_deadline_at: maybe(binds.nextAt) },
  overdue_since: maybe(overdueSince),
  journal: {
    newest_at: maybe(journal.newestAt),
    untold_since: maybe(journal.untoldSince),
    writing_stopped: journal.isStopped,
  },
  found: Object.fromEntries(
    Object.entries(FOUND_AS).map(([name, as]) => [name, { count: found[as].count, last_at: maybe(found[as].lastAt) }]),
  ),
  views_checked: viewsChecked,
})

const faultyBody = ({ since, cards, ...counts }: Overview['vanished']) => ({
  ...counts,
  since: maybe(since),
  cards: cards.map(({ uuid, host, place }) => ({ device_uuid: uuid, hostname: host, pci_address: place })),
})

const overview = route({
  method: 'GET',
  path: '/v2/overview',
  rule: 'cyborg:overview:get',
  docs: {
    summary:
      'How many of everything there are by state, and what waits. Counted at most once a second, and less often where counting takes long.',
    answers: { 200: OverviewSchema },
  },
  handle: ({ control, about }) =>
    answer(control.overview(), 200, ({ countedAt, orders, deliveries, arqs, handles, hosts, devices, ...more }) => ({
      counted_at: time(countedAt),
      arqs,
      handles,
      hosts,
      devices,
      device_states: more.deviceStates,
      vanished: faultyBody(more.vanished),
      failing: faultyBody(more.failing),
      orders: waitingBody(orders),
      deliveries: { ...waitingBody(deliveries), undelivered: deliveries.undelivered },
      failing_devices: more.failingDevices,
      placement: more.placement,
      ...progressBody(more.progress),
      program: about(),
    })),
})

const deliveryBody = ({
  state,
  instance,
  hostname,
  requestId,
  statuses,
  attempts,
  nextAt,
  until,
  answers,
}: Delivery) => ({
  state,
  instance_uuid: instance,
  hostname,
  request_id: requestId,
  statuses,
  attempts,
  next_at: maybe(nextAt),
  until: maybe(until),
  answers,
})

const deliveries = route({
  method: 'GET',
  path: '/v2/deliveries',
  rule: 'cyborg:delivery:get_all',
  query: {
    state: oneOf(
      DELIVERY_STATES,
      'Those that Nova is told again (unless said otherwise), or those that it is told no more.',
    ),
    limit: integer(
      1,
      `Maximum number of entries in the answer; more than ${LIMIT.most} counts as ${LIMIT.most}, ${LIMIT.usual} unless said otherwise.`,
    ),
    marker: uuid('The last instance of the previous page: the page begins after it.'),
  },
  docs: {
    summary:
      'Events that Nova has not taken, by instance; those that are tried again first, or whose delivery ended first, come first.',
    answers: { 200: schemas.listOf('deliveries', DeliverySchema) },
  },
  handle: ({ control, query: { state = 'waiting', limit = LIMIT.usual, marker }, base, pairs }) => {
    const page = { state, limit: Math.min(limit, LIMIT.most), ...(marker !== undefined && { marker }) }
    return answer(control.deliveries(page), 200, (listed) =>
      listBody(listed, {
        key: 'deliveries',
        collection: 'deliveries',
        base,
        pairs,
        item: deliveryBody,
        markerOf: (row) => row.instance,
      }),
    )
  },
})

const resend = route({
  method: 'POST',
  path: '/v2/deliveries/:uuid/resend',
  rule: 'cyborg:delivery:resend',
  uuids: { uuid: { resource: 'instance', otherwise: 'invalid' } },
  body: reasonIn,
  docs: {
    summary:
      'Tells Nova once more how the binds of an instance ended, and at once what it has not taken yet. Repeating it is harmless: Nova ignores what nobody waits for.',
    answers: { 202: DeliverySchema },
    refusals: [404, 409],
  },
  handle: ({ control, caller, params, body }) =>
    answer(control.resendDelivery(caller, params.uuid, noteOf(caller, body)), 202, deliveryBody),
})

const permissions = route({
  method: 'GET',
  path: '/v2/permissions',
  rule: 'cyborg:permission:get_all',
  docs: {
    summary: 'Who the caller is, and which operations the policy lets this caller do on what is of the own project.',
    answers: { 200: Permissions },
  },
  handle: ({ caller, may }) =>
    reply(200, {
      user_id: caller.userId,
      user_name: caller.names?.user ?? null,
      project_id: caller.projectId,
      project_name: caller.names?.project ?? null,
      permissions: Object.fromEntries(RULE_NAMES.map((rule) => [rule, may(rule)])),
    }),
})

export const overviewRoutes: readonly Route[] = [overview, deliveries, resend, permissions]
