/** What hosts measure of their devices, and which devices are failing. Only adds: an older program goes on, and leaves both alone. */
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
