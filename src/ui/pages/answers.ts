/** Loads the pages about explanations, capacity, usage, events and loaded images. */
import { type Api, at } from '../api.ts'
import * as shapes from '../answerShapes.ts'
import { offersOf } from '../actions.ts'
import { type Loaded, mapped, pageError } from '../loaded.ts'
import { lineOf } from '../eventLines.ts'
import { newestEvent } from '../newestEvent.ts'
import { WITH_FORMER } from '../programActions.ts'
import { Overview } from '../shapes.ts'
import { type Load, filterOf } from './loader.ts'

const DRAFT_MAX = 8000

const drafted = async (api: Api, text: string, query: string): Promise<Loaded<shapes.Explanation>> => {
  if (text.length > DRAFT_MAX) return pageError('refused', `The draft must not have more than ${DRAFT_MAX} characters.`)
  try {
    const groups: unknown = JSON.parse(text)
    return await api.ask(`/profile_checks${query}`, shapes.Explanation, { groups })
  } catch (error) {
    return pageError('refused', `The draft is not JSON: ${String(error)}`)
  }
}

export const explain: Load = async ({ api, query }) => {
  const { profile = '', draft = '', host = '' } = query
  const only = host === '' ? '' : at`?host=${host}`
  const stored = () => api.ask(at`/device_profiles/${profile}/check` + only, shapes.Explanation)
  const explanation = draft !== '' ? await drafted(api, draft, only) : profile !== '' ? await stored() : null
  return { view: 'explain', title: 'Explain', body: { explanation, profile, draft, host } }
}

export const capacity: Load = async ({ api, query }) => {
  const filter = filterOf(query, ['resource_class', 'trait'])
  const asked = new URLSearchParams(filter).toString()
  const [counted, overview] = await Promise.all([
    api.get(`/capacity?${asked}`, shapes.Capacity),
    api.get('/overview', Overview),
  ])
  const placement = overview.ok ? (overview.value.program['placement'] ?? 'absent') : null
  return { view: 'capacity', title: 'Capacity', body: { capacity: counted, filter, placement } }
}

const usageOf = ({ api, query }: Parameters<Load>[0]) => {
  const filter = filterOf(query, ['from', 'until', 'period', 'project_id'])
  return { filter, answer: api.get(`/usage?${new URLSearchParams(filter).toString()}`, shapes.Usage) }
}
export const usage: Load = async (asked) => {
  const { filter, answer } = usageOf(asked)
  return { view: 'usage', title: 'Usage', body: { usage: await answer, filter } }
}

const quoted = (value: string | number | null): string => {
  const text = String(value ?? '')
  // a spreadsheet would take a value that begins like this for a formula
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
const CSV = ['project_id', 'resource_class', 'from', 'until', 'device_seconds', 'bindings'] as const
/** The lines of the page about usage as comma separated values. */
export const usageCsv = async (asked: Parameters<Load>[0]): Promise<Loaded<string>> =>
  mapped(await usageOf(asked).answer, ({ usage: lines }) =>
    [CSV.join(','), ...lines.map((line) => CSV.map((name) => quoted(line[name])).join(','))]
      .join('\r\n')
      .concat('\r\n'),
  )

export const EVENT_FILTERS = ['kind', 'type', 'subject', 'host', 'instance', 'project', 'request'] as const
const EVENTS_MAX = 100

export const events: Load = async ({ api, query }) => {
  const filter = filterOf(query, EVENT_FILTERS)
  // a page that could not be drawn at first asks with an empty one
  const begin: Loaded<string> = query['after'] ? { ok: true, value: query['after'] } : await newestEvent(api)
  if (!begin.ok) return { view: 'events', title: 'Events', body: { events: begin, filter, after: '', paused: false } }
  const asked = new URLSearchParams({ ...filter, after: begin.value, limit: String(EVENTS_MAX) }).toString()
  const read = mapped(await api.get(`/events?${asked}`, shapes.Events), ({ events: some, next, more }) => ({
    lines: some.map(lineOf),
    next,
    more,
  }))
  return { view: 'events', title: 'Events', body: { events: read, filter, after: begin.value, paused: false } }
}

export const programs: Load = async ({ api, query, may }) => {
  const after = query['after'] === undefined ? '' : at`?marker=${query['after']}`
  const read = await api.get(`/programs${after}`, shapes.Programs)
  const last = read.ok && read.value.programs_links !== undefined ? read.value.programs.at(-1) : undefined
  return {
    view: 'programs',
    title: 'Programming',
    body: {
      list: mapped(read, ({ programs: some }) => some),
      offers: offersOf('programs', WITH_FORMER, may),
      turn: { later: null, earlier: last === undefined ? null : at`programs?after=${last.deployable_uuid}` },
    },
  }
}
