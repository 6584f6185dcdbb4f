/**
 * The lease that decides which process relays, and how long its holder may rely on it.
 *
 * LEASE-1 the holder trusts the lease for `trustMs` from the moment it asked for it, by its own monotonic clock: less
 *    than the store keeps it, so that no process relies on a lease that another may hold by now;
 * LEASE-2 a lease with another epoch is another tenure: nothing is carried over;
 * LEASE-3 a store that does not answer changes nothing until the trust ends; the answer that another process has the
 *    lease ends the tenure at once;
 * LEASE-4 a process that steps aside releases the lease and does not ask for it for a while.
 */
import type { Sharing } from '../../actors/runtime/sharing.ts'
import type { Cancel, Clock } from '../../vocabulary/clock.ts'
import type { Log } from '../../vocabulary/log.ts'
import { textOf } from '../../vocabulary/errorText.ts'

/** One uninterrupted holding of the lease, compared by identity. */
export type Tenure = { readonly epoch: number }
export type LeaseTimes = { readonly leaseMs: number; readonly trustMs: number; readonly renewMs: number }
export type LeaseOptions = LeaseTimes & {
  readonly sharing: Pick<Sharing, 'acquire' | 'release'>
  readonly name: string
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  /** Called when a trusted tenure begins. */
  readonly gained: () => void
}

export class Leasehold {
  readonly #options: LeaseOptions
  #tenure: Tenure | null = null
  #trustedUntil = -Infinity
  #running = false
  #next: Cancel = () => {}
  #asking: Promise<void> = Promise.resolve()
  #unanswered = false
  #asideUntil = -Infinity

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  /** Resolves when the lease was asked for once. Rejects when the store does not answer. */
  readonly start = async (): Promise<void> => {
    this.#running = true
    try {
      await this.#ask()
    } catch (error) {
      this.#running = false
      throw error
    }
    this.#later(this.#options.renewMs)
  }
  /** Releases the lease, so that another process may take it at once. */
  readonly stop = async (): Promise<void> => {
    if (!this.#running) return
    this.#running = false
    this.#next()
    await this.#asking
    await this.#giveAway()
  }
  readonly stepAside = (forMs: number): void => {
    this.#asideUntil = this.#options.clock.monotonic() + forMs
    this.#asking = this.#asking.then(() => this.#giveAway())
  }
  async #giveAway(): Promise<void> {
    if (this.#tenure === null) return
    this.#tenure = null
    const { sharing, name, holder, log } = this.#options
    await sharing
      .release(name, holder)
      .catch((error: unknown) => log.warn({ reason: textOf(error) }, 'relay.notReleased'))
  }
  get tenure(): Tenure | null {
    return this.#tenure
  }
  readonly trusted = (tenure: Tenure | null): tenure is Tenure =>
    tenure !== null && tenure === this.#tenure && this.#options.clock.monotonic() < this.#trustedUntil
  /** Called when the store reported a later epoch. */
  readonly lost = (tenure: Tenure): void => {
    if (this.#tenure === tenure) this.#tenure = null
  }

  #later(ms: number): void {
    if (!this.#running) return
    this.#next = this.#options.clock.after(ms, () => {
      this.#asking = this.#renew()
    })
  }
  async #renew(): Promise<void> {
    const { clock, renewMs, log } = this.#options
    const began = clock.monotonic()
    if (began < this.#asideUntil) return this.#later(renewMs)
    try {
      await this.#ask()
      this.#unanswered = false
    } catch (error) {
      if (!this.#unanswered) log.warn({ reason: textOf(error) }, 'relay.leaseUnanswered')
      this.#unanswered = true
    }
    this.#later(Math.max(renewMs / 10, renewMs - (clock.monotonic() - began)))
  }
  async #ask(): Promise<void> {
    const { sharing, name, holder, leaseMs, trustMs, clock, gained, log } = this.#options
    const began = clock.monotonic()
    const trusted = this.trusted(this.#tenure)
    const lease = await sharing.acquire(name, holder, leaseMs)
    if (lease === null) {
      this.#tenure = null
      return
    }
    this.#trustedUntil = began + trustMs
    if (this.#tenure?.epoch !== lease.epoch) {
      this.#tenure = { epoch: lease.epoch }
      log.info({ epoch: lease.epoch, holder }, 'relay.leaseTaken')
    } else if (trusted) return
    gained()
  }
}
