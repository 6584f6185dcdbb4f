/**
 * Draws the timeline of an accelerator request as text: each step with its time, and a bar for the time since the
 * previous step. Pure.
 */
import type { Timeline } from './apiShapes.ts'
import { visibleJson } from '../../vocabulary/text.ts'

const COLUMNS = 40
/** A longer time without a step is drawn only this long, so that fast steps remain visible. */
const GAP_MAX_MS = 5000
/** A longer name of a step stands in its line alone, and does not make all others as wide. */
const NAME_MAX = 60
const MARKS = { bar: '=', cut: '/', step: '|' }

type Step = Timeline['steps'][number]

const since = (ms: number): string => {
  const seconds = ms / 1000
  if (seconds < 120) return `+${seconds.toFixed(3)} s`
  return seconds < 7200 ? `+${(seconds / 60).toFixed(1)} min` : `+${(seconds / 3600).toFixed(1)} h`
}
const detailOf = ({ cause, detail }: Step): string =>
  [
    ...(cause === null ? [] : [`by ${cause}`]),
    ...Object.entries(detail).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : visibleJson(value)}`,
    ),
  ].join(' ')

/** The bar from the column of the previous step to that of this step. */
const barOf = (from: number, to: number, isCut: boolean): string =>
  `${' '.repeat(from)}${(isCut ? MARKS.cut : MARKS.bar).repeat(to - from)}${MARKS.step}`.padEnd(COLUMNS + 1)

/** A head line that identifies the request, then one line for each step. */
export const timelineDrawing = ({
  arq,
  project_id: project,
  deleted,
  total_ms: total,
  steps,
}: Timeline): readonly string[] => {
  // a file may say anything
  const gaps = steps.map(({ took_ms: took }) => Math.max(0, took ?? 0))
  const drawn = gaps.map((gap) => Math.min(gap, GAP_MAX_MS))
  const whole = Math.max(
    1,
    drawn.reduce((sum, each) => sum + each, 0),
  )
  const longest = steps.reduce((most, { step }) => Math.max(most, step.length), 0)
  const names = Math.min(longest, NAME_MAX)
  let [at, shown] = [0, 0]
  const lines = steps.map((step, index) => {
    const from = Math.round((shown / whole) * COLUMNS)
    at += gaps[index]!
    shown += drawn[index]!
    const bar = barOf(from, Math.round((shown / whole) * COLUMNS), gaps[index]! > GAP_MAX_MS)
    return `${since(at).padStart(11)}  ${bar}  ${step.step.padEnd(names)}  ${detailOf(step)}`.trimEnd()
  })
  const begun = steps[0] === undefined ? '' : `, from ${steps[0].at}`
  const state = deleted ? ', deleted' : ''
  const cut = gaps.some((gap) => gap > GAP_MAX_MS)
    ? [`${MARKS.cut} stands for more than ${GAP_MAX_MS / 1000} s without a step`]
    : []
  return [
    `accelerator request ${arq}, project ${project ?? '-'}${state}${begun}, ${since(total).slice(1)} in all`,
    ...lines,
    ...cut,
  ]
}
