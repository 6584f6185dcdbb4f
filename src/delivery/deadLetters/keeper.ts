/**
 * The dead letters as a control shows and handles them. They are read from the topic, since hosts and other controls
 * store letters too; on the bus inside the process, which has no topic that lasts, what is published is kept.
 *
 * LETTERS-1 the topic is read only once somebody has asked for the letters or for their number, and then followed until
 *    the program ends; a read that breaks off is begun again after a pause;
 * LETTERS-2 nobody is shown letters of a topic that was not read to its end: the question waits, at most `WAIT_MS`, and
 *    is then refused;
 * LETTERS-3 a repeated command is known by the marks on the letter, and is carried out once, also by two controls one
 *    after the other. Two controls at the same time may send a message twice, which every consumer tolerates;
 * LETTERS-4 a letter is forgotten when it was first read longer ago than its topic keeps messages, whatever its own
 *    moment, which is that of another clock (BOX-4);
 * LETTERS-5 the number of open letters is that of the topic once it was read to its end, also while a further read has
 *    broken off. Before, it is the number of those that this process has stored, until a day has passed without one: a
 *    control that may not read the topic cannot know that they were handled;
 * LETTERS-6 commands on the same letter are carried out one after another. One that waits longer than `TURN_MS` for its
 *    turn is refused.
 */
import type { DeadLetter, DeadLetterDetail, DeadLetters, DeadLettersAsked } from '../../actors/answers/deadLetters.ts'
import type { Listed } from '../../actors/answers/rows.ts'
import type { Caller } from '../../actors/caller.ts'
import { type Bus, Unpublishable } from '../../bus/port.ts'
import { type Clock, DAY_MS } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { LetterUuid } from '../../vocabulary/identifiers.ts'
import { createKeyedMutex } from '../../vocabulary/keyedMutex.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { CATALOGUE, KEEP_MS } from '../../wire/catalogue.ts'
import type { BusRecord } from '../../wire/envelope.ts'
import { type Box, KEPT_MAX, LETTERS_MAX, type Letter, letterBox, uuidOf } from './box.ts'
import { mark, refusalOf, sendAgain } from './handle.ts'
import { type Follow, createReading } from './reading.ts'
import { detailOf, stateOf } from './shown.ts'

type Count = { readonly count: number; readonly lastAt: number | null }
type Parts<Carried> = {
  readonly bus: Carried
  readonly clock: Clock
  readonly log: Log
  /** Null: the bus is inside the process. */
  readonly follow: Follow | null
  /** How long the topic keeps messages; absent: as the catalogue says. */
  readonly keepMs?: number | undefined
}
export type Keeper<Carried> = DeadLetters & {
  /** The bus, which passes on what is stored among the dead letters. */
  readonly bus: Carried
  /** Letters that nobody has handled (LETTERS-5). `lastAt`: of the newest of them. */
  readonly count: () => Count
  readonly stop: () => Promise<void>
}

const { topic: TOPIC, keep } = CATALOGUE.deadLetters
const TURN_MS = 10_000
const OWN_MS = DAY_MS
const NONE: Count = { count: 0, lastAt: null }

const unstored = (error: unknown): Outcome<never> =>
  error instanceof Unpublishable
    ? refuse({ kind: 'conflict', reason: `the bus does not take it: ${textOf(error)}` })
    : refuse({
        kind: 'unavailable',
        reason: `the bus does not answer, and the message may have been sent all the same: ${textOf(error)}`,
        retryAfterSeconds: 5,
      })

type How = NonNullable<Letter['handled']>['how']
/** Null: it can be done. */
const hindrance = (letter: Letter, how: How): Outcome<never> | null => {
  const id = uuidOf(letter)
  const refusal = how === 'replayed' ? refusalOf(letter) : null
  if (refusal !== null) return refuse({ kind: 'conflict', reason: `dead letter ${id} is not sent again: ${refusal}` })
  const state = stateOf(letter)
  return how === 'dropped' && state === 'replayed'
    ? refuse({ kind: 'bad_state', resource: 'dead_letter', id, state, allowed: ['open'] })
    : null
}

/** `letters`: oldest first. */
const pageOf = (
  letters: readonly Letter[],
  { state, topic, limit, marker }: DeadLettersAsked,
): Outcome<Listed<DeadLetter>> => {
  const all = letters.toReversed()
  // the marker may have been handled since the page that ended with it
  const from = marker === undefined ? 0 : all.findIndex((letter) => uuidOf(letter) === marker) + 1
  if (marker !== undefined && from === 0) return refuse({ kind: 'not_found', resource: 'marker', id: marker })
  const some = all
    .slice(from)
    .filter((letter) => stateOf(letter) === state && (topic === undefined || letter.topic === topic))
  const items = some.slice(0, limit).map(detailOf)
  const last = limit < some.length ? items.at(-1) : undefined
  return done({ items, next: last === undefined ? null : { value: last.at, key: last.uuid } })
}

type Ports = { readonly bus: Pick<Bus, 'publish'>; readonly clock: Clock; readonly log: Log }
const createHandling =
  ({ bus, clock, log }: Ports, box: Box) =>
  async (how: How, caller: Caller, letter: Letter, note: OperatorNote): Promise<Outcome<DeadLetterDetail>> => {
    const { commandId, requestId } = caller
    const isRepeated = commandId !== undefined && box.isDone(uuidOf(letter), commandId)
    if (isRepeated || (how === 'dropped' && stateOf(letter) === 'dropped')) return done(detailOf(letter))
    const against = hindrance(letter, how)
    if (against !== null) return against
    const handled = { how, ...note, request: requestId, ...(commandId === undefined ? {} : { command: commandId }) }
    try {
      await (how === 'replayed' ? sendAgain({ bus, clock }, letter, handled) : mark({ bus, clock }, letter, handled))
    } catch (error) {
      return unstored(error)
    }
    const { id, topic, key } = letter
    log.info({ id, topic, key, ...note, request: requestId }, `deadLetter.${how}`)
    return done(detailOf(box.get(uuidOf(letter)) ?? letter))
  }

/** One job after the other on the same letter. */
const createTurns = (clock: Clock) => {
  const mutex = createKeyedMutex(clock)
  return async <Value>(uuid: LetterUuid, job: () => Promise<Outcome<Value>>): Promise<Outcome<Value>> => {
    const leave = await mutex.enter(uuid, TURN_MS)
    if (leave === null)
      return refuse({ kind: 'unavailable', reason: 'the dead letter is being handled', retryAfterSeconds: 5 })
    try {
      return await job()
    } finally {
      leave()
    }
  }
}

export const openDeadLetters = <Carried extends Pick<Bus, 'publish'>>(parts: Parts<Carried>): Keeper<Carried> => {
  const { clock, log, keepMs = KEEP_MS[keep] } = parts
  const box = letterBox(clock, LETTERS_MAX, KEPT_MAX)
  const letters = (): Box => {
    box.forget(clock.now() - keepMs)
    return box
  }
  const reading = createReading(parts, box)
  const inTurn = createTurns(clock)
  let own = NONE
  const noted = (record: BusRecord): void => {
    if (record.topic !== TOPIC) return
    if (box.take(record) !== 'mark') own = { count: own.count + 1, lastAt: clock.now() }
  }
  const publish: Bus['publish'] = async (batch) => {
    await parts.bus.publish(batch)
    batch.forEach(noted)
  }
  const open = () =>
    letters()
      .all()
      .filter((letter) => stateOf(letter) === 'open')
  const find = async (uuid: LetterUuid): Promise<Outcome<Letter>> => {
    const read = await reading.readToEnd()
    if (!read.ok) return read
    const letter = letters().get(uuid)
    return letter === null ? refuse({ kind: 'not_found', resource: 'dead_letter', id: uuid }) : done(letter)
  }
  const handle = createHandling({ bus: { publish }, clock, log }, box)
  const handling =
    (how: How): DeadLetters['replay'] =>
    (caller, uuid, note) =>
      inTurn(uuid, async () => {
        const found = await find(uuid)
        return found.ok ? handle(how, caller, found.value, note) : found
      })
  return {
    bus: { ...parts.bus, publish },
    count: () => {
      reading.begin()
      if (!reading.wasCurrent()) return own.lastAt !== null && clock.now() - own.lastAt < OWN_MS ? own : NONE
      const some = open()
      return { count: some.length, lastAt: some.at(-1)?.time ?? null }
    },
    list: async (asked) => {
      const read = await reading.readToEnd()
      return read.ok ? pageOf(letters().all(), asked) : read
    },
    get: async (uuid) => {
      const found = await find(uuid)
      return found.ok ? done(detailOf(found.value)) : found
    },
    replay: handling('replayed'),
    drop: handling('dropped'),
    stop: reading.stop,
  }
}
