/**
 * What an action has recorded, for the page that follows it. The events are found by the id of its request, through the
 * API and with the rights of the one who looks.
 *
 * RECORDED-1 the search begins at the newest event before the change, or before its form was shown: whoever sends a
 *    form twice finds what the first time recorded;
 * RECORDED-2 the page waits a short time for the events and for the answers of hosts and of Nova to them. What is still
 *    missing then is said, with a link to the place where it will appear.
 */
import type { Clock } from '../vocabulary/clock.ts'
import { pause } from '../vocabulary/waiting.ts'
import { type Event, Events } from './answerShapes.ts'
import { ANSWERS, type Awaited, answerTo, awaitedBy, flawIn } from './awaited.ts'
import { type Api, at } from './api.ts'
import { lineOf } from './eventLines.ts'
import { newestEvent } from './newestEvent.ts'
import { type Loaded, loaded, mapped } from './loaded.ts'
import type { Done } from './view/screen.ts'

const WAIT_MS = 3000
const LOOK_MS = 200
const EVENTS_MAX = 50
/** Other answers about the same entity may lie between. */
const ANSWERS_MAX = 500
/** An answer of the API looks through a few thousand events; so many answers are asked for at most. */
const PAGES_MAX = 4

/** The id of an event after which others are looked for, as it stands in forms and addresses. */
const EVENT_ID = /^[\w.-]{1,80}$/
export const eventIdIn = (text: unknown): string => (typeof text === 'string' && EVENT_ID.test(text) ? text : '')
/** Everything that is recorded from now on comes after this event; empty: it cannot be read. */
export const newestEventId = async (api: Api): Promise<string> => {
  const newest = await newestEvent(api)
  return newest.ok ? newest.value : ''
}

type Looked = {
  readonly filter: string
  readonly after: string
  /** The most events of one answer of the API. */
  readonly limit: number
  /** Whether no further events are needed than those that were found so far. */
  readonly isEnough: (events: readonly Event[]) => boolean
}
/** The first events that match, until they are enough or so many pages were read. */
const firstEvents = async (api: Api, { filter, after, limit, isEnough }: Looked): Promise<Loaded<readonly Event[]>> => {
  const found: Event[] = []
  let from = after
  for (let read = 1; ; read++) {
    const page = await api.get(at`/events?after=${from}&limit=${limit}` + filter, Events)
    if (!page.ok) return found.length > 0 ? loaded(found) : page
    const { events, next, more } = page.value
    found.push(...events)
    if (!more || read === PAGES_MAX || isEnough(found)) return loaded(found)
    from = next
  }
}
/** At most `max` of them. */
const underRequest = async (api: Api, request: string, after: string, max: number): Promise<Loaded<readonly Event[]>> =>
  mapped(
    await firstEvents(api, {
      filter: at`&request=${request}`,
      after,
      limit: EVENTS_MAX,
      isEnough: ({ length }) => length >= max,
    }),
    (events) => events.slice(0, max),
  )

/** The event after which the events of a change are found that was carried out just now (RECORDED-1). */
export const eventIdBefore = async (
  api: Api,
  request: string,
  { form, change }: { readonly form: string; readonly change: string },
): Promise<string> => {
  if (form === '' || change === '') return form || change
  const found = await underRequest(api, request, change, 1)
  return found.ok && found.value.length > 0 ? change : form
}

type Answered = { readonly awaited: Awaited; readonly answer: Event | undefined }
type Found = { readonly events: readonly Event[]; readonly answered: readonly Answered[] }

const answersTo = async (api: Api, awaited: readonly Awaited[]): Promise<Loaded<readonly Event[]>> => {
  const [first] = awaited
  if (first === undefined) return loaded([])
  const subjects = [...new Set(awaited.map(({ subject }) => subject))]
  return firstEvents(api, {
    filter: at`&subject=${subjects.join(',')}&type=${ANSWERS.join(',')}`,
    after: first.after,
    limit: ANSWERS_MAX,
    isEnough: (answers) => awaited.every((each) => answerTo(each, answers) !== undefined),
  })
}
const look = async (api: Api, { request, since }: Asked): Promise<Loaded<Found>> => {
  const own = await underRequest(api, request, since, EVENTS_MAX)
  if (!own.ok) return own
  const awaited = own.value.flatMap((event) => awaitedBy(event) ?? [])
  return mapped(await answersTo(api, awaited), (answers) => ({
    events: own.value,
    answered: awaited.map((each) => ({ awaited: each, answer: answerTo(each, answers) })),
  }))
}
const isWhole = ({ events, answered }: Found): boolean =>
  events.length > 0 && answered.every(({ answer }) => answer !== undefined)

/** Looks again and again until nothing is missing, or the time is over (RECORDED-2). */
const lookUntilWhole = async (api: Api, clock: Pick<Clock, 'after'>, asked: Asked): Promise<Loaded<Found>> => {
  let over = !asked.waits
  const cancel = clock.after(WAIT_MS, () => void (over = true))
  try {
    for (;;) {
      const seen = await look(api, asked)
      if (over || !seen.ok || isWhole(seen.value)) return seen
      await pause(clock, LOOK_MS)
    }
  } finally {
    cancel()
  }
}

const whomIn = (answered: readonly Answered[]): string =>
  [...new Set(answered.map(({ awaited: { whom } }) => whom))].join(', ')
const outcomeOf = ({ events, answered }: Found): Pick<Done, 'tone' | 'text'> => {
  if (events.length === 0) return { tone: 'busy', text: '; no event of it can be read so far' }
  const missing = answered.filter(({ answer }) => answer === undefined)
  if (missing.length > 0) return { tone: 'busy', text: `; ${whomIn(missing)} has not answered yet` }
  const failed = answered.flatMap(({ awaited: { whom }, answer }) => {
    const flaw = answer === undefined ? null : flawIn(answer)
    return flaw === null ? [] : [`${whom} answered: ${flaw}`]
  })
  if (failed.length > 0) return { tone: 'bad', text: `; ${[...new Set(failed)].join('; ')}` }
  return { tone: 'good', text: answered.length > 0 ? `, and ${whomIn(answered)} has answered` : '' }
}
/** The events of the action, and the answers to them, as they were recorded. */
const linesOf = ({ events, answered }: Found) => [
  ...new Map(
    [...events, ...answered.flatMap(({ answer }) => answer ?? [])].map((event) => [event.id, lineOf(event)]),
  ).values(),
]

type Asked = { readonly request: string; readonly since: string; readonly waits: boolean }
/** `label`: the name of the action; `since`: empty where no such event is known; `waits`: as RECORDED-2 says. */
export const recordedBy = async (
  { api, clock }: { readonly api: Api; readonly clock: Pick<Clock, 'after'> },
  label: string,
  asked: Asked,
): Promise<Done> => {
  const { request, since } = asked
  const said = `${label}: recorded under ${request}`
  const all = at`events?after=${since || '0'}&request=${request}`
  if (since === '') return { tone: 'good', text: `${said}.`, recorded: { events: null, cut: false, all, follow: null } }
  const seen = await lookUntilWhole(api, clock, asked)
  if (!seen.ok) return { tone: 'good', text: `${said}.`, recorded: { events: seen, cut: false, all, follow: null } }
  const { tone, text } = outcomeOf(seen.value)
  const open = seen.value.answered.find(({ answer }) => answer === undefined)?.awaited
  const follow = open === undefined ? null : at`events?after=${open.after}&subject=${open.subject}`
  const cut = seen.value.events.length === EVENTS_MAX
  return { tone, text: `${said}${text}.`, recorded: { events: loaded(linesOf(seen.value)), cut, all, follow } }
}
