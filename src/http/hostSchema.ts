/** The schema of one host in the API, with all its details. */
import * as v from 'valibot'
import { HEALTHS, QUANTITIES } from '../vocabulary/health.ts'
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
const Measured = v.object({
  device_uuid: Uuid,
  measured_at: Time,
  state: v.picklist(HEALTHS),
  reasons: v.pipe(v.array(v.string()), v.description('Why it is not `ok`, the worst first.')),
  numbers: v.pipe(
    v.record(v.string(), v.number()),
    v.description(`By quantity: ${Object.keys(QUANTITIES).join(', ')}.`),
  ),
})
export const HostDetail = v.object({
  ...Host.entries,
  devices: v.pipe(
    v.record(v.string(), v.number()),
    v.description(
      'How many of them are in which state, the worst of what is known of each; a state of none is left out.',
    ),
  ),
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
  last_report: v.pipe(
    v.nullable(v.object({ number: v.number(), at: Time })),
    v.description(
      'The last report of which something was recorded, a change of its inventory or the answer to a question for a report, with its number since the host program started. Another report that repeats what is recorded is not counted. Null: none is known.',
    ),
  ),
  orders: v.pipe(
    v.object({ waiting: v.number(), waiting_since: v.nullable(Time) }),
    v.description('Orders that it has not answered yet; since when the oldest waits, however often it was sent since.'),
  ),
  measured: v.pipe(
    v.array(Measured),
    v.description('What was measured last, of the devices of which something was; not known of the past.'),
  ),
})
