/** The schema of the API document about the system. */
import * as v from 'valibot'

const Text = v.string()
const MaybeText = v.nullable(Text)
const Count = v.number()

export const System = v.object({
  process: v.object({ program: Text, machine: Text, pid: Count, started_at: Text }),
  versions: v.object({
    accelerando: Text,
    node: Text,
    schema: MaybeText,
    newer: v.array(Text),
    api: v.object({ min: Text, max: Text }),
  }),
  store: v.object({
    kind: v.picklist(['memory', 'pglite', 'postgres']),
    power_loss: v.picklist(['last_commits', 'as_the_server_is_set', 'everything']),
  }),
  neighbours: v.array(v.object({ name: Text, state: v.picklist(['in_use', 'absent', 'failing']), detail: MaybeText })),
  configuration: v.array(
    v.object({ key: Text, value: v.unknown(), source: Text, from: MaybeText, secret: v.boolean() }),
  ),
  consumers: v.object({
    bus: v.picklist(['kafka', 'in_process']),
    lags: v.nullable(v.array(v.object({ topic: Text, group: Text, partition: Count, messages: Count }))),
    lags_left_out: Count,
    problem: MaybeText,
  }),
  journal_writes: v.nullable(
    v.object({ count: Count, since: Text, p50_ms: Count, p90_ms: Count, p99_ms: Count, max_ms: Count }),
  ),
  last_audit: v.nullable(
    v.object({
      at: Text,
      version: Text,
      invariants: Count,
      violations: Count,
      violated: v.array(Text),
      rows: Count,
      seconds: Count,
      sources: v.array(Text),
    }),
  ),
  last_audit_problem: MaybeText,
})
export type System = v.InferOutput<typeof System>
