/**
 * Which server holds the journal, whether the journal may be written, which acknowledged rows the database has lost,
 * and how long a lease or claim lasts without renewal. The trigger refuses inserts by programs of every release while
 * writing is stopped. It runs with the rights of its owner (`security definer`), so the roles of running programs need
 * no further grants. Only adds to the schema, so programs of older releases keep working.
 */
import { Migration } from '@mikro-orm/migrations'

export class Migration0003 extends Migration {
  override up(): void {
    this.addSql(`create table "incarnation" (
      "id" int not null,
      "system" text collate "C" null,
      "timeline" int null,
      "writable_at" timestamptz null,
      "stopped_at" timestamptz null,
      "reason" text collate "C" null,
      primary key ("id")
    )`)
    this.addSql(`insert into "incarnation" ("id") values (1)`)
    this.addSql(`create table "lost_rows" (
      "key" text collate "C" not null,
      "version" int not null,
      "command" uuid not null,
      "data" json not null,
      "at" bigint not null,
      "found_at" timestamptz not null,
      "adopted_at" timestamptz null,
      primary key ("key", "version", "command")
    )`)
    this.addSql(`alter table "leases" add column "for_ms" bigint null`)
    this.addSql(`alter table "claims" add column "for_ms" bigint null`)
    this.addSql(`create function "accelerando_writable"() returns trigger
      language plpgsql security definer set search_path = public, pg_temp as $$
      declare one record;
      begin
        select stopped_at, reason, writable_at into one from incarnation where id = 1;
        if one.stopped_at is not null and current_setting('accelerando.adopting', true) is distinct from 'on' then
          raise exception 'writing is stopped: %', one.reason using errcode = 'P0S01';
        end if;
        if one.writable_at > clock_timestamp() and current_setting('accelerando.adopting', true) is distinct from 'on' then
          raise exception 'the database server has changed, and every control is given the time to look for what it wrote'
            using errcode = 'P0S02';
        end if;
        return null;
      end $$`)
    this.addSql(`create trigger "journal_writable" before insert on "journal"
      for each statement execute function accelerando_writable()`)
  }
}
