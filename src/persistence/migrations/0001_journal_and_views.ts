/** The journal with its checkpoints, and the first shape of the views. */
import { Migration } from '@mikro-orm/migrations'

export class Migration0001 extends Migration {
  override up(): void {
    this.addSql(`create table "journal" (
      "key" text collate "C" not null,
      "version" int not null,
      "pos" int not null,
      "xid" xid8 not null default pg_current_xact_id(),
      "command" uuid not null,
      "data" json not null,
      "at" bigint not null,
      "cause" json not null,
      primary key ("key", "version")
    )`)
    this.addSql(`create index "journal_xid_pos_index" on "journal" ("xid", "pos")`)
    this.addSql(`alter table "journal" add constraint "journal_key_command_unique" unique ("key", "command")`)
    this.addSql(`create table "arqs" (
      "uuid" uuid not null,
      "state" text collate "C" not null,
      "project_id" text collate "C" null,
      "profile_uuid" uuid not null,
      "profile_name" text collate "C" not null,
      "group_id" int not null,
      "group" json not null,
      "hostname" text collate "C" null,
      "device_rp_uuid" uuid null,
      "instance_uuid" uuid null,
      "deployable_uuid" uuid null,
      "handle_uuid" uuid null,
      "handle_type" text collate "C" null,
      "handle_info" json null,
      "reason" text collate "C" null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "arqs_created_at_uuid_index" on "arqs" ("created_at", "uuid")`)
    this.addSql(`create index "arqs_instance_uuid_created_at_uuid_index" on "arqs" ("instance_uuid", "created_at", "uuid")`)
    this.addSql(`create index "arqs_project_id_created_at_uuid_index" on "arqs" ("project_id", "created_at", "uuid")`)
    this.addSql(`create index "arqs_profile_uuid_index" on "arqs" ("profile_uuid")`)
    this.addSql(`create index "arqs_state_created_at_uuid_index" on "arqs" ("state", "created_at", "uuid")`)
    this.addSql(`create table "attributes" (
      "uuid" uuid not null,
      "deployable_uuid" uuid not null,
      "deployable_id" int not null,
      "key" text collate "C" not null,
      "value" text collate "C" not null,
      "origin" text collate "C" not null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "attributes_deployable_id_created_at_uuid_index" on "attributes" ("deployable_id", "created_at", "uuid")`)
    this.addSql(`create index "attributes_key_created_at_uuid_index" on "attributes" ("key", "created_at", "uuid")`)
    this.addSql(`create index "attributes_created_at_uuid_index" on "attributes" ("created_at", "uuid")`)
    this.addSql(`create table "checkpoints" (
      "reader" text collate "C" not null,
      "position" text collate "C" not null,
      primary key ("reader")
    )`)
    this.addSql(`create table "deployables" (
      "uuid" uuid not null,
      "id" int not null,
      "device_id" int not null,
      "device_uuid" uuid not null,
      "parent_id" int null,
      "parent_uuid" uuid null,
      "root_id" int null,
      "root_uuid" uuid null,
      "name" text collate "C" not null,
      "num_accelerators" int not null,
      "attributes" json not null,
      "hostname" text collate "C" not null,
      "rp_uuid" uuid null,
      "driver_name" text collate "C" null,
      "bitstream_id" text collate "C" null,
      "presence" text collate "C" not null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "deployables_device_id_id_index" on "deployables" ("device_id", "id")`)
    this.addSql(`create index "deployables_device_uuid_id_index" on "deployables" ("device_uuid", "id")`)
    this.addSql(`create index "deployables_name_id_index" on "deployables" ("name", "id")`)
    this.addSql(`create index "deployables_hostname_id_index" on "deployables" ("hostname", "id")`)
    this.addSql(`create index "deployables_created_at_uuid_index" on "deployables" ("created_at", "uuid")`)
    this.addSql(`alter table "deployables" add constraint "deployables_id_unique" unique ("id") deferrable initially immediate`)
    this.addSql(`alter table "deployables" add constraint "deployables_rp_uuid_unique" unique ("rp_uuid") deferrable initially immediate`)
    this.addSql(`create table "devices" (
      "uuid" uuid not null,
      "id" int not null,
      "type" text collate "C" not null,
      "vendor" text collate "C" not null,
      "model" text collate "C" not null,
      "std_board_info" text collate "C" null,
      "vendor_board_info" text collate "C" null,
      "hostname" text collate "C" not null,
      "status" text collate "C" not null,
      "presence" text collate "C" not null,
      "driver" text collate "C" not null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "devices_hostname_id_index" on "devices" ("hostname", "id")`)
    this.addSql(`create index "devices_type_id_index" on "devices" ("type", "id")`)
    this.addSql(`create index "devices_vendor_id_index" on "devices" ("vendor", "id")`)
    this.addSql(`create index "devices_status_id_index" on "devices" ("status", "id")`)
    this.addSql(`create index "devices_created_at_uuid_index" on "devices" ("created_at", "uuid")`)
    this.addSql(`alter table "devices" add constraint "devices_id_unique" unique ("id") deferrable initially immediate`)
    this.addSql(`create table "due" (
      "entity" text collate "C" not null,
      "kind" text collate "C" not null,
      "at" bigint not null,
      primary key ("entity")
    )`)
    this.addSql(`create index "due_at_entity_index" on "due" ("at", "entity")`)
    this.addSql(`create table "handles" (
      "uuid" uuid not null,
      "deployable_uuid" uuid not null,
      "hostname" text collate "C" not null,
      "canonical" text collate "C" not null,
      "state" text collate "C" not null,
      "arq_uuid" uuid null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "handles_deployable_uuid_index" on "handles" ("deployable_uuid")`)
    this.addSql(`alter table "handles" add constraint "handles_arq_uuid_unique" unique ("arq_uuid") deferrable initially immediate`)
    this.addSql(`create table "hosts" (
      "name" text collate "C" not null,
      "liveness" text collate "C" not null,
      "boot_id" uuid null,
      "drivers" json not null,
      "aliases" json not null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("name")
    )`)
    this.addSql(`create index "hosts_created_at_name_index" on "hosts" ("created_at", "name")`)
    this.addSql(`create table "pending_orders" (
      "slot" uuid not null,
      "hostname" text collate "C" not null,
      "deployable_uuid" uuid not null,
      "number" int not null,
      "body" json not null,
      "sent_at" bigint not null,
      primary key ("slot")
    )`)
    this.addSql(`create index "pending_orders_sent_at_slot_index" on "pending_orders" ("sent_at", "slot")`)
    this.addSql(`create index "pending_orders_hostname_index" on "pending_orders" ("hostname")`)
    this.addSql(`create table "profiles" (
      "uuid" uuid not null,
      "name" text collate "C" not null,
      "description" text collate "C" null,
      "groups" json not null,
      "created_at" bigint not null,
      "updated_at" bigint null,
      primary key ("uuid")
    )`)
    this.addSql(`create index "profiles_created_at_uuid_index" on "profiles" ("created_at", "uuid")`)
    this.addSql(`alter table "profiles" add constraint "profiles_name_unique" unique ("name") deferrable initially immediate`)
    this.addSql(`create table "snapshots" (
      "entity" text collate "C" not null,
      "version" int not null,
      "memory" json not null,
      primary key ("entity")
    )`)
  }
}
