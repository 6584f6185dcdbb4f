/**
 * A program's way to Kafka, which may be away when it starts: topics are seen to first, then the program joins; again
 * and again until both are done. What only an operator can mend stops the start.
 */
import type { KafkaBus } from '../../bus/kafka/bus.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { createTopics } from '../../bus/kafka/topics.ts'
import { isMisconfigured, isMissing } from '../../bus/kafka/errors.ts'
import { type Clock } from '../../clock.ts'
import { bounded, pause } from '../../waiting.ts'
import type { Log } from '../../log.ts'
import type { Sections } from '../config/sections.ts'
import { StartProblem } from './startProblem.ts'

/** A start waits for Kafka this long, and then goes on without. */
const PATIENCE_MS = 5000
const AGAIN_MS = 1000
const LOOK_MS = 50

type LinkParts = {
  readonly kafka: KafkaOptions
  readonly bus: Pick<KafkaBus, 'state'>
  /** Null: topics are somebody else's business, and waited for. */
  readonly topics: Sections['topics'] | null
  readonly clock: Clock
  readonly log: Log
}
export type KafkaLink = {
  /** Resolves when `begin` has succeeded, or Kafka is not to be reached now: then `begin` is tried until it succeeds. */
  readonly join: (begin: () => Promise<unknown>) => Promise<void>
  /** Null: joined, and the last that was heard of Kafka was good; else what is wrong. */
  readonly ailing: () => string | null
  /** Resolves when nothing ails for the first time, or at the stop. */
  readonly well: () => Promise<void>
  readonly stop: () => Promise<void>
}

const ensured = async ({ kafka, topics, log }: LinkParts): Promise<void> => {
  if (topics === null) return
  const { create, ...settings } = topics
  const reports = await createTopics(kafka, settings, log, { dryRun: !create })
  const missing = reports.filter(({ state }) => state === 'missing').map(({ topic }) => topic)
  if (missing.length > 0)
    throw new StartProblem(
      `topics are missing: ${missing.join(', ')}: make them with "accelerando topics create", or set kafka.create_topics`,
    )
}

/** A topic that is missing for whoever may not make it will be made by another; all else that is refused stays refused. */
const isFinal = (error: unknown): boolean =>
  error instanceof StartProblem || (isMisconfigured(error) && !isMissing(error))

class Link {
  readonly #parts: LinkParts
  readonly #stopping = new AbortController()
  #trying: Promise<void> = Promise.resolve()
  #hindered: string | null = 'not joined yet'

  constructor(parts: LinkParts) {
    this.#parts = parts
  }
  readonly ailing = (): string | null => {
    if (this.#hindered !== null) return `kafka: ${this.#hindered}`
    const { connected, lastError } = this.#parts.bus.state()
    return connected ? null : `kafka: ${lastError?.reason ?? 'nothing was heard of it yet'}`
  }
  readonly well = async (): Promise<void> => {
    while (this.ailing() !== null && !this.#stopping.signal.aborted) await this.#rest(LOOK_MS)
  }
  readonly join = async (begin: () => Promise<unknown>): Promise<void> => {
    const first = this.#attempt(begin)
    this.#trying = first.then(
      (done) => (done ? undefined : this.#again(begin)),
      () => undefined,
    )
    await bounded(this.#parts.clock, first, PATIENCE_MS, false)
  }
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort()
    await bounded(this.#parts.clock, this.#trying, AGAIN_MS, undefined)
  }

  /** Rejects only with what the operator has to mend. */
  async #attempt(begin: () => Promise<unknown>): Promise<boolean> {
    try {
      await ensured(this.#parts)
      if (this.#stopping.signal.aborted) return false
      await begin()
      this.#hindered = null
      return true
    } catch (error) {
      this.#hindered = (error as Error).message
      this.#parts.log.warn({ reason: this.#hindered }, 'kafka.notJoined')
      if (isFinal(error)) throw error
      return false
    }
  }
  async #again(begin: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#rest(AGAIN_MS)
      if (signal.aborted || (await this.#attempt(begin).catch(() => false))) return
    }
  }
  #rest(ms: number): Promise<void> {
    return pause(this.#parts.clock, ms, this.#stopping.signal).catch(() => undefined)
  }
}

export const kafkaLink = (parts: LinkParts): KafkaLink => new Link(parts)
