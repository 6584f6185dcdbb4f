/**
 * Publishes records, and sets aside those that the bus never takes (RELAY-4): they become dead letters, and the others
 * are published.
 *
 * ASIDE-1 a record is set aside only when the bus stored its dead letter and then refused the record again: an outage
 *    of the bus loses nothing;
 * ASIDE-2 the bus may reject a record as `Unpublishable`. If it does not, the records must have failed for
 *    `stuckAfterMs` before each is published separately.
 */
import { commandIdOf } from '../../actors/runtime/commandId.ts'
import { Unpublishable, type Bus } from '../../bus/port.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { deadLetterRecord } from '../../wire/message.ts'

type Ports = {
  readonly bus: Pick<Bus, 'publish'>
  readonly clock: Clock
  readonly log: Log
  readonly stuckAfterMs: number
}

export class SetAside {
  readonly #ports: Ports
  /** When the first failure of an unbroken series happened. */
  #failingSince: number | null = null
  #count = 0

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Records set aside since the start. */
  get count(): number {
    return this.#count
  }
  /** Rejects when the bus is away. False: `mayPublish` became false, and some records may not have been published. */
  async publish(records: readonly BusRecord[], mayPublish: () => boolean): Promise<boolean> {
    const { bus } = this.#ports
    try {
      if (records.length > 0) await bus.publish(records)
    } catch (error) {
      if (!this.#isStuck(error)) throw error
      for (const record of records) {
        if (!mayPublish()) return false
        await this.#alone(record)
      }
    }
    this.#failingSince = null
    return true
  }
  #isStuck(error: unknown): boolean {
    const { clock, stuckAfterMs } = this.#ports
    const since = (this.#failingSince ??= clock.monotonic())
    return error instanceof Unpublishable || clock.monotonic() - since >= stuckAfterMs
  }
  async #alone(record: BusRecord): Promise<void> {
    const { bus, clock, log } = this.#ports
    const failed = await bus.publish([record]).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    if (failed === null) return
    const { topic, key } = record
    const reason = `the bus does not take it: ${textOf(failed.error)}`
    const id = `${topic}/${key}/${commandIdOf(record.value)}`
    await bus.publish([deadLetterRecord(record, reason, { id, time: clock.now() })])
    try {
      await bus.publish([record])
    } catch {
      this.#count++
      log.error({ topic, key, reason }, 'relay.setAside')
    }
  }
}
