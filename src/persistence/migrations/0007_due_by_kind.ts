/**
 * Due work is claimed by kind, so that a backlog of one kind does not hide the work of another. Only adds to the
 * schema, so programs of older releases keep working.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0007 extends Migration {
  override up(): void {
    this.addSql(`create index "due_kind_at_entity_index" on "due" ("kind", "at", "entity")`)
  }
}
