/** The history of an accelerator request, step by step, even after it is deleted. */
import type { Timeline, TimelineStep } from '../../actors/answers/timelineSteps.ts'
import { AS_OF } from '../asOf.ts'
import { flag } from '../query.ts'
import { answer, route } from '../route.ts'
import * as schemas from '../schemas.ts'

const stepBody = ({ at, step, tookMs, cause, requestId, detail, event }: TimelineStep, withEvents: boolean) => ({
  at: new Date(at).toISOString(),
  step,
  took_ms: tookMs,
  cause,
  request_id: requestId,
  detail,
  ...(withEvents && { event: JSON.parse(event() ?? 'null') as unknown }),
})

const timelineBody = (timeline: Timeline, withEvents: boolean) => ({
  arq: timeline.arq,
  project_id: timeline.projectId,
  deleted: timeline.deleted,
  total_ms: (timeline.steps.at(-1)?.at ?? 0) - (timeline.steps[0]?.at ?? 0),
  steps: timeline.steps.map((step) => stepBody(step, withEvents)),
})

export const timeline = route({
  method: 'GET',
  path: '/v2/accelerator_requests/:uuid/timeline',
  rule: 'cyborg:arq:get_one',
  share: 'timelines',
  uuids: { uuid: { resource: 'accelerator_request', otherwise: 'invalid' } },
  docs: {
    summary: 'Each step of an accelerator request: when, how long since the one before, and what caused it.',
    answers: { 200: schemas.Timeline },
    refusals: [404],
  },
  query: { events: flag('With the recorded event behind each step, as `GET /v2/events` answers it.'), ...AS_OF },
  handle: ({ control, caller, params, query: { events = false } }) =>
    answer(control.arqs.timeline(caller, params.uuid), 200, (found) => timelineBody(found, events)),
})
