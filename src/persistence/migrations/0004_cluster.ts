/** Which cloud this database is: an id made once, with the journal. Only adds: an older program goes on without it. */
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
