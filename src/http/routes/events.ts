/** Events in the order in which they were recorded: as a stream of server-sent events, or page by page. */
import * as v from 'valibot'
import { EVENT_ID, EVENT_KINDS } from '../../actors/events.ts'
import type { EventPage, EventsQuery } from '../../actors/events.ts'
import { EVENT_STREAM } from '../eventStream.ts'
import { integer, last, list } from '../query.ts'
import type { Arg } from '../query.ts'
import { reply, route } from '../route.ts'
import type { Answered, Call, Route } from '../route.ts'
import * as schemas from '../schemas.ts'
import { invalid } from '../faults.ts'

const LIMIT = { usual: 100, max: 1000 }
/** The maximal number of names in a list argument. */
const NAMES_MAX = 100

const NO_ID = 'it must be the id of an event, as it was received'
const after: Arg<string> = {
  read: (values, name) => {
    const id = last(values)
    return id === '' || EVENT_ID.test(id) ? { ok: true, value: id || undefined } : invalid(name, NO_ID)
  },
  schema: { type: 'string', pattern: EVENT_ID.source },
  mayBeEmpty: true,
  about: 'Only what follows the event with this id. Without it a stream begins now, and a page with the oldest event.',
}

const query = {
  after,
  type: list('Only these types, comma separated, such as Bound or accelerando.fact.Bound.'),
  kind: list(`Only facts about these: ${EVENT_KINDS.join(', ')}.`, { type: 'string', enum: EVENT_KINDS }),
  subject: list('Only facts about these entities: UUIDs, or names of hosts.'),
  host: list('Only facts that name one of these hosts.'),
  instance: list('Only facts that name one of these instances.'),
  project: list('Only facts about accelerator requests of these projects.'),
  request: list('Only facts that were recorded under one of these request ids.'),
  limit: integer(1, `Maximum number of events in a page: ${LIMIT.usual} unless said otherwise, ${LIMIT.max} at most.`),
}
type Filters = {
  readonly [Name in Exclude<keyof typeof query, 'after' | 'limit'>]: readonly string[] | undefined
}

/** An empty list counts as absent. */
const given = (name: keyof EventsQuery['filter'], values: readonly string[] | undefined): EventsQuery['filter'] =>
  values === undefined || values.every((value) => value === '') ? {} : { [name]: values }
const filterOf = ({ type, kind, subject, host, instance, project, request }: Filters): EventsQuery['filter'] => ({
  ...given('types', type),
  ...given('kinds', kind),
  ...given('subjects', subject),
  ...given('hosts', host),
  ...given('instances', instance),
  ...given('projects', project),
  ...given('requests', request),
})
const flawOf = (filters: Filters): ReturnType<typeof invalid> | null => {
  const long = Object.entries(filters).find(([, values]) => values !== undefined && values.length > NAMES_MAX)
  if (long !== undefined) return invalid(long[0], `at most ${NAMES_MAX} may be listed`)
  const known = filters.kind?.every((kind) => EVENT_KINDS.some((one) => one === kind))
  return known === false ? invalid('kind', `it must be among ${EVENT_KINDS.join(', ')}`) : null
}

const pageBody = ({ events, next, more }: EventPage) => ({
  events: events.map(({ id, text }) => ({ id, event: JSON.parse(text) as unknown })),
  next,
  more,
})

const tell = async ({
  events,
  caller,
  identifyAgain,
  query: asked,
  header,
}: Call<typeof query, undefined>): Promise<Answered> => {
  const { after: named, limit, ...filters } = asked
  const flaw = flawOf(filters)
  if (flaw !== null) return flaw
  const received = header('last-event-id') ?? ''
  if (received !== '' && !EVENT_ID.test(received)) return invalid('Last-Event-ID', NO_ID)
  // a client that reconnects by itself repeats its first URL, and names the last event that it received in the header
  const wanted = { after: received || (named ?? null), filter: filterOf(filters) }
  if (!header('accept')?.toLowerCase().includes(EVENT_STREAM)) {
    const page = await events.page(caller, wanted, Math.min(limit ?? LIMIT.usual, LIMIT.max))
    return page.ok ? reply(200, pageBody(page.value)) : page
  }
  const opened = await events.open(caller, wanted, identifyAgain)
  return opened.ok ? { ok: true, status: 200, events: opened.value } : opened
}

export const eventRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v2/events',
    rule: 'cyborg:event:get_all',
    query,
    docs: {
      summary:
        'Facts in the order in which they were recorded. With `Accept: text/event-stream` a stream that goes on as they happen, else a page. ' +
        'Only administrators are shown what is not about accelerator requests of their own project.',
      answers: { 200: v.object({ events: v.array(schemas.PublishedEvent), next: schemas.EventId, more: v.boolean() }) },
      streams:
        'Server-sent events. `data` of an event is the CloudEvent that Kafka gets, `event` its type and `id` its place. Others are `beat` ' +
        '(nothing new up to its id), `reset` (events were missed) and `bye` (the stream ends, and why).',
      headers: {
        'Last-Event-ID': {
          about: 'Counts instead of `after`; sent by a client that comes back.',
          schema: { type: 'string', pattern: `^$|${EVENT_ID.source}` },
        },
      },
      refusals: [409, 429],
    },
    handle: tell,
  }),
]
