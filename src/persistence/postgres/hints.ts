/**
 * Hints over LISTEN and NOTIFY, in a session of their own that is opened at the first use. A hint is sent apart from
 * the append that it is about: a NOTIFY inside a transaction makes all such transactions commit one after another. When
 * the session is lost, hints are lost until it is open again (HINTS-1).
 */
import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { type Hints, createListeners } from '../../actors/runtime/hints.ts'
import type { Log } from '../../vocabulary/log.ts'
import { backoffMs } from '../../vocabulary/waiting.ts'
import { causeOf } from '../sql.ts'
import { connectClient, type SessionConfig } from './client.ts'
import { hangUp } from './run.ts'

const CHANNEL = 'accelerando_hints'
/** Sends several hints in one statement. */
const NOTIFY = `select pg_notify('${CHANNEL}', json_array_elements_text($1::json))`
const BACKOFF = { firstMs: 100, maxMs: 5000 }

export type PostgresHints = Hints & { readonly close: () => Promise<void> }

class HintSession {
  readonly #config: SessionConfig
  readonly #log: Pick<Log, 'warn'>
  readonly #listeners = createListeners()
  readonly #ending = new AbortController()
  #client: Client | null = null
  #opening: Client | null = null
  #running: Promise<void> | null = null
  #waiting = new Set<string>()
  #sending = false

  constructor(config: SessionConfig, log: Pick<Log, 'warn'>) {
    this.#log = log
    // a hint that is lost in a crash of the server does no harm, so its commit need not wait for the disk
    this.#config = { ...config, settings: { ...config.settings, synchronous_commit: 'off' } }
  }

  readonly arrive = (): boolean => this.#client !== null
  readonly onHint: Hints['onHint'] = (name, listener) => {
    this.#start()
    return this.#listeners.onHint(name, listener)
  }
  readonly send = (name: string): void => {
    this.#start()
    this.#waiting.add(name)
    if (!this.#sending) void this.#send()
  }
  readonly close = async (): Promise<void> => {
    this.#ending.abort()
    if (this.#opening) hangUp(this.#opening)
    if (this.#client) hangUp(this.#client)
    await this.#running
  }

  #start(): void {
    this.#running ??= this.#run()
  }
  async #run(): Promise<void> {
    for (let failures = 0; !this.#ending.signal.aborted;) {
      const lasted = await this.#session()
      failures = lasted ? 1 : failures + 1
      await wait(backoffMs(BACKOFF, failures), null, { signal: this.#ending.signal, ref: false }).catch(() => undefined)
    }
  }
  /** Opens one session and waits until it ends. False: it could not be opened. */
  async #session(): Promise<boolean> {
    const client = new Client(this.#config)
    const ended = new Promise<void>((resolve) => client.once('end', resolve))
    let own = 0
    client.on('notification', ({ processId, payload }) => {
      if (processId !== own && payload !== undefined) this.#listeners.tell(payload)
    })
    this.#opening = client
    try {
      await connectClient(client, this.#config)
      const { rows } = await client.query<{ own: number }>('select pg_backend_pid() as own')
      own = rows[0]!.own
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#log.warn({ reason: causeOf(error) }, 'hints.unavailable')
      hangUp(client)
      return false
    } finally {
      this.#opening = null
    }
    this.#client = client
    await ended
    this.#client = null
    return true
  }
  /** Sends one statement at a time; hints that arrive meanwhile go into the next one. */
  async #send(): Promise<void> {
    this.#sending = true
    while (this.#waiting.size > 0) {
      const names = JSON.stringify([...this.#waiting])
      this.#waiting.clear()
      await this.#client?.query(NOTIFY, [names]).catch(() => undefined)
    }
    this.#sending = false
  }
}

export const postgresHints = (config: SessionConfig, log: Pick<Log, 'warn'>): PostgresHints =>
  new HintSession(config, log)
