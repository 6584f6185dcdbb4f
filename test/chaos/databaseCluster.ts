/** The database of a run: one server at a time, of which a standby can take the place. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlOnce } from '../support/postgres.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'

export type DatabaseCluster = Pick<OwnServer, 'stop' | 'start' | 'pause' | 'resume' | 'end'> & {
  /** Of the server that can be written now. */
  readonly port: () => number
  readonly url: () => string
  /**
   * Ends the server at once; the returned function puts a standby in its place, which has every commit that was
   * acknowledged (synchronous replication).
   */
  readonly failOver: () => Promise<() => Promise<void>>
  /**
   * A standby has everything now and follows no more; the returned function ends the server and puts the standby in its
   * place. It resolves to when that was: from the first moment on commits were lost, and before the second or at the
   * latest at the third the server had ended.
   */
  readonly fallBehind: () => Promise<() => Promise<Behind>>
  /** From now on the server refuses to write, as one that was demoted. The returned function ends that. */
  readonly demote: () => Promise<() => Promise<void>>
  /** What leases, claims and sightings look like to a clock that was stepped by so much. */
  readonly stepClock: (byMs: number) => Promise<void>
}

/** Moments, ms since the epoch. */
export type Behind = { readonly fromMs: number; readonly goneMs: number; readonly toMs: number }

const TRIES = 300
const WRITTEN = `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as at`
const REPLAYED = `select pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as at`

export const databaseCluster = async (bin: string): Promise<DatabaseCluster> => {
  let server = await ownServer(bin)
  const name = new URL((await server.freshDatabase()).url).pathname
  const url = () => `postgres://postgres@127.0.0.1:${server.port}${name}`
  const settings = async (...texts: readonly string[]) => {
    for (const text of [...texts, 'select pg_reload_conf()']) await sqlOnce(url(), text)
  }
  const inStep = async () => {
    for (let tries = 0; tries < TRIES; tries++) {
      const { rows } = await sqlOnce(url(), `select 1 from pg_stat_replication where sync_state = 'sync'`)
      if (rows.length > 0) return
      await sleep(50)
    }
    throw new Error('the standby did not catch up')
  }
  const failOver = async () => {
    const standby = await server.standby()
    await settings(`alter system set synchronous_standby_names = '*'`)
    await inStep()
    const old = server
    await old.stop()
    return async () => {
      await standby.promote()
      server = standby
      await old.end()
    }
  }
  const positionOf = async (of: string, text: string) => BigInt((await sqlOnce(of, text)).rows[0].at)
  const fallBehind = async () => {
    const standby = await server.standby()
    const goal = await positionOf(url(), WRITTEN)
    for (let tries = 0; (await positionOf(standby.url, REPLAYED)) < goal; tries++) {
      if (tries >= TRIES) throw new Error('the standby did not catch up')
      await sleep(50)
    }
    const fromMs = Date.now()
    await standby.stop()
    return async () => {
      const [old, goneMs] = [server, Date.now()]
      await old.stop()
      const toMs = Date.now()
      // it starts when nobody is left of whom it could fetch what it lacks
      await standby.start()
      await standby.promote()
      server = standby
      await old.end()
      return { fromMs, goneMs, toMs }
    }
  }
  const demote = async () => {
    await settings('alter system set default_transaction_read_only = on')
    const own = `${url()}?options=-c%20default_transaction_read_only%3Doff`
    return async () => {
      await sqlOnce(own, 'alter system reset default_transaction_read_only')
      await sqlOnce(own, 'select pg_reload_conf()')
    }
  }
  const stepClock = async (byMs: number) => {
    const by = `${byMs} * interval '1 ms'`
    await sqlOnce(url(), `update leases set until = until - ${by} where until > '-infinity'`)
    await sqlOnce(url(), `update claims set until = until - ${by}`)
    await sqlOnce(url(), `update host_seen set seen_at = seen_at - ${by}`)
  }
  return {
    port: () => server.port,
    url,
    stop: () => server.stop(),
    start: () => server.start(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    end: () => server.end(),
    failOver,
    fallBehind,
    demote,
    stepClock,
  }
}
