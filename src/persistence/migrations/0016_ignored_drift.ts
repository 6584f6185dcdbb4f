/**
 * Differences between hardware, records and Placement that operators have decided to ignore. Only adds to the schema, so
 * programs of older releases keep working; they go on counting what is ignored.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0016 extends Migration {
  override up(): void {
    this.addSql(`create table "ignored_drift" (
      "uuid" uuid not null,
      "hostname" text collate "C" not null,
      "kind" text collate "C" not null,
      "provider_uuid" uuid not null,
      "name" text collate "C" not null,
      "consumer_uuid" uuid null,
      "state" text collate "C" null,
      "difference_reason" text collate "C" null,
      "ignored_by" text collate "C" not null,
      "reason" text collate "C" not null,
      "until_at" bigint not null,
      "ended" json null,
      "created_at" bigint not null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "ignored_drift_until_at_uuid_index" on "ignored_drift" ("until_at", "uuid")`)
    this.addSql(
      `create index "ignored_drift_hostname_until_at_uuid_index" on "ignored_drift" ("hostname", "until_at", "uuid")`,
    )
  }
}
