/** Every recorded transition of a request and of a handle is in its state table, event by event (S3). */
import type { ArqEvent } from '../actors/arq/messages.ts'
import type { Arq } from '../actors/arq/decider.ts'
import { type Move, MOVES as ARQ_MOVES } from '../actors/arq/states.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { COMPARISON } from '../actors/deployable/slots.ts'
import type { Deployable, SlotHandle } from '../actors/deployable/state.ts'
import { HANDLE_MOVES, type HandleState, MOVES as HANDLE_TABLE } from '../actors/deployable/states.ts'
import { ENTITIES } from '../actors/entities.ts'
import { fold } from '../actors/runtime/memory.ts'
import { type Finding, type Invariant, type Step, arqsIn, at, deployablesIn } from './history.ts'

const MOVE_OF: Readonly<Record<ArqEvent['type'], Move | null>> = {
  ArqCreated: 'create',
  BindStarted: 'bind',
  Bound: 'bound',
  BindFailed: 'bindFailed',
  Unbound: 'unbind',
  ReleaseFailed: 'releaseFailed',
  Released: 'released',
  HandleRelocated: null,
  ArqRemoved: 'remove',
}
function* arqMoves(step: Step): Iterable<Finding> {
  for (const { rowCount, key, row, events, before } of arqsIn(step)) {
    let state = before
    for (const event of events) {
      const move = MOVE_OF[event.type]
      const to = move === null ? state.status : ARQ_MOVES[state.status][move]
      const after = fold<Arq>(ENTITIES['arq']!, state, [event], row.at)
      if (to !== after.status)
        yield at(rowCount, [key], `${key} went from ${state.status} by ${event.type} to ${after.status}`)
      state = after
    }
  }
}
const leadsTo = (from: HandleState, to: HandleState): boolean =>
  HANDLE_MOVES.some((move) => HANDLE_TABLE[from][move] === to)
/** `withheld`: the handle was marked while a request had it, so a move that would free it quarantines it. */
const lawful = (from: HandleState | undefined, to: HandleState, withheld: boolean): boolean =>
  from === undefined ||
  from === to ||
  leadsTo(from, to) ||
  // the handle was released while the discovery report no longer contained it
  (to === 'missing' && leadsTo(from, 'free')) ||
  (to === 'quarantined' && withheld && leadsTo(from, 'free'))
type Kept = ReturnType<typeof deployablesIn>[number]
/** The states of a deployable after each event of a row. A row that cannot be read changes nothing. */
function* statesIn({
  row,
  events,
  before,
  after,
}: Kept): Iterable<readonly [event: DeployableEvent, Deployable, Deployable]> {
  let state = before
  for (const event of before === after ? [] : events) {
    const reached = fold<Deployable>(ENTITIES['deployable']!, state, [event], row.at)
    yield [event, state, reached]
    state = reached
  }
}
/** A handle is granted only when it is free; a repeated grant prepares again what its request holds. */
const grantable = (event: DeployableEvent, uuid: string, from: HandleState | undefined): boolean =>
  event.type !== 'Granted' ||
  event.handle !== uuid ||
  (event.repeated === undefined ? from === undefined || HANDLE_TABLE[from].grant !== undefined : from === 'held')
/** What is wrong with how the event moved the handle; null: nothing. */
const wrongMove = (event: DeployableEvent, was: SlotHandle | undefined, handle: SlotHandle): string | null => {
  const { uuid, state, quarantine } = handle
  const withheld = quarantine?.inDoubt === true || quarantine?.by === COMPARISON
  if (!lawful(was?.state, state, withheld)) return `handle ${uuid} went from ${was?.state} to ${state}`
  return grantable(event, uuid, was?.state) ? null : `handle ${uuid} was granted while it was ${was?.state}`
}
const wrongMoves = (change: Kept): readonly string[] =>
  [...statesIn(change)].flatMap(([event, before, after]) =>
    Object.values(after.handles).flatMap((handle) => {
      const was = before.handles[handle.uuid]
      return was === handle ? [] : (wrongMove(event, was, handle) ?? [])
    }),
  )
function* handleMoves(step: Step): Iterable<Finding> {
  for (const change of deployablesIn(step))
    for (const line of wrongMoves(change)) yield at(change.rowCount, [change.key], line)
}
const closed: Invariant = {
  name: 'S3',
  meaning: 'every recorded transition is in its state table',
  judge: () => ({
    *step(step) {
      yield* arqMoves(step)
      yield* handleMoves(step)
    },
    end: ({ unreadable }) => unreadable,
  }),
}

export const moveInvariants: readonly Invariant[] = [closed]
