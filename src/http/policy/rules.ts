/** The policy rules of all operations: the names that operators know, and their defaults. */

export const BASE_RULES: Readonly<Record<string, string>> = {
  admin_api: 'role:admin',
  project_admin_api: 'role:admin and project_id:%(project_id)s',
  project_manager_api: 'role:manager and project_id:%(project_id)s',
  project_member_api: 'role:member and project_id:%(project_id)s',
  project_reader_api: 'role:reader and project_id:%(project_id)s',
  service_api: 'role:service',
  project_manager_or_admin: 'rule:project_manager_api or rule:admin_api',
  project_member_or_admin: 'rule:project_member_api or rule:admin_api',
  project_reader_or_admin: 'rule:project_reader_api or rule:admin_api',
  project_member_or_service: 'rule:project_member_api or rule:service_api',
  public_api: 'is_public_api:True',
  allow: '@',
  deny: '!',
  default: 'rule:admin_or_owner',
  is_admin: 'rule:admin_api',
  admin_or_owner: 'is_admin:True or project_id:%(project_id)s',
  admin_or_user: 'is_admin:True or user_id:%(user_id)s',
  system_admin_api: 'role:admin and system_scope:all',
  system_reader_api: 'role:reader and system_scope:all',
  system_admin_or_owner: 'rule:system_admin_api or rule:project_member_api',
  system_or_project_reader: 'rule:system_reader_api or rule:project_reader_api',
}

/** Operations that a release of Cyborg had: files that were written for it name them, and nothing asks them here. */
export const FORMER_RULES: ReadonlySet<string> = new Set([
  'cyborg:accelerator:create',
  'cyborg:accelerator:delete',
  'cyborg:accelerator:get',
  'cyborg:accelerator:update',
  'cyborg:attribute:get_attribute_by_deployable_id',
  'cyborg:deployable:create',
  'cyborg:deployable:delete',
  'cyborg:deployable:update',
  'cyborg:fpga:get_all',
  'cyborg:fpga:get_one',
  'cyborg:fpga:update',
])

/** The `legacy` rule is accepted as well unless the new defaults are enforced. */
export type OperationRule = { readonly now: string; readonly legacy: string | null }

const READ = { now: 'rule:project_reader_or_admin', legacy: 'rule:admin_or_owner' }
/** Whoever only reads writes in neither mode. Members have the role `reader` too; the new default allows them. */
const WRITE = {
  now: 'rule:project_member_or_service',
  legacy: 'rule:is_admin or (rule:admin_or_owner and not role:reader)',
}
const ADMIN_LONG_SINCE = { now: 'rule:admin_api', legacy: 'rule:is_admin' }
/**
 * The hardware inventory is restricted in both modes: to administrators and, under the new defaults, project managers.
 */
const INVENTORY = { now: 'rule:project_manager_or_admin', legacy: 'rule:admin_api' }
const ADMIN = { now: 'rule:admin_api', legacy: null }

export const OPERATION_RULES = {
  'cyborg:device_profile:get_all': READ,
  'cyborg:device_profile:get_one': READ,
  'cyborg:device_profile:create': ADMIN_LONG_SINCE,
  'cyborg:device_profile:delete': ADMIN_LONG_SINCE,
  'cyborg:device_profile:migrate': ADMIN,
  'cyborg:device_profile:update': ADMIN,
  'cyborg:device_profile:versions': ADMIN,
  'cyborg:device_profile:check': INVENTORY,
  'cyborg:arq:get_all': READ,
  'cyborg:arq:get_one': READ,
  'cyborg:arq:create': WRITE,
  'cyborg:arq:delete': WRITE,
  'cyborg:arq:update': WRITE,
  'cyborg:arq:force_unbind': ADMIN,
  'cyborg:device:get_all': INVENTORY,
  'cyborg:device:get_one': INVENTORY,
  'cyborg:device:disable': ADMIN,
  'cyborg:device:enable': ADMIN,
  'cyborg:deployable:get_all': INVENTORY,
  'cyborg:deployable:get_one': INVENTORY,
  'cyborg:deployable:program': ADMIN,
  'cyborg:attribute:get_all': INVENTORY,
  'cyborg:attribute:get_one': INVENTORY,
  'cyborg:attribute:create': ADMIN,
  'cyborg:attribute:delete': ADMIN,
  'cyborg:host:get_all': INVENTORY,
  'cyborg:host:get_one': INVENTORY,
  'cyborg:host:retire': ADMIN,
  'cyborg:host:restore': ADMIN,
  'cyborg:host:probe': ADMIN,
  'cyborg:host:approve': ADMIN,
  'cyborg:host:rekey': ADMIN,
  'cyborg:host:delete': ADMIN,
  'cyborg:handle:get_all': INVENTORY,
  'cyborg:handle:get_one': INVENTORY,
  'cyborg:handle:quarantine': ADMIN,
  'cyborg:handle:release': ADMIN,
  'cyborg:handle:clean': ADMIN,
  'cyborg:event:get_all': READ,
  'cyborg:usage:get_all': READ,
  'cyborg:drift:get_all': ADMIN,
  'cyborg:drift:heal': ADMIN,
  'cyborg:drift:ignore': ADMIN,
  'cyborg:orphan:get_all': ADMIN,
  'cyborg:orphan:collect': ADMIN,
  'cyborg:overview:get': ADMIN,
  'cyborg:system:get': ADMIN,
  'cyborg:system:support_bundle': ADMIN,
  'cyborg:permission:get_all': READ,
  'cyborg:delivery:get_all': ADMIN,
  'cyborg:delivery:resend': ADMIN,
  'cyborg:dead_letter:get_all': ADMIN,
  'cyborg:dead_letter:get_one': ADMIN,
  'cyborg:dead_letter:replay': ADMIN,
  'cyborg:dead_letter:drop': ADMIN,
} as const satisfies Record<string, OperationRule>
export type RuleName = keyof typeof OPERATION_RULES
