/**
 * The id of the cloud that this database belongs to, made once by this migration, and the private key of the cloud.
 * Only adds to the schema, so programs of older releases keep working.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0004 extends Migration {
  override up(): void {
    this.addSql(`create table "cluster" (
      "name" text collate "C" not null,
      "id" uuid not null,
      "private_key" text collate "C" null,
      primary key ("name")
    )`)
    this.addSql(`insert into "cluster" ("name", "id") values ('this', gen_random_uuid())`)
  }
}
