/** Versions of device profiles. Only adds: an older program goes on, and what it writes counts as version 1, enabled, for all projects. */
import { Migration } from '@mikro-orm/migrations'

export class Migration0014 extends Migration {
  override up(): void {
    this.addSql(`alter table "profiles" add column "version" int not null default 1`)
    this.addSql(`alter table "profiles" add column "enabled" boolean not null default true`)
    this.addSql(`alter table "profiles" add column "projects" json null`)
    this.addSql(`alter table "arqs" add column "profile_version" int null`)
  }
}
