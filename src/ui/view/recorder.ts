/**
 * Computes how the timeline of an accelerator request is drawn. Between two steps lies a span, in which somebody works
 * or something is waited for. Spans in which nothing has to happen, such as the time that an instance uses the device,
 * are drawn shorter than they are.
 */
import type { Timeline } from '../shapes.ts'
import type { Tone } from './states.ts'
import { duration } from './words.ts'

export type Span = {
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
}
export type Recorder = {
  readonly spans: readonly Placed[]
  /** The places where time is left out: in percent of the width, and the time in ms. */
  readonly cuts: readonly { readonly x: number; readonly ms: number }[]
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
/** What is waited for after these steps has no limit. */
const LIMITLESS = new Set(['unbound', 'unbound by force', 'release failed on the host'])
const FAILED = new Set(['bind failed', 'release failed on the host'])

/**
 * After a failed bind nobody uses the device, so the span after the notification of Nova is then not called `in use`.
 */
const meaningOf = (step: Step, failed: boolean): Meaning => {
  const meaning = AFTER[step.step] ?? UNKNOWN
  return failed && meaning.label === 'in use'
    ? { label: 'failed, waits to be deleted', kind: 'rest', tone: 'bad', who: nova }
    : meaning
}

/** Says how much of the time the host itself worked; orders and reports took the rest. */
const onHost = (later: readonly Step[]): string => {
  const ms = later.find(({ step }) => step === 'bound')?.detail['host_work_ms']
  return typeof ms === 'number' ? `, ${duration(ms)} of it on the host` : ''
}
const noteOf = (step: Step, later: readonly Step[]): string | null => {
  const [next] = later
  if (step.step !== 'bind accepted') return null
  const order = step.detail['order']
  const number = typeof order === 'number' ? `order ${order}` : 'no work needed on the host'
  if (next && FAILED.has(next.step)) return `${number}: ${text(next.detail['reason'] ?? next.detail['code'], 'failed')}`
  return `${number}${onHost(later)}`
}

const spansOf = ({ steps, deleted }: Timeline, now: number): readonly Span[] => {
  const start = Date.parse(steps[0]?.at ?? '')
  let failed = false
  const spans = steps.map((step, index): Span => {
    const next = steps[index + 1]
    if (step.step === 'bind accepted') failed = false
    if (step.step === 'bind failed') failed = true
    const { label, kind, tone, who } = meaningOf(step, failed)
    const from = Date.parse(step.at) - start
    const open = next === undefined
    const to = open ? Math.max(now - start, from) : Date.parse(next.at) - start
    const bad = next !== undefined && FAILED.has(next.step)
    return {
      from,
      to,
      label,
      kind,
      tone: bad ? 'bad' : kind === 'work' && !open ? 'good' : tone,
      who: who(step),
      open,
      note: noteOf(step, steps.slice(index + 1)),
    }
  })
  const ended = deleted ? spans.slice(0, -1) : spans
  // steps of the same moment are one append: no time passed between them
  return ended.filter(({ from, to, open, note }) => to > from || open || note !== null)
}

/** The width of a span in which nothing had to happen, at most, as a share of the longest other span. */
const REST_SHARE = 0.35
const LEAST_MS = 1

const scaled = (spans: readonly Span[]): readonly number[] => {
  const longest = Math.max(LEAST_MS, ...spans.filter(({ kind }) => kind !== 'rest').map(({ from, to }) => to - from))
  return spans.map(({ kind, from, to }) => (kind === 'rest' ? Math.min(to - from, longest * REST_SHARE) : to - from))
}

const PERCENT = 100
const rounded = (value: number): number => Math.round(value * 100) / 100

/** The limit that the last step with one has recorded. */
const limitOf = ({ steps }: Timeline): Recorder['limit'] => {
  const last = steps.findLast(({ detail, step }) => 'deadline' in detail || 'until' in detail || LIMITLESS.has(step))
  const { deadline, until } = last?.detail ?? {}
  if (typeof until === 'string') return { of: 'telling', at: until }
  return typeof deadline === 'string' ? { of: 'bind', at: deadline } : null
}

/** `now`: the server's, in ms since the epoch. */
export const recorderOf = (timeline: Timeline, now: number): Recorder => {
  const spans = spansOf(timeline, now)
  const lengths = scaled(spans)
  const total = lengths.reduce((sum, each) => sum + each, 0) || LEAST_MS
  let x = 0
  const placed = spans.map((span, index): Placed => {
    const width = ((lengths[index] ?? 0) / total) * PERCENT
    const from = x
    x += width
    return { ...span, x: rounded(from), width: rounded(width) }
  })
  const cuts = placed.flatMap(({ kind, from, to, x, width }, index) => {
    const left = to - from - (lengths[index] ?? 0)
    return kind === 'rest' && left > LEAST_MS ? [{ x: rounded(x + width / 2), ms: left }] : []
  })
  const last = placed.at(-1)
  const accepted = timeline.steps.findLast(({ step }) => step === 'bind accepted')
  const ended = timeline.steps.findLast(({ step }) => step === 'bound' || step === 'bind failed')
  const isAfter = accepted !== undefined && ended !== undefined && ended.at >= accepted.at
  const waitingFor = last?.open && last.kind !== 'rest' ? last : null
  return {
    spans: placed,
    cuts,
    waitingFor,
    limit: waitingFor === null ? null : limitOf(timeline),
    bindMs: isAfter ? Date.parse(ended.at) - Date.parse(accepted.at) : null,
  }
}
