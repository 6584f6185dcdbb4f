/** The tables as MikroORM sees them: views derived from their one description, journal and checkpoints said here. */
import { defineEntity, p } from '@mikro-orm/core'
import type { EntitySchema, EntitySchemaWithMeta, InferEntityFromProperties } from '@mikro-orm/core'
import type { InferKyselyTable } from '@mikro-orm/postgresql'
import type { Kind, ViewName, VIEWS } from '../actors/runtime/views.ts'
import { baseOf, nullable, uniqueRule, viewNames, viewOf } from './rules.ts'
import type { Base } from './rules.ts'

/** Bytewise order, so that a page does not depend on the language a database was made with. */
const text = () => p.text().columnType('text').collation('C')
// json, not jsonb: what was written comes back letter by letter, members in their order.
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
/** A program that does not know a column yet leaves it out. */
const DEFAULTS: Readonly<Record<string, number>> = { 'snapshots.schema': 1 }
const column = (view: ViewName, name: string, kind: Kind) => {
  const made = makers[baseOf(kind)]().name(name)
  const value = DEFAULTS[`${view}.${name}`]
  if (value !== undefined) return (made as ReturnType<typeof p.integer>).default(value)
  return nullable(kind) ? made.nullable() : made
}

type Columns<N extends ViewName> = (typeof VIEWS)[N]['columns']
type Made<B extends Base> = ReturnType<(typeof makers)[B]>
/** What MikroORM knows of a column, told by its kind alone: types follow VIEWS as the tables do. */
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
    // Judged at the end of a statement: two rows of one statement may swap a value.
    uniques: unique.map((each) => ({ properties: [...each], name: uniqueRule(name, each), deferMode: 'immediate' })),
  })
}
/** By name, as VIEWS has them. */
const viewEntities = Object.fromEntries(viewNames.map((name) => [name, viewEntity(name)])) as unknown as {
  readonly [N in ViewName]: ViewEntity<N>
}

const journalColumns = () => ({
  key: text().primary(),
  version: p.integer().primary(),
  /** With `xid` the commit order: all rows of a transaction have one xid, and `pos` counts them. */
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
  properties: { name: text().primary(), holder: text(), epoch: whole(), until: moment() },
})
const claims = defineEntity({
  name: 'claims',
  tableName: 'claims',
  properties: { entity: text().primary(), until: moment() },
  indexes: [{ properties: ['until'], name: 'claims_until_index' }],
})
const hostSeen = defineEntity({
  name: 'host_seen',
  tableName: 'host_seen',
  properties: { name: text().primary(), seen_at: moment() },
})

/** Every table of ours by its name. */
export const TABLES = {
  journal,
  journal_archive: archive,
  checkpoints,
  leases,
  claims,
  host_seen: hostSeen,
  ...viewEntities,
}
/** The columns of every table, as a typed query of MikroORM knows them. */
export type Tables = { [T in keyof typeof TABLES]: InferKyselyTable<(typeof TABLES)[T]> }

export const entities = Object.values(TABLES) as unknown as readonly EntitySchema[]
