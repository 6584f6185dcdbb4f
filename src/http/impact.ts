/** Answers requests with `dry_run`, which only ask whom a change would affect. */
import type { Impact } from '../actors/answers/impact.ts'
import type { Outcome } from '../vocabulary/fault.ts'
import { flag } from './query.ts'
import { answer } from './route.ts'
import type { Answered } from './route.ts'

export const DRY_RUN = flag('Change nothing: answer whom it would concern.')

const impactBody = ({ refusal, effect, devices, instances, projects, arqs, arqsLeftOut }: Impact) => ({
  dry_run: true,
  refusal,
  effect,
  devices,
  instances,
  projects,
  arqs: arqs.map(({ arq, state, instance, project, host, deployable }) => ({
    uuid: arq,
    state,
    instance_uuid: instance,
    project_id: project,
    hostname: host,
    deployable_uuid: deployable,
  })),
  arqs_left_out: arqsLeftOut,
})
export const answerImpact = (asked: Promise<Outcome<Impact>>): Promise<Answered> => answer(asked, 200, impactBody)
