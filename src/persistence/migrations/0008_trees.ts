/**
 * Trees of deployables, and attributes that describe attributes. Only adds to the schema, so programs of older
 * releases keep working; they leave the new columns empty.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0008 extends Migration {
  override up(): void {
    this.addSql(`alter table "deployables" add column "kind" text null`)
    this.addSql(`create index "deployables_root_uuid_id_index" on "deployables" ("root_uuid", "id")`)
    this.addSql(`alter table "attributes" add column "parent_uuid" uuid null`)
  }
}
