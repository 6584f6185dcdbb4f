/**
 * Computes how the timeline of an accelerator request is drawn. Between two steps lies a span, in which somebody works
 * or something is waited for.
 *
 * SPAN-1 the lengths of spans are in proportion to their time;
 * SPAN-2 except that a span longer than `GAP_MS` in which nobody works is drawn short and marked as such, unless the
 *    person who looks has opened it.
 */
import type { Timeline } from '../shapes.ts'
import type { Tone } from './states.ts'
import { type Ways, USUAL, windowOf } from './ways.ts'
import { duration } from './words.ts'

export type Span = {
  /** The number of the step after which it begins, from 1. */
  readonly step: number
  /** In ms after the first step. */
  readonly from: number
  readonly to: number
  readonly label: string
  /** The party that works, or that is waited for. */
  readonly who: string
  /** `rest`: nothing has to happen. */
  readonly kind: 'work' | 'wait' | 'rest'
  readonly tone: Tone
  /** The span has not ended: `to` is the present time. */
  readonly open: boolean
  readonly note: string | null
}
export type Placed = Span & {
  /** Where the span is drawn, in percent of the width. */
  readonly x: number
  readonly width: number
  /** Of a long span in which nobody works (SPAN-2): whether it is drawn short; null of every other span. */
  readonly gap: 'short' | 'full' | null
}
export type Recorder = {
  readonly spans: readonly Span[]
  /** Those of the steps that are shown. */
  readonly placed: readonly Placed[]
  readonly waitingFor: Span | null
  /**
   * When waiting ends by itself, and whether it is the bind that fails then, or Nova that is not told any more. Null:
   * nothing is waited for, or there is no limit.
   */
  readonly limit: { readonly of: 'bind' | 'telling'; readonly at: string } | null
  /** The time from the acceptance of the last bind to its end; null: that bind has not ended, or there was none. */
  readonly bindMs: number | null
}

type Step = Timeline['steps'][number]
type Meaning = Pick<Span, 'label' | 'kind' | 'tone'> & { readonly who: (step: Step) => string }

const text = (value: unknown, otherwise: string): string =>
  typeof value === 'string' && value !== '' ? value : otherwise
const hostOf = ({ detail }: Step): string =>
  detail['order'] === null ? 'accelerando' : text(detail['host'] ?? detail['hostname'], 'the host')
const ours = () => 'accelerando'
const nova = () => 'Nova'

/** The meaning of the span after each step. */
const AFTER: Readonly<Record<string, Meaning>> = {
  created: { label: 'waits to be bound', kind: 'rest', tone: 'idle', who: nova },
  'bind accepted': { label: 'prepares the device', kind: 'work', tone: 'busy', who: hostOf },
  'image asked for': { label: 'loads the image and prepares the device', kind: 'work', tone: 'busy', who: hostOf },
  'prepared on the host': { label: 'records the result', kind: 'work', tone: 'good', who: ours },
  bound: { label: 'tells Nova', kind: 'work', tone: 'good', who: ours },
  'bind failed': { label: 'tells Nova', kind: 'work', tone: 'bad', who: ours },
  'nova to be told': { label: 'tells Nova', kind: 'wait', tone: 'busy', who: nova },
  'nova to be told once more': { label: 'tells Nova once more', kind: 'wait', tone: 'busy', who: nova },
  'nova not reached, will be told again': { label: 'tells Nova again', kind: 'wait', tone: 'bad', who: nova },
  'nova not told': { label: 'in use', kind: 'rest', tone: 'good', who: () => 'the instance' },
  'nova told: delivered': { label: 'in use', kind: 'rest', tone: 'good', who: () => 'the instance' },
  'nova told: gone': { label: 'Nova does not know the server', kind: 'rest', tone: 'held', who: nova },
  'nova told: refused': { label: 'Nova refused the event', kind: 'rest', tone: 'bad', who: nova },
  'nova told: undeliverable': { label: 'Nova was never told', kind: 'rest', tone: 'bad', who: nova },
  unbound: { label: 'is unbound', kind: 'rest', tone: 'idle', who: nova },
  'unbound by force': { label: 'is unbound', kind: 'rest', tone: 'held', who: nova },
  'release failed on the host': {
    label: 'releases the device again',
    kind: 'wait',
    tone: 'bad',
    who: () => 'the host',
  },
  'released on the host': { label: 'is unbound', kind: 'rest', tone: 'idle', who: nova },
}
const UNKNOWN: Meaning = { label: 'continues', kind: 'rest', tone: 'idle', who: ours }
/** A file may call a step anything, also by a name that every object has. */
const meaningAfter = ({ step }: Step): Meaning => (Object.hasOwn(AFTER, step) ? AFTER[step] : undefined) ?? UNKNOWN
/** What is waited for after these steps has no limit. */
const LIMITLESS = new Set(['bound', 'bind failed', 'unbound', 'unbound by force', 'release failed on the host'])
const FAILED = new Set(['bind failed', 'release failed on the host'])

/**
 * After a failed bind nobody uses the device, so the span after the notification of Nova is then not called `in use`.
 */
const meaningOf = (step: Step, failed: boolean): Meaning => {
  const meaning = meaningAfter(step)
  return failed && meaning.label === 'in use'
    ? { label: 'failed, waits to be deleted', kind: 'rest', tone: 'bad', who: nova }
    : meaning
}

/** The party that works, or that is waited for, after the step. */
export const partyAfter = (step: Step): string => meaningAfter(step).who(step)

/**
 * Says how long the host itself worked, by its own clock. The rest of the time passed on the way there and back, and in
 * queues: no event tells where.
 */
const onHost = (step: Step, later: readonly Step[]): string => {
  const [next] = later
  const ms = later.find(({ step: name }) => name === 'bound' || name === 'bind accepted')?.detail['host_work_ms']
  if (next === undefined || typeof ms !== 'number') return ''
  const waited = Date.parse(next.at) - Date.parse(step.at) - ms
  return `, ${duration(ms)} of it on the host${waited > 0 ? `, ${duration(waited)} on the way and waiting` : ''}`
}
const noteOf = (step: Step, later: readonly Step[]): string | null => {
  const [next] = later
  if (step.step !== 'bind accepted' && step.step !== 'image asked for') return null
  // it says the same of the order
  if (next?.step === 'image asked for') return null
  const order = step.detail['order']
  const number = typeof order === 'number' ? `order ${order}` : 'no work needed on the host'
  if (next && FAILED.has(next.step)) return `${number}: ${text(next.detail['reason'] ?? next.detail['code'], 'failed')}`
  return `${number}${onHost(step, later)}`
}

/** Until the recorded moment of the next attempt Nova is not told, so that part of the span is a wait of its own. */
const withBackOff = (span: Span, { detail }: Step, start: number): readonly Span[] => {
  const next = typeof detail['next_at'] === 'string' ? Date.parse(detail['next_at']) - start : Number.NaN
  if (!(next > span.from)) return [span]
  const pause: Span = { ...span, label: 'not reached, waits for the next attempt', kind: 'wait' }
  return next >= span.to
    ? [pause]
    : [
        { ...pause, to: next, open: false },
        { ...span, from: next },
      ]
}

const spansOf = ({ steps, deleted }: Timeline, now: number): readonly Span[] => {
  const start = Date.parse(steps[0]?.at ?? '')
  let failed = false
  const spans = steps.flatMap((step, index): readonly Span[] => {
    const next = steps[index + 1]
    if (step.step === 'bind accepted') failed = false
    if (step.step === 'bind failed') failed = true
    const { label, kind, tone, who } = meaningOf(step, failed)
    const from = Date.parse(step.at) - start
    const open = next === undefined
    const to = open ? Math.max(now - start, from) : Date.parse(next.at) - start
    const bad = next !== undefined && FAILED.has(next.step)
    const span: Span = {
      step: index + 1,
      from,
      to,
      label,
      kind,
      tone: bad ? 'bad' : kind === 'work' && !open ? 'good' : tone,
      who: who(step),
      open,
      note: noteOf(step, steps.slice(index + 1)),
    }
    return withBackOff(span, step, start)
  })
  const ended = deleted ? spans.filter(({ open }) => !open) : spans
  // steps of the same moment are one append: no time passed between them
  return ended.filter(({ from, to, open, note }) => to > from || open || note !== null)
}

/** A longer span in which nobody works is a gap (SPAN-2). */
export const GAP_MS = 5000
/** The width of a gap that is drawn short, in percent; all of them together have at most half of the width. */
const GAP_WIDTH = 6
const GAPS_WIDTH = 50
const LEAST_MS = 1
const PERCENT = 100
const rounded = (value: number): number => Math.round(value * 100) / 100

const gapOf = ({ kind, from, to, step }: Span, { open }: Ways): Placed['gap'] =>
  kind === 'work' || to - from <= GAP_MS ? null : open.includes(step) ? 'full' : 'short'

const placedIn = (spans: readonly Span[], ways: Ways): readonly Placed[] => {
  const gaps = spans.map((span) => gapOf(span, ways))
  const short = gaps.filter((gap) => gap === 'short').length
  const rest = spans.reduce((sum, { from, to }, at) => sum + (gaps[at] === 'short' ? 0 : to - from), 0)
  const gapWidth = rest === 0 ? PERCENT / short : Math.min(GAP_WIDTH, GAPS_WIDTH / short)
  const scale = (PERCENT - (short === 0 ? 0 : gapWidth * short)) / Math.max(rest, LEAST_MS)
  let x = 0
  return spans.map((span, at): Placed => {
    const [from, gap] = [x, gaps[at] ?? null]
    const width = gap === 'short' ? gapWidth : (span.to - span.from) * scale
    x += width
    return { ...span, gap, x: rounded(from), width: rounded(width) }
  })
}

/**
 * The time at a place of the width in percent, in ms after the first step; null: the place lies in a span that is drawn
 * short, or beside all spans.
 */
export const timeAt = (placed: readonly Placed[], at: number): number | null => {
  const span = placed.find(({ x, width }) => at >= x && at <= x + width)
  if (span === undefined || span.gap === 'short') return null
  const { from, to, x, width } = span
  return width === 0 ? from : Math.round(from + ((at - x) / width) * (to - from))
}

/** The limit that the last step with one has recorded. */
const limitOf = ({ steps }: Timeline): Recorder['limit'] => {
  const last = steps.findLast(({ detail, step }) => 'deadline' in detail || 'until' in detail || LIMITLESS.has(step))
  const { deadline, until } = last?.detail ?? {}
  if (typeof until === 'string') return { of: 'telling', at: until }
  return typeof deadline === 'string' ? { of: 'bind', at: deadline } : null
}

/** `now`: the server's, or the moment that is shown, in ms since the epoch. */
export const recorderOf = (timeline: Timeline, now: number, ways: Ways = USUAL): Recorder => {
  const spans = spansOf(timeline, now)
  const { first, last } = windowOf(timeline.steps.length, ways)
  const present = spans.at(-1)
  const accepted = timeline.steps.findLast(({ step }) => step === 'bind accepted')
  const ended = timeline.steps.findLast(({ step }) => step === 'bound' || step === 'bind failed')
  const isAfter = accepted !== undefined && ended !== undefined && ended.at >= accepted.at
  const waitingFor = present?.open && present.kind !== 'rest' ? present : null
  return {
    spans,
    placed: placedIn(
      spans.filter(({ step }) => step >= first && step <= last),
      ways,
    ),
    waitingFor,
    limit: waitingFor === null ? null : limitOf(timeline),
    bindMs: isAfter ? Date.parse(ended.at) - Date.parse(accepted.at) : null,
  }
}
