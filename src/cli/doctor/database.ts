/** Checks of the database itself: version, schema, privileges, clock, and common causes of slowness. */
import type { DatabaseFacts } from '../../persistence/inspect.ts'
import type { Check } from './check.ts'
import { counted, listed, ok, problem, size, span, warning } from './check.ts'

const OLDEST_VERSION = 140_000
/**
 * The expiry of leases is measured by the clock of each observer (decision 0037), but deadlines and host observations
 * use the clocks of the processes.
 */
const SKEW = { warnMs: 500, badMs: 5000 }
const HELD = { warnMs: 10_000, badMs: 60_000 }
const DEAD = { rows: 100_000, share: 0.3 }

const dotted = (version: number): string => `${Math.floor(version / 10_000)}.${version % 10_000}`

const version: Check<DatabaseFacts> = {
  name: 'database',
  judge: ({ version: found, role, superuser }) => {
    const says = `PostgreSQL ${dotted(found)} answers, as role ${role}`
    if (found < OLDEST_VERSION)
      return problem(`${says}, older than ${dotted(OLDEST_VERSION)}`, 'upgrade PostgreSQL to a supported version')
    return superuser
      ? warning(
          `${says}, a superuser`,
          'use a role with the least rights: accelerando migrate --grant-to ROLE gives them',
        )
      : ok(says)
  },
}

const schema: Check<DatabaseFacts> = {
  name: 'schema',
  judge: ({ pending, unknown }) => {
    if (pending === null) return null
    if (pending.length > 0)
      return problem(`${counted(pending.length, 'migration')} not made: ${listed(pending)}`, 'run accelerando migrate')
    return unknown.length > 0
      ? warning(
          `a newer accelerando has migrated it further: ${listed(unknown)}`,
          'fine during a rolling upgrade; otherwise use that newer version here as well',
        )
      : ok('all migrations are made')
  },
}

const rights: Check<DatabaseFacts> = {
  name: 'rights',
  judge: ({ missingRights, role, tables }) => {
    if (tables.length === 0) return null
    return missingRights.length === 0
      ? ok(`role ${role} has all the privileges it needs`)
      : problem(
          `role ${role} lacks ${listed(missingRights)}`,
          `as the owner of the tables: accelerando migrate --grant-to ${role}`,
        )
  },
}

const clock: Check<DatabaseFacts> = {
  name: 'clock of the database',
  judge: ({ skewMs, skewErrorMs }) => {
    const off = Math.max(0, Math.abs(skewMs) - skewErrorMs)
    const says = `${span(skewMs)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine (give or take ${span(skewErrorMs)})`
    const advice = 'set both clocks by NTP; deadlines and the order of reports depend on them'
    if (off >= SKEW.badMs) return problem(says, advice)
    return off >= SKEW.warnMs ? warning(says, advice) : ok(says)
  },
}

const open: Check<DatabaseFacts> = {
  name: 'open transactions',
  judge: ({ holder, heldRows }) => {
    if (holder === null)
      return heldRows === 0
        ? ok('none delays the journal')
        : warning(
            `${counted(heldRows, 'row')} of the journal wait for a transaction that this role may not see`,
            'if it stays so, look at pg_stat_activity as a superuser, or grant pg_read_all_stats',
          )
    const { pid, name, user, database, state, ageMs } = holder
    const who = `${pid === null ? 'prepared transaction' : `pid ${pid}`} (${name || 'no name'}, ${user}@${database}, ${state})`
    if (ageMs < HELD.warnMs) return ok('none is old')
    const says = `${who} has been open for ${span(ageMs)}; ${counted(heldRows, 'row')} of the journal wait for it`
    const advice =
      pid === null
        ? `end it: rollback prepared '${name}'`
        : `end it if it is forgotten: select pg_terminate_backend(${pid})`
    return ageMs >= HELD.badMs ? problem(says, advice) : warning(says, advice)
  },
}

const restored: Check<DatabaseFacts> = {
  name: 'origin of the journal',
  judge: (facts) =>
    facts.restored
      ? problem(
          'the journal was restored from another server: its rows have transaction ids of the future, so no reader gets them',
          'with all programs stopped: accelerando migrate --adopt',
        )
      : ok('written by this server'),
}

const stopped: Check<DatabaseFacts> = {
  name: 'writing',
  judge: (facts) =>
    facts.stopped
      ? problem(
          `stopped: ${facts.stopped.reason} (${counted(facts.stopped.lost, 'row')} known to be gone)`,
          'look at what is gone with `accelerando migrate --check`, then decide: accelerando migrate --adopt',
        )
      : ok('not stopped'),
}

const sizes: Check<DatabaseFacts> = {
  name: 'size',
  judge: ({ tables }) => {
    const journal = tables.find(({ table }) => table === 'journal')
    if (journal === undefined) return null
    const says = `journal ${size(journal.bytes)}, about ${counted(journal.live, 'row')}`
    const bloated = tables.filter(({ dead, live }) => dead >= DEAD.rows && dead >= DEAD.share * (live + dead))
    return bloated.length === 0
      ? ok(says)
      : warning(
          `${says}; dead rows: ${listed(bloated.map(({ table, dead }) => `${table} ${dead}`))}`,
          'autovacuum is too slow: look for old transactions, and let it run more often on these tables',
        )
  },
}

export const DATABASE_CHECKS: readonly Check<DatabaseFacts>[] = [
  version,
  schema,
  rights,
  clock,
  open,
  restored,
  stopped,
  sizes,
]
