/** Selects, shows and resends dead letters for the command. */
import { kafkaBus } from '../../bus/kafka/bus.ts'
import { readLetters } from '../../bus/kafka/deadLetters.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { type Letter, letterBox } from '../../delivery/deadLetters/box.ts'
import { refusalOf, retryLetters } from '../../delivery/deadLetters/handle.ts'
import type { Log } from '../../vocabulary/log.ts'
import { inOneLine } from '../../vocabulary/text.ts'

export type Listed = { readonly since: number | null; readonly limit: number; readonly topic: string | null }
export type Wanted = { readonly ids: readonly string[]; readonly all: boolean; readonly topic: string | null }

const SHOWN = 100
const beginning = (text: string): string => {
  const plain = inOneLine(text)
  return plain.length > SHOWN ? `${plain.slice(0, SHOWN)}...` : plain
}

/** The newest `limit` dead letters, oldest first. */
export const pick = (letters: readonly Letter[], { since, limit, topic }: Listed): readonly Letter[] =>
  letters
    .filter((letter) => (since === null || letter.time >= since) && (topic === null || letter.topic === topic))
    .slice(-limit)

const handledWords = ({ retriedAt, handled }: Letter): string => {
  if (retriedAt === null) return ''
  const by = handled === undefined ? '' : ` by ${beginning(handled.by)}: ${beginning(handled.reason)}`
  return `  ${handled?.how === 'dropped' ? 'dropped' : 'retried'} ${retriedAt}${by}`
}
export const letterLines = (letter: Letter): readonly string[] => {
  const { id, time, topic, key, reason, value, cut } = letter
  const refusal = refusalOf(letter)
  const unsendable = cut ? ' (cut: cannot be retried)' : refusal === null ? '' : ` (cannot be retried: ${refusal})`
  return [
    `${id}  ${new Date(time).toISOString()}  ${topic}  key ${beginning(key)}${handledWords(letter)}`,
    `  ${beginning(reason)}`,
    `  ${beginning(value)}${unsendable}`,
  ]
}

export type Choice = { readonly letters: readonly Letter[]; readonly unknown: readonly string[] }
/**
 * Selects dead letters by id, even if they were sent again before; `all` selects those that can be sent again and were
 * not yet.
 */
export const choose = (letters: readonly Letter[], { ids, all, topic }: Wanted): Choice => {
  const known = new Set(letters.map(({ id }) => id))
  const wanted = new Set(ids)
  return {
    letters: letters
      .filter((letter) => topic === null || letter.topic === topic)
      .filter((letter) => wanted.has(letter.id) || (all && letter.retriedAt === null && refusalOf(letter) === null)),
    unknown: ids.filter((id) => !known.has(id)),
  }
}

const lettersOn = async (kafka: KafkaOptions, log: Log): Promise<readonly Letter[]> => {
  const box = letterBox(systemClock)
  await readLetters(kafka, log, box.take)
  return box.all()
}
export const listLetters = async (kafka: KafkaOptions, log: Log, listed: Listed): Promise<readonly Letter[]> =>
  pick(await lettersOn(kafka, log), listed)

/** Whether all selected dead letters were sent. */
export const retry = async (kafka: KafkaOptions, log: Log, wanted: Wanted, say: (line: string) => void) => {
  const { letters, unknown } = choose(await lettersOn(kafka, log), wanted)
  for (const id of unknown) say(`${id}  unknown: accelerando dead-letter list shows what there is`)
  const bus = kafkaBus({ options: kafka, clock: systemClock, log })
  let refusals = unknown.length
  try {
    await retryLetters(bus, systemClock, letters, ({ letter, refused }) => {
      if (refused !== null) refusals++
      say(`${letter.id}  ${refused === null ? `sent again to ${letter.topic}` : `not sent: ${refused}`}`)
    })
  } finally {
    await bus.stop()
  }
  if (letters.length + unknown.length === 0) say('there is nothing to send again')
  return refusals === 0
}
