/** The hosts that report hardware. This path is an extension that clients of the original API do not use. */
import { AS_OF } from '../asOf.ts'
import type { Caller, HostDetail, HostRow } from '../../actors/control.ts'
import { LISTED_AS } from '../../actors/host/standing.ts'
import * as v from 'valibot'
import { publicKey } from '../../vocabulary/fields.ts'
import { DRY_RUN, answerImpact } from '../impact.ts'
import { answerList } from '../listing.ts'
import { namedPageArgs, pageOf } from '../pages.ts'
import { flag, oneOf } from '../query.ts'
import { ReasonBody, readReason, reasonArg, reasonIn, noteBody, noteOf } from './operatorNote.ts'
import { time, times } from '../render.ts'
import { answer, reply, route } from '../route.ts'
import type { Body, Route } from '../route.ts'
import { HostDetail as HostDetailSchema } from '../hostSchema.ts'
import * as schemas from '../schemas.ts'

/** Texts of a driver may reveal more about a host than its state, so only administrators see them. */
const driversFor = ({ isAdmin }: Caller, drivers: HostRow['drivers']): unknown =>
  isAdmin
    ? drivers
    : Object.fromEntries(Object.entries(drivers).map(([name, { status }]) => [name, { status, error: null }]))

const hostBodyFor = (caller: Caller) => (row: HostRow) => ({
  name: row.name,
  liveness: row.liveness,
  aliases: row.aliases,
  drivers: driversFor(caller, row.drivers),
  boot_id: row.boot_id,
  last_seen_at: row.last_seen_at === null ? null : time(row.last_seen_at),
  retired: noteBody(row.retired),
  public_key: row.public_key,
  offered_key: row.offered_key,
  ...times(row),
})

const list = route({
  method: 'GET',
  path: '/v2/hosts',
  rule: 'cyborg:host:get_all',
  query: {
    ...namedPageArgs(['created_at', 'name']),
    liveness: oneOf(
      LISTED_AS,
      'Only those in this state. `retired`: an operator took them out of service; the others are in service.',
    ),
    ...AS_OF,
  },
  docs: {
    summary: 'Hosts: whether they are alive, their other names and the state of their drivers.',
    answers: { 200: schemas.listOf('hosts', schemas.Host) },
  },
  handle: ({ control, caller, query, base, pairs }) =>
    answerList((page) => control.hosts.list(page, query.liveness), pageOf(query), {
      key: 'hosts',
      collection: 'hosts',
      base,
      pairs,
      item: hostBodyFor(caller),
      markerOf: (row) => row.name,
    }),
})

/** The output of a playbook is shown only to administrators, like texts of a driver. */
const playbookFor =
  ({ isAdmin }: Caller) =>
  (run: HostDetail['playbooks'][number]) => ({
    driver: run.driver,
    playbook: run.playbook,
    status: run.status,
    started_at: time(run.startedAt),
    finished_at: run.finishedAt === null ? null : time(run.finishedAt),
    reason: isAdmin ? run.reason : null,
    output: isAdmin ? run.output : null,
  })
const probeBody = (probe: HostDetail['probe']) =>
  probe && {
    asked_at: time(probe.at),
    by: probe.by,
    answer: probe.answer && {
      at: time(probe.answer.at),
      took_ms: Math.max(0, probe.answer.at - probe.at),
      report_number: probe.answer.number,
      devices: probe.answer.devices,
      failed_drivers: probe.answer.failed,
    },
  }
const measuredBody = ({ device, at, health, reasons, numbers }: HostDetail['measured'][number]) => ({
  device_uuid: device,
  measured_at: time(at),
  state: health,
  reasons,
  numbers,
})
const detailBodyFor = (caller: Caller) => (row: HostDetail) => ({
  ...hostBodyFor(caller)(row),
  devices: row.devices,
  handles: row.handles,
  arqs: row.arqs,
  playbooks: row.playbooks.map(playbookFor(caller)),
  probe: probeBody(row.probe),
  last_report: row.lastReport && { number: row.lastReport.number, at: time(row.lastReport.at) },
  orders: { waiting: row.orders.waiting, waiting_since: row.orders.since === null ? null : time(row.orders.since) },
  measured: row.measured.map(measuredBody),
})

const one = route({
  method: 'GET',
  path: '/v2/hosts/:name',
  rule: 'cyborg:host:get_one',
  query: AS_OF,
  docs: {
    summary: 'One host, the number of its attach handles in each state, and what holds them.',
    answers: { 200: HostDetailSchema },
    refusals: [404],
  },
  handle: ({ control, caller, params }) => answer(control.hosts.get(caller, params.name), 200, detailBodyFor(caller)),
})

const retire = route({
  method: 'POST',
  path: '/v2/hosts/:name/retire',
  rule: 'cyborg:host:retire',
  query: { dry_run: DRY_RUN },
  body: reasonIn,
  docs: {
    summary: 'Takes a host out of service: nothing on it is offered any more. Repeating it is harmless.',
    answers: { 200: v.union([HostDetailSchema, schemas.Impact]) },
    refusals: [404],
  },
  handle: ({ control, caller, params, body, query }) =>
    query.dry_run
      ? answerImpact(control.hosts.impact(caller, params.name, 'retire'))
      : answer(control.hosts.retire(caller, params.name, noteOf(caller, body)), 200, detailBodyFor(caller)),
})
const restore = route({
  method: 'POST',
  path: '/v2/hosts/:name/restore',
  rule: 'cyborg:host:restore',
  body: reasonIn,
  docs: {
    summary: 'Brings a retired or removed host back. Repeating it is harmless.',
    answers: { 200: HostDetailSchema },
    refusals: [404, 409],
  },
  handle: ({ control, caller, params, body }) =>
    answer(control.hosts.restore(caller, params.name, noteOf(caller, body)), 200, detailBodyFor(caller)),
})

const probe = route({
  method: 'POST',
  path: '/v2/hosts/:name/probe',
  rule: 'cyborg:host:probe',
  docs: {
    summary:
      'Has a host look at its hardware and report at once. 202: it has not answered within some seconds; the answer is shown with the host if it comes later.',
    answers: { 200: HostDetailSchema, 202: HostDetailSchema },
    refusals: [404, 409, 429],
  },
  handle: async ({ control, caller, params }) => {
    const asked = await control.hosts.probe(caller, params.name)
    if (!asked.ok) return asked
    return reply(asked.value.probe?.answer ? 200 : 202, detailBodyFor(caller)(asked.value))
  },
})

const Keyed = v.looseObject({ ...ReasonBody.entries, public_key: v.optional(publicKey) })
const keyedIn: Body<{ readonly reason: string; readonly key: string | null }> = {
  schema: Keyed,
  read: (json) => {
    const parsed = schemas.readAs(Keyed, json)
    if (!parsed.ok) return parsed
    const { reason, public_key: key = null } = parsed.value
    return { ok: true, value: { reason, key } }
  },
}
const keyed = (verb: 'approve' | 'rekey', summary: string): Route =>
  route({
    method: 'POST',
    path: `/v2/hosts/:name/${verb}`,
    rule: `cyborg:host:${verb}`,
    body: keyedIn,
    docs: { summary, answers: { 200: HostDetailSchema }, refusals: [404, 409] },
    handle: ({ control, caller, params, body }) =>
      answer(
        control.hosts[verb](caller, params.name, noteOf(caller, body.reason), body.key),
        200,
        detailBodyFor(caller),
      ),
  })

const remove = route({
  method: 'DELETE',
  path: '/v2/hosts/:name',
  rule: 'cyborg:host:delete',
  query: {
    reason: reasonArg('The reason, recorded in the journal.'),
    force: flag('Unbind by force what is bound on it. Without it a host in use is refused.'),
    dry_run: DRY_RUN,
  },
  docs: {
    summary: 'Removes a host: its reports are ignored until it is restored.',
    answers: { 200: schemas.Impact, 204: null },
    refusals: [404, 409],
  },
  handle: ({ control, caller, params, query }) => {
    const reason = readReason({ reason: query.reason })
    if (!reason.ok) return reason
    if (query.dry_run)
      return answerImpact(control.hosts.impact(caller, params.name, query.force ? 'remove by force' : 'remove'))
    return answer(control.hosts.remove(caller, params.name, noteOf(caller, reason.value), query.force ?? false), 204)
  },
})

export const hostRoutes: readonly Route[] = [
  list,
  one,
  retire,
  restore,
  probe,
  keyed('approve', 'Accepts the key that a host waits with, or the one that is named. Repeating it is harmless.'),
  keyed('rekey', 'Replaces the key of a host by the one that is named, or by the next one that it shows.'),
  remove,
]
