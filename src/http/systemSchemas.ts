/** The schemas of the facts about the system. */
import * as v from 'valibot'
import * as schemas from './schemas.ts'
import { NEIGHBOUR_STATES, OPTION_SOURCES, POWER_LOSSES } from './system.ts'

const about = <S extends v.GenericSchema>(schema: S, text: string) => v.pipe(schema, v.description(text))
const MaybeText = v.nullable(v.string())
const Texts = v.array(v.string())

export const System = v.object({
  told_at: about(schemas.Time, 'All of it is what this process knew then.'),
  process: about(
    v.object({
      program: v.picklist(['start', 'control']),
      machine: v.string(),
      pid: v.number(),
      started_at: schemas.Time,
    }),
    'The process that answers. Others of the same cloud have times, lags and neighbours of their own.',
  ),
  versions: v.object({
    accelerando: v.string(),
    node: v.string(),
    schema: about(MaybeText, 'The last migration that this program knows; null: the store has no schema.'),
    newer: about(Texts, 'Migrations in the database that only a newer program knows.'),
    api: v.object({ min: v.string(), max: v.string() }),
  }),
  store: v.object({
    kind: v.picklist(['memory', 'pglite', 'postgres']),
    power_loss: about(
      v.picklist(POWER_LOSSES),
      'What is lost when the machine of the store loses its power: the `last_commits`; what the settings of the server allow; `everything`.',
    ),
  }),
  neighbours: v.array(
    v.object({
      name: v.string(),
      state: v.picklist(NEIGHBOUR_STATES),
      detail: about(MaybeText, 'Why it fails, or what is used.'),
    }),
  ),
  configuration: v.array(
    v.object({
      key: v.string(),
      value: about(v.unknown(), 'As it would be written in a file; null: none. A secret is `(hidden)`.'),
      source: v.picklist(OPTION_SOURCES),
      from: about(MaybeText, 'The file, the variable or the argument; null: the default.'),
      secret: v.boolean(),
    }),
  ),
  consumers: v.object({
    bus: v.picklist(['kafka', 'in_process']),
    lags: about(
      v.nullable(
        v.array(v.object({ topic: v.string(), group: v.string(), partition: v.number(), messages: v.number() })),
      ),
      'Messages that the group has not finished; the largest first. Null: the bus cannot be asked.',
    ),
    lags_left_out: v.number(),
    problem: MaybeText,
  }),
  journal_writes: about(
    v.nullable(
      v.object({
        count: v.number(),
        since: schemas.Time,
        p50_ms: v.number(),
        p90_ms: v.number(),
        p99_ms: v.number(),
        max_ms: v.number(),
      }),
    ),
    'How long the last writes of this process to the journal took. Null: it has written nothing lately.',
  ),
  last_audit: about(
    v.nullable(
      v.object({
        at: schemas.Time,
        version: v.string(),
        invariants: v.number(),
        violations: v.number(),
        violated: about(Texts, 'The names of the violated invariants.'),
        rows: v.number(),
        seconds: v.number(),
        sources: Texts,
      }),
    ),
    'The last `accelerando audit` of this store that was recorded in it; null: there is none, or the problem says why it is unknown.',
  ),
  last_audit_problem: about(v.nullable(v.string()), 'Why the last audit cannot be read. Null: it can.'),
})
