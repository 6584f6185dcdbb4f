/** Makes lines for pages of the events that the API returns. Pure. */
import { type UnknownRecord, membersOf } from '../vocabulary/record.ts'
import type { Event, EventLine } from './answerShapes.ts'

/** In characters. */
const FACTS_MAX = 240
const kindIn = (data: unknown): string => {
  const { entity: key } = membersOf(data)
  return typeof key === 'string' ? (key.split('/')[0] ?? '') : ''
}
/** The event within the data of a fact. */
export const factOf = (data: unknown): UnknownRecord => membersOf(membersOf(data)['event'])
export const lineOf = ({ id, event: { type, subject, time, data } }: Event): EventLine => {
  const { type: _, ...fields } = factOf(data)
  const facts = JSON.stringify(fields)
  return {
    id,
    kind: kindIn(data),
    type: type.replace('accelerando.fact.', ''),
    subject,
    at: time,
    facts: facts.length > FACTS_MAX ? `${facts.slice(0, FACTS_MAX)} …` : facts,
  }
}
