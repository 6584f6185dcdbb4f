/**
 * Collects dead letters while they are read, with what operators have done with them. Bounded.
 *
 * BOX-1 of too many letters the oldest are forgotten, whatever the order in which they are read: the partitions of a
 *    topic are read one after another;
 * BOX-2 a mark is kept for a letter that is not read yet: with partitions added meanwhile, it is on another one;
 * BOX-3 the moments of messages come from the clocks of others. One that is later than the moment at which this process
 *    first read the message, by its own clock, counts as that moment, so that it displaces no other letter for long.
 *    One that is no moment counts as the year 1970;
 * BOX-4 how long a letter is kept counts from the moment at which this process first read it: a letter of a host whose
 *    clock is behind is kept as long as any other.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../vocabulary/clock.ts'
import type { LetterUuid } from '../../vocabulary/identifiers.ts'
import { uuidOfHash } from '../../vocabulary/uuid.ts'
import type { DeadLetter } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { readTimedLetter } from '../../wire/message.ts'
import { type Ages, createAges } from './ages.ts'

export type Letter = Omit<DeadLetter, 'cut' | 'retriedAt' | 'handled'> & {
  readonly id: string
  /** When the letter was stored, in ms since the epoch (BOX-3). */
  readonly time: number
  readonly cut: boolean
  /** When its message was sent again or the letter was dropped; null: neither. */
  readonly retriedAt: string | null
  /** Absent: who did it was not recorded, or nobody did anything. */
  readonly handled?: NonNullable<DeadLetter['handled']>
}
/** A message as it was read. Without `time` the time in the message counts. */
export type Taken = Pick<BusRecord, 'topic' | 'key'> & {
  readonly value: string | null
  readonly time?: number
}
export type Box = {
  /**
   * Returns what the message was: a letter, or the mark on one, which is a later message with the same id. Null: it is
   * no dead letter, and is ignored.
   */
  readonly take: (message: Taken) => 'letter' | 'mark' | null
  /** Oldest first. */
  readonly all: () => readonly Letter[]
  readonly get: (uuid: LetterUuid) => Letter | null
  /** Whether the command is that of one of the last `COMMANDS_MAX` marks on the letter. */
  readonly isDone: (uuid: LetterUuid, commandId: string) => boolean
  /** Forgets the letters that were first read before the moment. */
  readonly forget: (before: number) => void
}
/** The most letters kept in memory, and the most characters of them. */
export const LETTERS_MAX = 10_000
export const KEPT_MAX = 32 * 1024 * 1024
/** The most letters of which marks are kept before the letters are read. */
const EARLY_MAX = 4000
const COMMANDS_MAX = 32

/** The id of a letter names a place on a topic, and is no part of an address: its hash is. */
export const uuidOf = ({ id }: Pick<Letter, 'id'>): LetterUuid =>
  uuidOfHash(createHash('sha1').update(`dead letter ${id}`).digest(), 5)

const sizeOf = ({ topic, key, reason, value, headers }: Unmarked): number =>
  [topic, key, reason, value, ...Object.entries(headers).flat()].reduce((sum, text) => sum + text.length, 0)
/** BOX-3 */
const countedTime = (time: number, since: number): number =>
  Number.isNaN(time) ? 0 : Math.min(Math.max(time, 0), since)

type Marks = Pick<Letter, 'retriedAt' | 'handled'> & { readonly commands: readonly string[] }
const UNMARKED: Marks = { retriedAt: null, commands: [] }
type Mark = Pick<DeadLetter, 'handled'> & { readonly retriedAt: string }
const markedAgain = ({ commands }: Marks, { retriedAt, handled }: Mark): Marks => {
  const command = handled?.command
  return {
    retriedAt,
    ...(handled === undefined ? {} : { handled }),
    commands:
      command === undefined ? commands : [...commands.filter((each) => each !== command), command].slice(-COMMANDS_MAX),
  }
}
type Unmarked = Omit<Letter, 'retriedAt' | 'handled'>
/** `since`: when this process first read it, by its own clock. */
type Held = { readonly letter: Unmarked; readonly size: number; readonly marks: Marks; readonly since: number }
const letterOf = ({ letter, marks: { retriedAt, handled } }: Held): Letter => ({
  ...letter,
  retriedAt,
  ...(handled === undefined ? {} : { handled }),
})

type Read = { readonly uuid: LetterUuid } & ({ readonly mark: Mark } | { readonly letter: Unmarked })
/** Null: no dead letter. */
const readTaken = ({ topic, key, value, time }: Taken): Read | null => {
  const read = readTimedLetter({ topic, key, value: value ?? '', headers: {} })
  if (!read.ok) return null
  const { id, body, sentAt } = read.value
  const uuid = uuidOf({ id })
  const { cut, retriedAt, handled, ...rest } = body
  return retriedAt === undefined
    ? { uuid, letter: { ...rest, id, time: time ?? sentAt, cut: cut === true } }
    : { uuid, mark: { retriedAt, handled } }
}

export const letterBox = (
  clock: Pick<Clock, 'now'>,
  max = LETTERS_MAX,
  keptMax = Number.POSITIVE_INFINITY,
  earlyMax = EARLY_MAX,
): Box => {
  const letters = new Map<LetterUuid, Held>()
  const early = new Map<LetterUuid, Marks>()
  const ages: Ages<LetterUuid> = createAges()
  let kept = 0
  const remove = (uuid: LetterUuid): void => {
    const held = letters.get(uuid)
    if (held === undefined) return
    kept -= held.size
    letters.delete(uuid)
    ages.remove(uuid, held.letter.time)
  }
  const mark = (uuid: LetterUuid, body: Mark): void => {
    const held = letters.get(uuid)
    if (held !== undefined) return void letters.set(uuid, { ...held, marks: markedAgain(held.marks, body) })
    const marks = markedAgain(early.get(uuid) ?? UNMARKED, body)
    early.delete(uuid)
    early.set(uuid, marks)
    if (early.size > earlyMax) early.delete(early.keys().next().value!)
  }
  const put = (uuid: LetterUuid, read: Unmarked): void => {
    const known = letters.get(uuid)
    const since = known?.since ?? clock.now()
    const letter = { ...read, time: countedTime(read.time, since) }
    const marks = known?.marks ?? early.get(uuid) ?? UNMARKED
    early.delete(uuid)
    remove(uuid)
    const size = sizeOf(letter)
    letters.set(uuid, { letter, size, marks, since })
    ages.add(uuid, letter.time)
    kept += size
    while (letters.size > max || (kept > keptMax && letters.size > 1)) remove(ages.oldest()!.item)
  }
  return {
    take: (message) => {
      const read = readTaken(message)
      if (read === null) return null
      if ('letter' in read) {
        put(read.uuid, read.letter)
        return 'letter'
      }
      mark(read.uuid, read.mark)
      return 'mark'
    },
    all: () => ages.all().map((uuid) => letterOf(letters.get(uuid)!)),
    get: (uuid) => {
      const held = letters.get(uuid)
      return held === undefined ? null : letterOf(held)
    },
    isDone: (uuid, commandId) => letters.get(uuid)?.marks.commands.includes(commandId) ?? false,
    forget: (before) => {
      for (const [uuid, { since }] of letters) if (since < before) remove(uuid)
    },
  }
}
