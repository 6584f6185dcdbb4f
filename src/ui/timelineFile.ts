/** Reads a timeline that was kept in a file, and says what is wrong with a file that is none. */
import * as v from 'valibot'
import { messageOf } from '../vocabulary/errorText.ts'
import { jsonSizeProblem } from '../vocabulary/jsonSize.ts'
import { canonicalUuid } from '../vocabulary/uuid.ts'
import { Timeline } from './shapes.ts'
import { sizeOfStep } from './timelineSteps.ts'
import { type Loaded, loaded, pageError } from './loaded.ts'

const MIB = 1024 * 1024
/** In bytes. A timeline of 2,000 steps with their events is half as large. */
export const FILE_MAX = 4 * MIB
/** In characters, as a page shows the steps: recorded events are indented, so they take more room than in the file. */
const DRAWN_MAX = 16 * MIB
const STEPS_MAX = 5000
const FILE_NAME_MAX = 100
/** Of the whole document. A step rarely has more than thirty values. Depth is judged where it is shown. */
const SIZE_MAX = { values: 200 * STEPS_MAX, depth: Infinity }

/** What the schema does not say, and a page could not show; null: nothing is wrong. */
const wrongIn = ({ arq, project_id: project, steps }: Timeline): string | null => {
  if (canonicalUuid(arq) === null) return 'arq: it must be a UUID'
  if (project?.isWellFormed() === false) return 'project_id: it holds half of a surrogate pair'
  if (steps.length === 0) return 'steps: there must be at least one'
  if (steps.length > STEPS_MAX) return `steps: at most ${STEPS_MAX} are shown; these are ${steps.length}`
  let drawn = 0
  for (const [at, step] of steps.entries()) {
    const size = sizeOfStep(step, at)
    if (typeof size === 'string') return size
    drawn += size
  }
  return drawn > DRAWN_MAX ? `steps: with their indentation they must not be larger than ${DRAWN_MAX / MIB} MiB` : null
}

const NONE = 'It is not a timeline as the console exports it.'
const jsonIn = (bytes: Uint8Array): Loaded<unknown> => {
  const problem = jsonSizeProblem(bytes, SIZE_MAX)
  if (problem !== null) return pageError('refused', problem)
  try {
    return loaded(JSON.parse(new TextDecoder().decode(bytes)))
  } catch (error) {
    return pageError('refused', `It is not JSON: ${messageOf(error)}`)
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
  const json = jsonIn(new Uint8Array(await file.arrayBuffer()))
  const read = json.ok ? timelineIn(json.value) : json
  return read.ok
    ? loaded({ name, timeline: read.value })
    : pageError('refused', `The file ${name} cannot be opened. ${read.error.text}`)
}
export const TOO_LARGE = pageError(
  'refused',
  `file: it is larger than ${FILE_MAX / MIB} MiB. No timeline that the console exports is.`,
)
