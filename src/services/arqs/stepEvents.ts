/** The recorded event behind a step of a timeline, as readers of the bus and of the stream of events get it. */
import type { Caller } from '../../actors/control.ts'
import { arqsOf, causeFor, forProject } from '../../actors/eventAudience.ts'
import { lettersOf } from '../../actors/reactions.ts'
import type { Event } from '../../actors/runtime/decider.ts'
import { idOf, kindOf } from '../../actors/runtime/memory.ts'
import type { FeedRow } from '../../actors/runtime/ports.ts'
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import { type FactBody, record } from '../../wire/message.ts'

/**
 * The CloudEvent of the event at this index of the row, as text; null: the caller may not read it. A project reads an
 * event of an instance here only if it is about this request alone.
 */
export const stepEvent = (
  row: FeedRow,
  index: number,
  arq: ArqUuid,
  { isAdmin, userId }: Pick<Caller, 'isAdmin' | 'userId'>,
): string | null => {
  const event: Event = row.events[index]!
  const kind = kindOf(row.key)
  const letter = lettersOf(row).find(({ id }) => id === `${row.key}.${row.version}.${index}`)
  if (letter === undefined) return null
  if (isAdmin) return record(letter).value
  const shown = arqsOf(kind, idOf(row.key), event).every((one) => one === arq) ? forProject(kind, event) : null
  if (shown === null) return null
  const fact = { ...(letter.data as FactBody), event: shown, cause: causeFor(row.cause, userId) }
  return record({ ...letter, data: fact }).value
}
