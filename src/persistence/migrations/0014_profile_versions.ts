/**
 * Versions of device profiles. Only adds to the schema, so programs of older releases keep working; profiles that
 * they write count as version 1, enabled, shared with all projects.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0014 extends Migration {
  override up(): void {
    this.addSql(`alter table "profiles" add column "version" int not null default 1`)
    this.addSql(`alter table "profiles" add column "enabled" boolean not null default true`)
    this.addSql(`alter table "profiles" add column "projects" json null`)
    this.addSql(`alter table "arqs" add column "profile_version" int null`)
  }
}
