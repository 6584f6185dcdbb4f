/** Draws the timeline of an accelerator request as text: each step with its moment, and a bar for the time since the step before. Pure. */
import type { Timeline } from './apiShapes.ts'
import { visibleJson } from '../../text.ts'

const COLUMNS = 40
/** Of a longer time without a step only so much is drawn, so that what happens fast can be seen. */
const GAP_MAX_MS = 5000
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

/** The columns from the step before to this one. */
const barOf = (from: number, to: number, isCut: boolean): string =>
  `${' '.repeat(from)}${(isCut ? MARKS.cut : MARKS.bar).repeat(to - from)}${MARKS.step}`.padEnd(COLUMNS + 1)

/** One line for each step below a line that says whose they are. */
export const timelineDrawing = ({
  arq,
  project_id: project,
  deleted,
  total_ms: total,
  steps,
}: Timeline): readonly string[] => {
  const gaps = steps.map(({ took_ms: took }) => took ?? 0)
  const drawn = gaps.map((gap) => Math.min(gap, GAP_MAX_MS))
  const whole = Math.max(
    1,
    drawn.reduce((sum, each) => sum + each, 0),
  )
  const names = Math.max(0, ...steps.map(({ step }) => step.length))
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
