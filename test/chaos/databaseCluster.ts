/** The database of a run: one server at a time, of which a standby can take the place. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlOnce } from '../support/postgres.ts'
import { type OwnServer, ownServer } from '../support/postgresOwn.ts'

export type DatabaseCluster = Pick<OwnServer, 'stop' | 'start' | 'pause' | 'resume' | 'end'> & {
  /** Of the server that can be written now. */
  readonly port: () => number
  readonly url: () => string
  /**
   * Ends the server at once; the returned function puts a standby in its place, which has every commit that was acknowledged
   * (synchronous replication).
   */
  readonly failOver: () => Promise<() => Promise<void>>
  /** From now on the server refuses to write, as one that was demoted. The returned function ends that. */
  readonly demote: () => Promise<() => Promise<void>>
  /** What leases, claims and sightings look like to a clock that was stepped by so much. */
  readonly stepClock: (byMs: number) => Promise<void>
}

const TRIES = 300

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
    demote,
    stepClock,
  }
}
