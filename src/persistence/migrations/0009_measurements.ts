/**
 * What hosts measure of their devices, and which devices are failing. Only adds to the schema, so programs of older
 * releases keep working; they write neither.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0009 extends Migration {
  override up(): void {
    this.addSql(`create table "host_measured" (
      "name" text collate "C" not null,
      "driver" text collate "C" not null,
      "reading" json not null,
      primary key ("name", "driver")
    )`)
    this.addSql(`alter table "devices" add column "failing" text collate "C" null`)
  }
}
