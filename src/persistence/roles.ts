/**
 * The rights that the role of a running program needs. Only the owner creates and changes tables, with `accelerando
 * migrate`.
 */
import { MIGRATION_TABLE } from './migrate.ts'
import { viewNames } from './rules.ts'
import { quoted } from './statements.ts'

export const RIGHTS: Readonly<Record<string, string>> = {
  // rows are moved to the archive, but never changed
  journal: 'select, insert, delete',
  journal_archive: 'select, insert',
  checkpoints: 'select, insert, update',
  leases: 'select, insert, update',
  // the server that holds the journal, and the rows that it has lost
  incarnation: 'select, update',
  lost_rows: 'select, insert, update',
  claims: 'select, insert, update, delete',
  host_seen: 'select, insert, update, delete',
  host_measured: 'select, insert, update, delete',
  cluster: 'select, update',
  ...Object.fromEntries(viewNames.map((view) => [view, 'select, insert, update, delete'])),
  [MIGRATION_TABLE]: 'select',
}

/** Statements for the owner to run, again after each migration. The role must exist. */
export const roleGrants = (role: string): readonly string[] => {
  const name = `"${role.replaceAll('"', '""')}"`
  return [
    `grant usage on schema public to ${name}`,
    ...Object.entries(RIGHTS).map(([table, rights]) => `grant ${rights} on ${quoted(table)} to ${name}`),
  ]
}
