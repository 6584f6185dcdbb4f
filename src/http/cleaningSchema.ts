/** The cleaning of an attach handle, as the API shows it. */
import * as v from 'valibot'
import type { HandleDetail } from '../actors/control.ts'
import { HOST_CLEANINGS } from '../vocabulary/cleaning.ts'
import { time } from './render.ts'

const Moment = v.pipe(v.string(), v.description('ISO 8601, UTC, whole seconds.'))
const Evidence = v.object({
  command: v.pipe(v.string(), v.description('The program without its arguments, or the path of the playbook.')),
  started_at: Moment,
  finished_at: Moment,
  duration_ms: v.number(),
  exit_code: v.pipe(v.nullable(v.number()), v.description('Null: it did not end by itself, or could not be started.')),
  output_sha256: v.pipe(v.string(), v.description('Of the whole output.')),
  output_bytes: v.number(),
  output: v.pipe(v.string(), v.description('The end of the output, at most 1000 characters.')),
})
export const CleaningShown = v.pipe(
  v.object({
    due: v.pipe(
      v.nullable(v.picklist(HOST_CLEANINGS)),
      v.description(
        'by_host: a command or a playbook on its host cleans it when it is given up; by_operator: it is withheld then until an operator releases it; null: it is not cleaned. By the policy of its host, or, where that asks for more, by the device profile of the request that has it.',
      ),
    ),
    policy: v.pipe(
      v.nullable(v.picklist(HOST_CLEANINGS)),
      v.description(
        'The policy of its host alone; null: there is none. Only with by_host can the host be told to clean.',
      ),
    ),
    under_way: v.boolean(),
    last: v.pipe(v.nullable(Evidence), v.description('The evidence of the last cleaning, done or failed.')),
  }),
  v.description('How it is cleaned between requests. A handle that is being cleaned is releasing, and is not free.'),
)

export const cleaningBody = ({ due, policy, underWay, last }: HandleDetail['cleaning']) => ({
  due,
  policy,
  under_way: underWay,
  last: last && {
    command: last.command,
    started_at: time(last.startedAt),
    finished_at: time(last.finishedAt),
    duration_ms: last.finishedAt - last.startedAt,
    exit_code: last.exitCode,
    output_sha256: last.outputSha256,
    output_bytes: last.outputBytes,
    output: last.output,
  },
})
