/** The schema grows first and shrinks a release later (decision 0020): what came since the last release only adds. */
import type { Migration } from '@mikro-orm/migrations'
import { describe, expect, test } from 'vitest'
import { MIGRATIONS, migrationNames } from '../../src/persistence/migrate.ts'
import { breaking } from './expand.ts'
import { inOrder, migrationDigests } from './releases.ts'

type MigrationClass = new (...args: never[]) => Migration
const statementsOf = async (name: string): Promise<readonly string[]> => {
  const module = (await import(new URL(`${name}.ts`, MIGRATIONS).href)) as Record<string, MigrationClass>
  const migration = new (Object.values(module)[0]!)()
  await migration.up()
  return migration.getQueries().map(String)
}
const [, last] = inOrder().at(-1)!
const since = (known: object) => migrationNames().filter((name) => !(name in known))

test.each(inOrder())('what %s has shipped is carried out as it was', (_, { migrations }) => {
  expect(migrationDigests()).toMatchObject(migrations)
})

test.each(inOrder())('what came since %s comes after it', (_, { migrations }) => {
  const newest = Object.keys(migrations).toSorted().at(-1)!
  expect(since(migrations).filter((name) => name < newest)).toEqual([])
})

test('what came since the last release only adds', async () => {
  expect(breaking((await Promise.all(since(last.migrations).map(statementsOf))).flat())).toEqual([])
})

test('what came since the first release is looked at whole', async () => {
  const all = await Promise.all(since(inOrder()[0]![1].migrations).map(statementsOf))
  expect(all.flat().length).toBeGreaterThanOrEqual(7)
})

describe('planted', () => {
  const NEW = 'create table "shelf" ("name" text not null)'
  test.each([
    'drop table "arqs"',
    'alter table "arqs" drop column "state"',
    'alter table "arqs" rename column "state" to "condition"',
    'alter table "arqs" rename to "requests"',
    'alter table "arqs" alter column "reason" set not null',
    'alter table "arqs" alter column "group_id" type bigint',
    'alter table "arqs" add column "shelf" text not null',
    'alter table "arqs" add column "shelf" text null, add column "row" int not null',
    'alter table "arqs" add column "shelf" text unique',
    'alter table "arqs" add constraint "named" check (reason is not null)',
    'alter table arqs add shelf text references shelves (name)',
    'create unique index "one" on "arqs" ("state")',
    'update "arqs" set "state" = lower("state")',
    'update "arqs" set "state" = lower("state") where true',
    'delete from "journal"',
    'insert into "arqs" ("state") values (1)',
    'drop index "arqs_state_index"',
    'create trigger t before insert on arqs execute function f()',
    'truncate "claims"',
    'insert into "claims" ("entity") values (1)',
  ])('%s', (statement) => {
    expect(breaking([NEW, statement])).toHaveLength(1)
  })
  test.each([
    'update "arqs" set "row" = 1 where "state" = 1',
    'update "arqs" set "row" = 1, "state" = 2 where true',
    'update "devices" set "shelf" = 1 where true',
  ])('%s, beside a column that is new', (statement) => {
    expect(breaking(['alter table "arqs" add column "shelf" text null', statement])).toHaveLength(1)
  })
  test('and harmless: an update of a column that is new', () => {
    const statements = ['alter table "arqs" add column "shelf" text null, add column "row" int null']
    const fill = 'update "arqs" set "shelf" = lower("state"), "row" = 1 where "state" in (select 1, 2 where true)'
    expect(breaking([...statements, fill])).toEqual([])
  })
  test.each([
    'alter table "arqs" add column "shelf" text',
    'alter table "arqs" add column "shelf" numeric(8, 2) not null default 0, add column "row" int null',
    'alter table "shelf" add column "row" int not null',
    'create unique index "one" on "shelf" ("name")',
    'insert into "shelf" ("name") values (1)',
    'create index "many" on "arqs" ("state")',
    'insert into "shelf" ("name") values (1)',
    'create function f() returns int language sql as $$ select 1 $$',
    'create table if not exists "other" ("name" text not null unique)',
  ])('and harmless: %s', (statement) => {
    expect(breaking([NEW, statement])).toEqual([])
  })
})
