/** The history of an accelerator request, step by step, even after it is deleted. */
import type { Timeline, TimelineStep } from '../../actors/answers/timelineSteps.ts'
import { answer, route } from '../route.ts'
import * as schemas from '../schemas.ts'

const stepBody = (step: TimelineStep) => ({
  at: new Date(step.at).toISOString(),
  step: step.step,
  took_ms: step.tookMs,
  cause: step.cause,
  request_id: step.requestId,
  detail: step.detail,
})

const timelineBody = (told: Timeline) => ({
  arq: told.arq,
  project_id: told.projectId,
  deleted: told.deleted,
  total_ms: (told.steps.at(-1)?.at ?? 0) - (told.steps[0]?.at ?? 0),
  steps: told.steps.map(stepBody),
})

export const timeline = route({
  method: 'GET',
  path: '/v2/accelerator_requests/:uuid/timeline',
  rule: 'cyborg:arq:get_one',
  uuids: { uuid: { resource: 'accelerator_request', otherwise: 'invalid' } },
  docs: {
    summary: 'Each step of an accelerator request: when, how long since the one before, and what caused it.',
    answers: { 200: schemas.Timeline },
    refusals: [404],
  },
  handle: ({ control, caller, params }) => answer(control.arqs.timeline(caller, params.uuid), 200, timelineBody),
})
