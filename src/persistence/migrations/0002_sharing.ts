/** What several processes share: leases, claims on due work, hosts heard of; where ended journals go. Only adds: an older program goes on. */
import { Migration } from '@mikro-orm/migrations'

export class Migration0002 extends Migration {
  override up(): void {
    this.addSql(`create table "leases" (
      "name" text collate "C" not null,
      "holder" text collate "C" not null,
      "epoch" bigint not null,
      "until" timestamptz not null,
      primary key ("name")
    )`)
    this.addSql(`create table "claims" (
      "entity" text collate "C" not null,
      "until" timestamptz not null,
      primary key ("entity")
    )`)
    this.addSql(`create index "claims_until_index" on "claims" ("until")`)
    this.addSql(`create table "host_seen" (
      "name" text collate "C" not null,
      "seen_at" timestamptz not null,
      primary key ("name")
    )`)
    this.addSql(`create table "journal_archive" (
      "key" text collate "C" not null,
      "version" int not null,
      "pos" int not null,
      "xid" xid8 not null,
      "command" uuid not null,
      "data" json not null,
      "at" bigint not null,
      "cause" json not null,
      primary key ("key", "version")
    )`)
    this.addSql(`create index "journal_archive_xid_pos_index" on "journal_archive" ("xid", "pos")`)
    this.addSql(`alter table "snapshots" add column "schema" int not null default 1`)
  }
}
