/** The sentences above a timeline: how the request stands, whom it waits for, and what happens when the time is up. */
import type { Timeline } from '../shapes.ts'
import { mark } from './parts.ts'
import type { Recorder } from './recorder.ts'
import { type Child, code, p, time } from './tags.ts'
import { ago, duration, moment, shell, valueOf } from './words.ts'

/** `state`: that of the request; null: there is none. */
export const headline = (state: string | null, { bindMs, waitingFor, spans }: Recorder, timeline: Timeline): Child => {
  if (waitingFor !== null)
    return p(
      { class: 'headline' },
      mark('busy'),
      `Waiting for ${waitingFor.who} for ${duration(waitingFor.to - waitingFor.from)}: ${waitingFor.label}${waitingFor.note === null ? '' : `, ${waitingFor.note}`}.`,
    )
  const failed = timeline.steps.findLast(({ step }) => step === 'bind failed')
  if (state === 'BindFailed' && failed)
    return p(
      { class: 'headline bad' },
      mark('bad'),
      `The bind failed after ${duration(bindMs ?? 0)}: ${valueOf(failed.detail['reason'] ?? failed.detail['code'] ?? 'no reason is recorded')}.`,
    )
  if (timeline.deleted) return p({ class: 'headline' }, mark('idle'), 'It is deleted; this is what happened to it.')
  if (bindMs === null) return p({ class: 'headline' }, mark('idle'), 'Nobody has bound it yet.')
  // neither an earlier bind, which failed, is part of it, nor what follows its end
  const accepted = timeline.steps.findLastIndex(({ step }) => step === 'bind accepted') + 1
  const bound = timeline.steps.findLastIndex(({ step }) => step === 'bound') + 1
  const longest = spans
    .filter(({ kind, step }) => kind !== 'rest' && step >= accepted && step < bound)
    .toSorted((one, other) => other.to - other.from - (one.to - one.from))[0]
  return p(
    { class: 'headline' },
    mark('good'),
    `Bound in ${duration(bindMs)}${longest === undefined || longest.to === longest.from ? '' : `; ${longest.who} took longest, ${duration(longest.to - longest.from)}`}.`,
  )
}

/** What happens when the time is over that the request waits for. */
export const limit = ({ limit: given, waitingFor }: Recorder, { steps: all }: Timeline, now: number): Child => {
  if (given === null || waitingFor === null) return null
  const when_ = time({ datetime: given.at, title: moment(given.at) }, moment(given.at), ` (${ago(given.at, now)})`)
  const isOver = Date.parse(given.at) <= now
  if (given.of === 'bind')
    return p(
      { class: 'lead' },
      ...(isOver
        ? ['Its deadline was ', when_, ': the bind fails as soon as the service attends to it.']
        : [`If ${waitingFor.who} has not answered by `, when_, ', the bind fails and Nova is told so.']),
    )
  const instance = all.findLast(({ detail: { instance: one } }) => typeof one === 'string')?.detail['instance']
  return p(
    { class: 'lead' },
    'Nova is told again until ',
    when_,
    '. Then delivery ends, until an operator has it told once more: ',
    code(null, shell`accelerando delivery resend ${valueOf(instance ?? 'INSTANCE')} --reason TEXT`),
  )
}
