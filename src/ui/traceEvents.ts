/**
 * Writes the timeline of an accelerator request in the trace-event format, which trace viewers such as Perfetto read: a
 * track for each party that works or is waited for, a slice for each span of time, and a mark for each step. Pure.
 */
import type { Timeline } from './shapes.ts'
import { type Recorder, recorderOf } from './view/recorder.ts'

type Args = Readonly<Record<string, unknown>>
/**
 * The fields of the format. `ts` and `dur` are microseconds; `ph` is the kind: a slice, a mark, or the name of a
 * process or track.
 */
export type TraceEvent = { readonly name: string; readonly pid: number; readonly tid: number; readonly args: Args } & (
  | { readonly ph: 'X'; readonly cat: string; readonly ts: number; readonly dur: number }
  | { readonly ph: 'i'; readonly cat: string; readonly ts: number; readonly s: 't' | 'p' }
  | { readonly ph: 'M' }
)
export type TraceFile = {
  readonly displayTimeUnit: 'ms'
  readonly otherData: Args
  readonly traceEvents: readonly TraceEvent[]
}

const PROCESS = 1
/** The track of the steps, above those of the parties. */
const STEPS = 0
const MICRO = 1000

const named = (kind: 'process_name' | 'thread_name', tid: number, name: string): TraceEvent => ({
  ph: 'M',
  name: kind,
  pid: PROCESS,
  tid,
  args: { name },
})
const stepOf = ({ at, step, cause, request_id, detail }: Timeline['steps'][number]): TraceEvent => ({
  ph: 'i',
  name: step,
  cat: 'step',
  ts: Date.parse(at) * MICRO,
  pid: PROCESS,
  tid: STEPS,
  s: 't',
  args: { cause, request_id, ...detail },
})
const limitOf = ({ limit }: Recorder): readonly TraceEvent[] => {
  if (limit === null) return []
  const name = limit.of === 'bind' ? 'deadline of the bind' : 'Nova is told until then'
  const ts = Date.parse(limit.at) * MICRO
  return [{ ph: 'i', name, cat: 'limit', ts, pid: PROCESS, tid: STEPS, s: 'p', args: {} }]
}

/** `now`: the end of what has not ended, in ms since the epoch. */
export const traceEventsOf = (timeline: Timeline, now: number): TraceFile => {
  const recorder = recorderOf(timeline, now)
  const begun = Date.parse(timeline.steps[0]?.at ?? '') * MICRO
  const parties = [...new Set(recorder.spans.map(({ who }) => who))]
  return {
    displayTimeUnit: 'ms',
    otherData: { arq: timeline.arq, project_id: timeline.project_id, deleted: timeline.deleted },
    traceEvents: [
      named('process_name', STEPS, `accelerator request ${timeline.arq}`),
      named('thread_name', STEPS, 'steps'),
      ...parties.map((who, at) => named('thread_name', at + 1, who)),
      ...timeline.steps.map(stepOf),
      ...recorder.spans.map(({ label, who, kind, from, to, open, note }): TraceEvent => ({
        ph: 'X',
        name: label,
        cat: kind,
        ts: begun + from * MICRO,
        dur: (to - from) * MICRO,
        pid: PROCESS,
        tid: parties.indexOf(who) + 1,
        args: { open, note },
      })),
      ...limitOf(recorder),
    ],
  }
}
