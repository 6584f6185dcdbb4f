/**
 * Reads the dead letters on Kafka, up to a maximum number, and sends them again.
 *
 * DEADLETTER-1 letters are sent one at a time: the original message is published to its topic under its key, and the
 *    letter is marked only when that is stored; if the process is killed in between, the message may be sent twice,
 *    which every consumer tolerates;
 * DEADLETTER-2 a truncated message, or a message for a topic that none of our consumers reads, is not sent.
 */
import type { Clock } from '../../clock.ts'
import type { Log } from '../../log.ts'
import type { DeadLetter } from '../../wire/catalogue.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'
import { readDeadLetter, retriedRecord } from '../../wire/message.ts'
import type { Bus } from '../port.ts'
import type { KafkaOptions } from './options.ts'
import type { Raw } from './read.ts'
import { readTopics } from './read.ts'

export type Letter = Omit<DeadLetter, 'cut' | 'retriedAt'> & {
  readonly id: string
  /** When the broker stored the letter, in ms since the epoch. */
  readonly time: number
  readonly cut: boolean
  readonly retriedAt: string | null
}
/** The most letters kept in memory; beyond it the oldest are dropped while reading. */
export const LETTERS_MAX = 10_000

const { topic: TOPIC } = CATALOGUE.deadLetters
const TOPICS: readonly string[] = Object.values(CATALOGUE).map(({ topic }) => topic)

/** Collects letters while reading; a later message with the same id marks the letter as retried. */
export const letterBox = (max = LETTERS_MAX) => {
  const letters = new Map<string, Letter>()
  const put = (id: string, { cut, retriedAt, ...body }: DeadLetter, time: number): void => {
    const known = letters.get(id)
    if (retriedAt !== undefined) return void (known && letters.set(id, { ...known, retriedAt }))
    letters.set(id, { ...body, id, time, cut: cut === true, retriedAt: known?.retriedAt ?? null })
    if (letters.size > max) letters.delete(letters.keys().next().value!)
  }
  return {
    take: ({ topic, key, value, time }: Pick<Raw, 'topic' | 'key' | 'value' | 'time'>): void => {
      const read = readDeadLetter({ topic, key, value: value ?? '', headers: {} })
      if (read.ok) put(read.value.id, read.value.body, time)
    },
    /** Oldest first. */
    all: (): readonly Letter[] => [...letters.values()].toSorted((a, b) => a.time - b.time),
  }
}

export const readLetters = async (kafka: KafkaOptions, log: Log): Promise<readonly Letter[]> => {
  const box = letterBox()
  const { missing } = await readTopics({ kafka, log, topics: [TOPIC], from: 'earliest', follow: false, take: box.take })
  if (missing.length > 0)
    throw new Error(`there is no topic ${kafka.prefix}${TOPIC}: accelerando topic create makes it`)
  return box.all()
}

/** Returns why the letter cannot be sent again; null: it can. */
export const refusalOf = ({ cut, topic }: Letter): string | null => {
  if (cut) return 'it was too long to be kept whole, so it cannot be sent again'
  if (topic === TOPIC) return 'it is a dead letter itself'
  return TOPICS.includes(topic) ? null : `${topic} is not a topic of accelerando`
}

export type Retried = { readonly letter: Letter; readonly refused: string | null }
/** Rejects at the first letter that cannot be stored; the letters before it are marked. */
export const retryLetters = async (
  bus: Pick<Bus, 'publish'>,
  clock: Pick<Clock, 'now'>,
  letters: readonly Letter[],
  done: (retried: Retried) => void,
): Promise<void> => {
  for (const letter of letters) {
    const refused = refusalOf(letter)
    if (refused === null) {
      const { id, topic, key, value, headers, reason } = letter
      await bus.publish([{ topic, key, value, headers }])
      await bus.publish([retriedRecord({ topic, key, reason, value: '', headers: {} }, { id, time: clock.now() })])
    }
    done({ letter, refused })
  }
}
