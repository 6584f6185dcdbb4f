/** The schema of one host in the API, with all its details. */
import * as v from 'valibot'
import { Host, Time, Uuid } from './schemas.ts'

const PlaybookShown = v.object({
  driver: v.string(),
  playbook: v.picklist(['setup', 'teardown']),
  status: v.picklist(['running', 'done', 'failed']),
  started_at: Time,
  finished_at: v.nullable(Time),
  reason: v.nullable(v.string()),
  output: v.nullable(v.string()),
})
export const HostDetail = v.object({
  ...Host.entries,
  handles: v.pipe(v.record(v.string(), v.number()), v.description('How many of them are in which state.')),
  arqs: v.pipe(v.array(Uuid), v.description('Those that hold a handle.')),
  playbooks: v.pipe(
    v.array(PlaybookShown),
    v.description('The last one of each driver. Why it failed, and the end of what it printed, for administrators.'),
  ),
  probe: v.pipe(
    v.nullable(
      v.object({
        asked_at: Time,
        by: v.string(),
        answer: v.pipe(
          v.nullable(
            v.object({
              at: Time,
              took_ms: v.pipe(v.number(), v.description('From the question until the answer was recorded.')),
              report_number: v.number(),
              devices: v.pipe(v.number(), v.description('How many it reported.')),
              failed_drivers: v.array(v.string()),
            }),
          ),
          v.description('Null: it has not answered.'),
        ),
      }),
    ),
    v.description('The last question for a report at once; null: it was never asked.'),
  ),
})
