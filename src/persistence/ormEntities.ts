/** The tables as MikroORM entities: those of the views are derived from VIEWS, all other tables are declared here. */
import { defineEntity, p } from '@mikro-orm/core'
import type { EntitySchema, EntitySchemaWithMeta, InferEntityFromProperties } from '@mikro-orm/core'
import type { InferKyselyTable } from '@mikro-orm/postgresql'
import type { Kind, ViewName, VIEWS } from '../actors/runtime/views.ts'
import { baseOf, nullable, uniqueRule, viewNames, viewOf } from './rules.ts'
import type { Base } from './rules.ts'

/** Bytewise order, so that paging does not depend on the default collation of the database. */
const text = () => p.text().columnType('text').collation('C')
// json, not jsonb: json keeps the text as it was written, including the order of members.
const json = () => p.json<unknown>().columnType('json')
const whole = () => p.bigint('number').columnType('bigint')

const makers = {
  uuid: () => p.uuid(),
  text,
  json,
  int: () => p.integer(),
  bigint: whole,
  bool: () => p.boolean(),
}
/** Defaults of newer columns, which an older program does not know and leaves out of its inserts. */
const DEFAULTS: Readonly<Record<string, number | boolean>> = {
  'snapshots.schema': 1,
  'profiles.version': 1,
  'profiles.enabled': true,
}
const column = (view: ViewName, name: string, kind: Kind) => {
  const made = makers[baseOf(kind)]().name(name)
  const value = DEFAULTS[`${view}.${name}`]
  if (value !== undefined) return (made as ReturnType<typeof p.integer>).default(value)
  return nullable(kind) ? made.nullable() : made
}

type Columns<N extends ViewName> = (typeof VIEWS)[N]['columns']
type Made<B extends Base> = ReturnType<(typeof makers)[B]>
/** The MikroORM type of a column, by the kind that VIEWS gives it; the tables are derived in the same way. */
type Column<K> = K extends `${infer B extends Base}?`
  ? ReturnType<Made<B>['nullable']>
  : K extends Base
    ? Made<K>
    : never
type Properties<N extends ViewName> = {
  readonly [C in keyof Columns<N>]: C extends (typeof VIEWS)[N]['key']
    ? ReturnType<Made<Columns<N>[C] & Base>['primary']>
    : Column<Columns<N>[C]>
}
type ViewEntity<N extends ViewName> = EntitySchemaWithMeta<
  N,
  N,
  InferEntityFromProperties<Properties<N>>,
  never,
  Properties<N>
>

const viewEntity = (name: ViewName): EntitySchema => {
  const { columns, key, indexes, unique } = viewOf(name)
  const properties = Object.entries(columns).map(([each, kind]) => {
    const made = column(name, each, kind)
    return [each, each === key ? made.primary() : made]
  })
  return defineEntity({
    name,
    tableName: name,
    properties: Object.fromEntries(properties) as Record<string, ReturnType<typeof text>>,
    indexes: indexes.map((each) => ({ properties: [...each], name: `${name}_${each.join('_')}_index` })),
    // Checked at the end of the statement, so that two rows of one statement may swap a value.
    uniques: unique.map((each) => ({ properties: [...each], name: uniqueRule(name, each), deferMode: 'immediate' })),
  })
}
/** The entities by the names of their views, as in VIEWS. */
const viewEntities = Object.fromEntries(viewNames.map((name) => [name, viewEntity(name)])) as unknown as {
  readonly [N in ViewName]: ViewEntity<N>
}

const journalColumns = () => ({
  key: text().primary(),
  version: p.integer().primary(),
  /** Commit order is `(xid, pos)`: all rows of a transaction have one xid, and `pos` counts them. */
  pos: p.integer(),
  xid: p.string().columnType('xid8'),
  command: p.uuid(),
  data: json(),
  at: whole(),
  cause: json(),
})
const journal = defineEntity({
  name: 'journal',
  tableName: 'journal',
  properties: { ...journalColumns(), xid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()') },
  indexes: [{ properties: ['xid', 'pos'], name: 'journal_xid_pos_index' }],
  uniques: [{ properties: ['key', 'command'], name: 'journal_key_command_unique' }],
})
const archive = defineEntity({
  name: 'journal_archive',
  tableName: 'journal_archive',
  properties: journalColumns(),
  indexes: [{ properties: ['xid', 'pos'], name: 'journal_archive_xid_pos_index' }],
})

const checkpoints = defineEntity({
  name: 'checkpoints',
  tableName: 'checkpoints',
  properties: { reader: text().primary(), position: text() },
})

const moment = () => p.datetime().columnType('timestamptz')

const leases = defineEntity({
  name: 'leases',
  tableName: 'leases',
  properties: { name: text().primary(), holder: text(), epoch: whole(), until: moment(), for_ms: whole().nullable() },
})
const claims = defineEntity({
  name: 'claims',
  tableName: 'claims',
  properties: { entity: text().primary(), until: moment(), for_ms: whole().nullable() },
  indexes: [{ properties: ['until'], name: 'claims_until_index' }],
})
const hostSeen = defineEntity({
  name: 'host_seen',
  tableName: 'host_seen',
  properties: { name: text().primary(), seen_at: moment() },
})
const hostMeasured = defineEntity({
  name: 'host_measured',
  tableName: 'host_measured',
  properties: { name: text().primary(), driver: text().primary(), reading: json() },
})

const incarnation = defineEntity({
  name: 'incarnation',
  tableName: 'incarnation',
  properties: {
    id: p.integer().primary().autoincrement(false),
    system: text().nullable(),
    timeline: p.integer().nullable(),
    writable_at: moment().nullable(),
    stopped_at: moment().nullable(),
    reason: text().nullable(),
  },
})
const lostRows = defineEntity({
  name: 'lost_rows',
  tableName: 'lost_rows',
  properties: {
    key: text().primary(),
    version: p.integer().primary(),
    command: p.uuid().primary(),
    data: json(),
    at: whole(),
    found_at: moment(),
    adopted_at: moment().nullable(),
  },
})
const cluster = defineEntity({
  name: 'cluster',
  tableName: 'cluster',
  properties: { name: text().primary(), id: p.uuid(), private_key: text().nullable() },
})

/** Every table of ours by its name. */
export const TABLES = {
  journal,
  journal_archive: archive,
  checkpoints,
  leases,
  claims,
  host_seen: hostSeen,
  host_measured: hostMeasured,
  incarnation,
  lost_rows: lostRows,
  cluster,
  ...viewEntities,
}
/** The columns of every table, as a typed query of MikroORM knows them. */
export type Tables = { [T in keyof typeof TABLES]: InferKyselyTable<(typeof TABLES)[T]> }

export const entities = Object.values(TABLES) as unknown as readonly EntitySchema[]
