/**
 * The bind conversation of an instance, from the timelines of its accelerator requests: who takes part, how far each
 * is, what Nova is told of all of them together, and what it answered for each. Pure.
 */
import type { Arq, Timeline } from '../shapes.ts'
import type { Tone } from './states.ts'

type Step = Timeline['steps'][number]
export type Member = {
  readonly arq: Arq
  /** The host that prepares it; null: no host has to. */
  readonly host: string | null
  /** When it was ready; null: it is not, or has failed. */
  readonly readyAt: string | null
  /** Why its bind failed; null: it has not. */
  readonly failed: string | null
  /** The status that Nova is told of it; null: not yet known. */
  readonly status: string | null
  readonly answer: Answer | null
}
/** `again`: when Nova is told next, as it has not taken the event. */
export type Answer = {
  readonly word: string
  readonly tone: Tone
  readonly at: string
  readonly note: string | null
  readonly again: string | null
}
export type Conversation = {
  readonly acceptedAt: string
  readonly hostname: string | null
  /** When the bind fails if it is not finished by then; null: not recorded. */
  readonly deadline: string | null
  /** When all requests were bound, or failed together; null: the bind is under way. */
  readonly settledAt: string | null
  /** Until when Nova is told; null: nothing is to be told yet, or there is no Nova. */
  readonly until: string | null
  /** How many times Nova was asked to take the batch so far, as far as it is recorded. */
  readonly tries: number
  /** Those that are not prepared, or were not when the bind failed, first. */
  readonly members: readonly Member[]
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

const TOLD = 'nova told: '
const AGAIN = 'nova not reached, will be told again'
const ANSWERS: Readonly<Record<string, Pick<Answer, 'word' | 'tone'>>> = {
  [AGAIN]: { word: 'not reached', tone: 'busy' },
  'nova not told': { word: 'no Nova is configured', tone: 'idle' },
  [`${TOLD}delivered`]: { word: 'taken', tone: 'good' },
  [`${TOLD}gone`]: { word: 'no such server', tone: 'held' },
  [`${TOLD}refused`]: { word: 'refused', tone: 'bad' },
  [`${TOLD}undeliverable`]: { word: 'was not reached in time', tone: 'bad' },
}
const isToTell = ({ step }: Step): boolean => step === 'nova to be told' || step === 'nova to be told once more'
const answerIn = (steps: readonly Step[]): Answer | null => {
  const last = steps.findLast((each) => isToTell(each) || Object.hasOwn(ANSWERS, each.step))
  const meant = last === undefined ? undefined : ANSWERS[last.step]
  if (last === undefined || meant === undefined) return null
  return { ...meant, at: last.at, note: text(last.detail['note']), again: text(last.detail['next_at']) }
}

/** The steps from the acceptance of the last bind on; null: nobody has bound it. */
const lastBind = ({ steps }: Timeline): { readonly accepted: Step; readonly after: readonly Step[] } | null => {
  const at = steps.findLastIndex(({ step }) => step === 'bind accepted')
  const accepted = steps[at]
  return accepted === undefined ? null : { accepted, after: steps.slice(at + 1) }
}
type Bind = NonNullable<ReturnType<typeof lastBind>>

const memberOf = (arq: Arq, { accepted: { detail }, after }: Bind): Member => {
  const ready = after.find(({ step }) => step === 'prepared on the host' || step === 'bound')
  const failed = after.find(({ step }) => step === 'bind failed')
  const toTell = after.findLast((step) => isToTell(step) || step.step === 'nova not told')
  return {
    arq,
    host: detail['order'] === null ? null : (text(detail['host']) ?? text(detail['hostname'])),
    readyAt: ready?.at ?? null,
    failed: failed === undefined ? null : (text(failed.detail['reason']) ?? text(failed.detail['code']) ?? 'unknown'),
    status: text(toTell?.detail['status']),
    answer: answerIn(after),
  }
}

type Timed = { readonly arq: Arq; readonly timeline: Timeline }
/** Null: none of them takes part in a bind. */
export const conversationOf = (timed: readonly Timed[]): Conversation | null => {
  const binds = timed.flatMap(({ arq, timeline }) => {
    const bind = lastBind(timeline)
    return bind === null ? [] : [{ arq, ...bind }]
  })
  const newest = binds
    .map(({ accepted }) => accepted.at)
    .toSorted()
    .at(-1)
  const parts = binds.filter(({ accepted }) => accepted.at === newest)
  const [first] = parts
  if (first === undefined) return null
  const members = parts.map((part) => memberOf(part.arq, part))
  const ends = parts.flatMap(
    ({ after }) => after.find(({ step }) => step === 'bound' || step === 'bind failed')?.at ?? [],
  )
  return {
    acceptedAt: first.accepted.at,
    hostname: text(first.accepted.detail['hostname']),
    deadline: text(first.accepted.detail['deadline']),
    settledAt: ends.length < parts.length ? null : (ends.toSorted().at(-1) ?? null),
    until: text(first.after.findLast(isToTell)?.detail['until']),
    tries: Math.max(
      ...parts.map(({ after }) => after.filter(({ step }) => step === AGAIN || step.startsWith(TOLD)).length),
    ),
    members: members.toSorted((one, other) => Number(other.readyAt === null) - Number(one.readyAt === null)),
  }
}
