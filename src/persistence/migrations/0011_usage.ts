/**
 * Bindings that have ended, for reports of usage. Only adds to the schema, so programs of older releases keep
 * working; they record no row for bindings that they end.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0011 extends Migration {
  override up(): void {
    this.addSql(`create table "usage" (
      "id" text collate "C" not null,
      "arq_uuid" uuid not null,
      "project_id" text collate "C" null,
      "resource_class" text collate "C" not null,
      "parts" int not null,
      "from_at" bigint not null,
      "until_at" bigint not null,
      primary key ("id")
    )`)
    this.addSql(`create index "usage_until_at_id_index" on "usage" ("until_at", "id")`)
    this.addSql(
      `create index "usage_project_id_until_at_id_index" on "usage" ("project_id", "until_at", "id")`,
    )
  }
}
