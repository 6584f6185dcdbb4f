/** What a host tells of the playbooks that set its drivers up and tear them down. */
import * as v from 'valibot'
import type { DeepReadonly } from '../vocabulary/deepReadonly.ts'
import { moment, name, prose } from '../vocabulary/fields.ts'

/** The last run of one driver. */
export const PlaybookRun = v.object({
  driver: name(100),
  playbook: v.picklist(['setup', 'teardown']),
  status: v.picklist(['running', 'done', 'failed']),
  startedAt: moment,
  finishedAt: v.nullable(moment),
  /** Why it failed. */
  reason: v.nullable(prose(1000)),
  /** The end of what it printed; empty when there was no room. */
  output: prose(5000),
})
export type PlaybookRun = DeepReadonly<v.InferOutput<typeof PlaybookRun>>
