/** Collects dead letters while they are read, with what operators have done with them. Bounded: the oldest go first. */
import { createHash } from 'node:crypto'
import type { LetterUuid } from '../../identifiers.ts'
import { uuidOfHash } from '../../uuid.ts'
import type { DeadLetter } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { readTimedLetter } from '../../wire/message.ts'

export type Letter = Omit<DeadLetter, 'cut' | 'retriedAt' | 'handled'> & {
  readonly id: string
  /** When the letter was stored, in ms since the epoch. */
  readonly time: number
  readonly cut: boolean
  /** When its message was sent again or the letter was dropped; null: neither. */
  readonly retriedAt: string | null
  /** Absent: who did it was not recorded, or nobody did anything. */
  readonly handled?: NonNullable<DeadLetter['handled']>
}
/** A message as it was read. `time` absent: the time that the message says. */
export type Taken = Pick<BusRecord, 'topic' | 'key'> & {
  readonly value: string | null
  readonly time?: number
}
export type Box = {
  /** Ignores what is no dead letter. A later message with the same id is the mark on it. */
  readonly take: (message: Taken) => void
  /** Oldest first. */
  readonly all: () => readonly Letter[]
  readonly get: (uuid: LetterUuid) => Letter | null
}
/** The most letters kept in memory, and the most characters of their messages. */
export const LETTERS_MAX = 10_000
export const KEPT_MAX = 32 * 1024 * 1024

/** The id of a letter names a place on a topic, and is no part of an address: its hash is. */
export const uuidOf = ({ id }: Pick<Letter, 'id'>): LetterUuid =>
  uuidOfHash(createHash('sha1').update(`dead letter ${id}`).digest(), 5)

const sizeOf = ({ value, headers }: Letter): number =>
  Object.entries(headers).reduce((sum, [name, text]) => sum + name.length + text.length, value.length)

export const letterBox = (max = LETTERS_MAX, keptMax = Number.POSITIVE_INFINITY): Box => {
  const letters = new Map<LetterUuid, Letter>()
  let kept = 0
  const remove = (uuid: LetterUuid): void => {
    const letter = letters.get(uuid)
    if (letter !== undefined) kept -= sizeOf(letter)
    letters.delete(uuid)
  }
  const put = (id: string, { cut, retriedAt, handled, ...body }: DeadLetter, time: number): void => {
    const uuid = uuidOf({ id })
    const known = letters.get(uuid)
    if (retriedAt !== undefined) {
      if (known === undefined) return
      const { handled: _, ...still } = known
      letters.set(uuid, { ...still, retriedAt, ...(handled === undefined ? {} : { handled }) })
      return
    }
    const mark = known?.handled === undefined ? {} : { handled: known.handled }
    const letter = { ...body, id, time, cut: cut === true, retriedAt: known?.retriedAt ?? null, ...mark }
    remove(uuid)
    letters.set(uuid, letter)
    kept += sizeOf(letter)
    while (letters.size > max || (kept > keptMax && letters.size > 1)) remove(letters.keys().next().value!)
  }
  return {
    take: ({ topic, key, value, time }) => {
      const read = readTimedLetter({ topic, key, value: value ?? '', headers: {} })
      if (read.ok) put(read.value.id, read.value.body, time ?? read.value.sentAt)
    },
    all: () => [...letters.values()].toSorted((a, b) => a.time - b.time),
    get: (uuid) => letters.get(uuid) ?? null,
  }
}
