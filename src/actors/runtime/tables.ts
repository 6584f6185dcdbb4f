/** The columns, keys and indexes of the views (`views.ts`). */

/** Column kinds; a trailing `?` means null is allowed. */
export type Kinds = {
  uuid: string
  text: string
  int: number
  bigint: number
  json: unknown
  bool: boolean
}
export type Kind = keyof Kinds | `${keyof Kinds}?`

export type View = {
  readonly columns: Readonly<Record<string, Kind>>
  readonly key: string
  /** The column a list is sorted by when nobody names one. It may not be null. */
  readonly order: string
  /**
   * The index of each list of the API, which makes the list one indexed query: it has the filter columns, then the
   * order.
   */
  readonly indexes: readonly (readonly string[])[]
  readonly unique: readonly (readonly string[])[]
}

export const TABLES = {
  profiles: {
    columns: {
      uuid: 'uuid',
      name: 'text',
      description: 'text?',
      groups: 'json',
      version: 'int',
      enabled: 'bool',
      projects: 'json?',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'uuid',
    order: 'created_at',
    indexes: [['created_at', 'uuid']],
    unique: [['name']],
  },
  arqs: {
    columns: {
      uuid: 'uuid',
      state: 'text',
      project_id: 'text?',
      profile_uuid: 'uuid',
      profile_name: 'text',
      profile_version: 'int?',
      group_id: 'int',
      group: 'json',
      hostname: 'text?',
      device_rp_uuid: 'uuid?',
      instance_uuid: 'uuid?',
      deployable_uuid: 'uuid?',
      handle_uuid: 'uuid?',
      handle_type: 'text?',
      handle_info: 'json?',
      reason: 'text?',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'uuid',
    order: 'created_at',
    indexes: [
      ['created_at', 'uuid'],
      ['instance_uuid', 'created_at', 'uuid'],
      ['project_id', 'created_at', 'uuid'],
      ['profile_uuid'],
      ['state', 'created_at', 'uuid'],
    ],
    unique: [],
  },
  devices: {
    columns: {
      uuid: 'uuid',
      id: 'int',
      type: 'text',
      vendor: 'text',
      model: 'text',
      std_board_info: 'text?',
      vendor_board_info: 'text?',
      hostname: 'text',
      status: 'text',
      presence: 'text',
      driver: 'text',
      failing: 'text?',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'uuid',
    order: 'id',
    indexes: [
      ['hostname', 'id'],
      ['type', 'id'],
      ['vendor', 'id'],
      ['status', 'id'],
      ['created_at', 'uuid'],
    ],
    unique: [['id']],
  },
  deployables: {
    columns: {
      uuid: 'uuid',
      id: 'int',
      device_id: 'int',
      device_uuid: 'uuid',
      parent_id: 'int?',
      parent_uuid: 'uuid?',
      root_id: 'int?',
      root_uuid: 'uuid?',
      name: 'text',
      num_accelerators: 'int',
      attributes: 'json',
      hostname: 'text',
      rp_uuid: 'uuid?',
      driver_name: 'text?',
      bitstream_id: 'text?',
      presence: 'text',
      kind: 'text?',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'uuid',
    order: 'id',
    indexes: [
      ['root_uuid', 'id'],
      ['device_id', 'id'],
      ['device_uuid', 'id'],
      ['name', 'id'],
      ['hostname', 'id'],
      ['created_at', 'uuid'],
    ],
    unique: [['id'], ['rp_uuid']],
  },
  attributes: {
    columns: {
      uuid: 'uuid',
      deployable_uuid: 'uuid',
      deployable_id: 'int',
      key: 'text',
      value: 'text',
      origin: 'text',
      parent_uuid: 'uuid?',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'uuid',
    order: 'created_at',
    indexes: [
      ['deployable_id', 'created_at', 'uuid'],
      ['key', 'created_at', 'uuid'],
      ['created_at', 'uuid'],
    ],
    unique: [],
  },
  handles: {
    columns: {
      uuid: 'uuid',
      deployable_uuid: 'uuid',
      hostname: 'text',
      canonical: 'text',
      state: 'text',
      arq_uuid: 'uuid?',
    },
    key: 'uuid',
    order: 'uuid',
    indexes: [['deployable_uuid']],
    unique: [['arq_uuid']],
  },
  /** Orders that a host has not answered yet. They are sent again until it answers or the deadline passes. */
  pending_orders: {
    columns: {
      slot: 'uuid',
      hostname: 'text',
      deployable_uuid: 'uuid',
      number: 'int',
      body: 'json',
      sent_at: 'bigint',
    },
    key: 'slot',
    order: 'sent_at',
    indexes: [['sent_at', 'slot'], ['hostname']],
    unique: [],
  },
  /** Moments at which an entity needs work: at `at`, work of this kind (`services/due/due.ts`). */
  due: {
    columns: { entity: 'text', kind: 'text', at: 'bigint' },
    key: 'entity',
    order: 'at',
    indexes: [
      ['at', 'entity'],
      ['kind', 'at', 'entity'],
    ],
    unique: [],
  },
  /**
   * Bindings that have ended: who had what, from when until when. A row is written once and never changed, even if its
   * request is archived.
   */
  usage: {
    columns: {
      id: 'text',
      arq_uuid: 'uuid',
      project_id: 'text?',
      resource_class: 'text',
      parts: 'int',
      from_at: 'bigint',
      until_at: 'bigint',
    },
    key: 'id',
    order: 'until_at',
    indexes: [
      ['until_at', 'id'],
      ['project_id', 'until_at', 'id'],
    ],
    unique: [],
  },
  /** Differences that an operator has decided to ignore until `until_at`, or has ignored until `ended`. */
  ignored_drift: {
    columns: {
      uuid: 'uuid',
      hostname: 'text',
      kind: 'text',
      provider_uuid: 'uuid',
      name: 'text',
      consumer_uuid: 'uuid?',
      state: 'text?',
      difference_reason: 'text?',
      ignored_by: 'text',
      reason: 'text',
      until_at: 'bigint',
      ended: 'json?',
      created_at: 'bigint',
    },
    key: 'uuid',
    order: 'until_at',
    indexes: [
      ['until_at', 'uuid'],
      ['hostname', 'until_at', 'uuid'],
    ],
    unique: [],
  },
  hosts: {
    columns: {
      name: 'text',
      liveness: 'text',
      out_of_service: 'bool?',
      boot_id: 'uuid?',
      drivers: 'json',
      aliases: 'json',
      created_at: 'bigint',
      updated_at: 'bigint?',
    },
    key: 'name',
    order: 'created_at',
    indexes: [['created_at', 'name']],
    unique: [],
  },
  /** The state of an entity with a long journal, so that recovery reads only the tail after it. */
  snapshots: {
    columns: { entity: 'text', version: 'int', memory: 'json', schema: 'int' },
    key: 'entity',
    order: 'entity',
    indexes: [],
    unique: [],
  },
} as const satisfies Record<string, View>
