/**
 * What an operator does with a dead letter: a control and the command do it in the same way.
 *
 * DEADLETTER-1 letters are sent one at a time: the original message is published to its topic under its key, and the
 *    letter is marked only when that is stored; if the process is killed in between, the message may be sent twice,
 *    which every consumer tolerates;
 * DEADLETTER-2 only reports and orders of hosts are sent, and only whole ones. Whoever writes dead letters chooses the
 *    topic that they name, and may have no right to write to it; facts and states are in the journal, and an old state
 *    would take the place of a newer one on its compacted topic;
 * DEADLETTER-3 nothing is removed from the topic: a dropped letter stays as long as the topic keeps it, and a mark on
 *    it says who dropped it, when and why. The last mark counts.
 */
import type { Bus } from '../../bus/port.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import { CATALOGUE, type DeadLetter } from '../../wire/catalogue.ts'
import { handledRecord } from '../../wire/handledLetter.ts'
import type { Letter } from './box.ts'

const { hostReports, hostOrders, deadLetters } = CATALOGUE
const TOPICS: readonly string[] = Object.values(CATALOGUE).map(({ topic }) => topic)
const SENDABLE: readonly string[] = [hostReports.topic, hostOrders.topic]

/** Returns why the letter cannot be sent again; null: it can. */
export const refusalOf = ({ cut, topic }: Pick<Letter, 'cut' | 'topic'>): string | null => {
  if (cut) return 'it was too long to be kept whole, so it cannot be sent again'
  if (SENDABLE.includes(topic)) return null
  if (topic === deadLetters.topic) return 'it is a dead letter itself'
  return TOPICS.includes(topic)
    ? `only reports and orders of hosts are sent again: what ${topic} says is in the journal`
    : `${topic} is not a topic of accelerando`
}

type Ports = { readonly bus: Pick<Bus, 'publish'>; readonly clock: Pick<Clock, 'now'> }
type Mark = DeadLetter['handled']

/** Rejects when the mark cannot be stored. */
export const mark = async ({ bus, clock }: Ports, letter: Letter, handled: Mark): Promise<void> =>
  bus.publish([handledRecord(letter, { id: letter.id, time: clock.now() }, handled)])

/** The letter must be one that can be sent again. Rejects when the message or the mark cannot be stored. */
export const sendAgain = async (ports: Ports, letter: Letter, handled: Mark): Promise<void> => {
  const { topic, key, value, headers } = letter
  await ports.bus.publish([{ topic, key, value, headers }])
  await mark(ports, letter, handled)
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
    if (refused === null) await sendAgain({ bus, clock }, letter, undefined)
    done({ letter, refused })
  }
}
