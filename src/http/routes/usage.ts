/** How long accelerators were bound. This path is an extension that clients of the original API do not use. */
import * as v from 'valibot'
import { USAGE_PERIODS, type UsageLine, type UsageReport } from '../../actors/usage/tally.ts'
import { moment, oneOf, text } from '../query.ts'
import { answer, route } from '../route.ts'
import type { Route } from '../route.ts'

const Moment = v.pipe(v.string(), v.description('ISO 8601, UTC, with milliseconds.'))
export const Usage = v.object({
  from: Moment,
  until: Moment,
  as_of: v.pipe(Moment, v.description('What is still bound counts up to then.')),
  period: v.picklist(USAGE_PERIODS),
  usage: v.array(
    v.object({
      project_id: v.nullable(v.string()),
      resource_class: v.string(),
      from: Moment,
      until: Moment,
      device_seconds: v.number(),
      bindings: v.pipe(v.number(), v.description('How many bindings contributed.')),
    }),
  ),
})

const shown = (at: number): string => new Date(at).toISOString()
const lineBody = ({ project, resourceClass, from, until, deviceSeconds, bindings }: UsageLine) => ({
  project_id: project,
  resource_class: resourceClass,
  from: shown(from),
  until: shown(until),
  device_seconds: deviceSeconds,
  bindings,
})
const reportBody = (period: string, { from, until, asOf, lines }: UsageReport) => ({
  from: shown(from),
  until: shown(until),
  as_of: shown(asOf),
  period,
  usage: lines.map(lineBody),
})
const list = route({
  method: 'GET',
  path: '/v2/usage',
  rule: 'cyborg:usage:get_all',
  query: {
    from: moment('The beginning. The first of the month of `until` unless said otherwise.'),
    until: moment('The end, which does not belong to it. Now unless said otherwise.'),
    period: oneOf(USAGE_PERIODS, 'Divides the time by the calendar, in UTC. total unless said otherwise.'),
    project_id: text('Only this project. Whoever is not an administrator sees the own project only.'),
  },
  waits: true,
  share: 'usage',
  docs: {
    summary: 'Seconds for which accelerators were bound, by project, resource class and period.',
    answers: { 200: Usage },
    refusals: [409],
  },
  handle: ({ control, caller, query }) => {
    const { from = null, until = null, period = 'total', project_id: project = null } = query
    return answer(control.usage(caller, { from, until, period, project }), 200, (report) => reportBody(period, report))
  },
})

export const usageRoutes: readonly Route[] = [list]
