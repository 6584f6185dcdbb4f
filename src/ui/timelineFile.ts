/** Reads a timeline that was kept in a file, and says what is wrong with a file that is none. */
import * as v from 'valibot'
import { canonicalUuid } from '../uuid.ts'
import { Timeline } from './shapes.ts'
import { type Loaded, loaded, pageError } from './told.ts'
import { MOMENTS } from './view/steps.ts'

/** In bytes. A timeline of 2,000 steps with their events is half as large. */
export const FILE_MAX = 4 * 1024 * 1024
const STEPS_MAX = 5000
const FILE_NAME_MAX = 100

const isMoment = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value))
const MOMENT = 'it must be a moment such as 2026-03-01T08:15:30.123Z'

/** What the schema does not say, and a page could not show; null: nothing is wrong. */
const wrongIn = ({ arq, steps }: Timeline): string | null => {
  if (canonicalUuid(arq) === null) return 'arq: it must be a UUID'
  if (steps.length === 0) return 'steps: there must be at least one'
  if (steps.length > STEPS_MAX) return `steps: at most ${STEPS_MAX} are shown; these are ${steps.length}`
  for (const [at, step] of steps.entries()) {
    if (!isMoment(step.at)) return `steps.${at}.at: ${MOMENT}`
    const bad = MOMENTS.find((name) => name in step.detail && !isMoment(step.detail[name]))
    if (bad !== undefined) return `steps.${at}.detail.${bad}: ${MOMENT}`
  }
  return null
}

const NONE = 'It is not a timeline as the console exports it.'
const jsonIn = (text: string): Loaded<unknown> => {
  try {
    return loaded(JSON.parse(text))
  } catch (error) {
    return pageError('refused', `It is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
const timelineIn = (json: unknown): Loaded<Timeline> => {
  if (typeof json === 'object' && json !== null && 'traceEvents' in json)
    return pageError(
      'refused',
      'It is the form for trace viewers, such as Perfetto. Open the other file that the page of a request exports.',
    )
  const read = v.safeParse(Timeline, json)
  if (!read.success) {
    const [issue] = read.issues
    return pageError('refused', `${v.getDotPath(issue) ?? 'the file'}: ${issue.message}. ${NONE}`)
  }
  const wrong = wrongIn(read.output)
  return wrong === null ? loaded(read.output) : pageError('refused', `${wrong}. ${NONE}`)
}

type Opened = { readonly name: string; readonly timeline: Timeline }
/** `file`: what the form has sent under this name. */
export const openedFile = async (file: unknown): Promise<Loaded<Opened>> => {
  if (!(file instanceof File) || (file.name === '' && file.size === 0))
    return pageError('refused', 'file: choose the file that is to be opened.')
  const name = file.name.slice(0, FILE_NAME_MAX)
  const json = jsonIn(await file.text())
  const read = json.ok ? timelineIn(json.value) : json
  return read.ok
    ? loaded({ name, timeline: read.value })
    : pageError('refused', `The file ${name} cannot be opened. ${read.trouble.text}`)
}
export const TOO_LARGE = pageError(
  'refused',
  `file: it is larger than ${FILE_MAX / 1024 / 1024} MiB. No timeline that the console exports is.`,
)
