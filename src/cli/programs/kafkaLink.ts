/**
 * Connects a program to Kafka, which may be unreachable when the program starts. The topics are checked or created
 * first, then the program joins its consumer groups; both are retried until they succeed. An error that only an
 * operator can fix stops the start. Topics that somebody deletes later are created again.
 */
import { messageOf } from '../../vocabulary/errorText.ts'
import type { KafkaBus } from '../../bus/kafka/bus.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { createTopics } from '../../bus/kafka/topics.ts'
import { isMisconfigured, isMissing } from '../../bus/kafka/errors.ts'
import { type Clock } from '../../vocabulary/clock.ts'
import { bounded, pause } from '../../vocabulary/waiting.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Sections } from '../config/sections.ts'
import { StartProblem } from './startProblem.ts'

/** The start waits this long for Kafka and then continues without it. */
const PATIENCE_MS = 5000
const AGAIN_MS = 1000
const LOOK_MS = 50
/** How often a program that has joined looks whether the bus has met errors since, which missing topics may cause. */
const TOPICS_AGAIN_MS = 30_000

type LinkParts = {
  readonly kafka: KafkaOptions
  readonly bus: Pick<KafkaBus, 'state'>
  /** Null: another program creates the topics, and this one waits for them. */
  readonly topics: Sections['topics'] | null
  readonly clock: Clock
  readonly log: Log
}
export type KafkaLink = {
  /**
   * Resolves when `begin` has succeeded or Kafka cannot be reached now. In the second case `begin` is retried until it
   * succeeds.
   */
  readonly join: (begin: () => Promise<unknown>) => Promise<void>
  /** Why Kafka cannot be used; null: the program has joined, and the last contact with Kafka succeeded. */
  readonly whyFailing: () => string | null
  /** Resolves when the connection works for the first time, or at the stop. */
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
      `topics are missing: ${missing.join(', ')}: make them with "accelerando topic create", or set kafka.create_topics`,
    )
}

/**
 * A missing topic is not final for a program that may not create it, because another program will. Every other refusal
 * is final.
 */
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
  readonly whyFailing = (): string | null => {
    if (this.#hindered !== null) return `kafka: ${this.#hindered}`
    const { connected, lastError } = this.#parts.bus.state()
    return connected ? null : `kafka: ${lastError?.reason ?? 'no answer from it yet'}`
  }
  readonly well = async (): Promise<void> => {
    while (this.whyFailing() !== null && !this.#stopping.signal.aborted) await this.#rest(LOOK_MS)
  }
  readonly join = async (begin: () => Promise<unknown>): Promise<void> => {
    const first = this.#attempt(begin)
    this.#trying = first
      .then((done) => done || this.#again(begin))
      .then(
        (joined) => (joined && this.#parts.topics?.create ? this.#keepTopics() : undefined),
        () => undefined,
      )
    await bounded(this.#parts.clock, first, PATIENCE_MS, false)
  }
  readonly stop = async (): Promise<void> => {
    this.#stopping.abort()
    await bounded(this.#parts.clock, this.#trying, AGAIN_MS, undefined)
  }

  /** Rejects only with errors that the operator has to fix. */
  async #attempt(begin: () => Promise<unknown>): Promise<boolean> {
    try {
      await ensured(this.#parts)
      if (this.#stopping.signal.aborted) return false
      await begin()
      this.#hindered = null
      return true
    } catch (error) {
      this.#hindered = messageOf(error)
      this.#parts.log.warn({ reason: this.#hindered }, 'kafka.notJoined')
      if (isFinal(error)) throw error
      return false
    }
  }
  async #again(begin: () => Promise<unknown>): Promise<boolean> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#rest(AGAIN_MS)
      if (!signal.aborted && (await this.#attempt(begin).catch(() => false))) return true
    }
    return false
  }
  async #keepTopics(): Promise<void> {
    const { bus, clock } = this.#parts
    let lookedAt = clock.now()
    for (;;) {
      await this.#rest(TOPICS_AGAIN_MS)
      if (this.#stopping.signal.aborted) return
      if ((bus.state().lastError?.at ?? 0) < lookedAt) continue
      lookedAt = clock.now()
      // a broker that is away is no news: the bus says so
      await ensured(this.#parts).catch(() => undefined)
    }
  }
  #rest(ms: number): Promise<void> {
    return pause(this.#parts.clock, ms, this.#stopping.signal).catch(() => undefined)
  }
}

export const kafkaLink = (parts: LinkParts): KafkaLink => new Link(parts)
