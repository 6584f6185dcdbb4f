/** What the page of a host shows of the last question for a report. */
import type { HostDetail } from '../shapes.ts'
import { reportNumber } from './hostFacts.ts'
import { type Fact, facts, none, panel, state, when } from './parts.ts'
import { type Child, span } from './tags.ts'
import { count, many } from './words.ts'

type Probe = HostDetail['probe']

const answerOf = (probe: NonNullable<Probe>, last: string | null, now: number): readonly Fact[] => {
  const { answer } = probe
  if (answer === null)
    return [
      ['Answer', state('bad', 'none')],
      ['Silent since', last === null ? 'it was never heard of' : when(last, now)],
    ]
  const { at, took_ms: ms, report_number: number, devices, failed_drivers: failed } = answer
  return [
    ['Answer', [state(failed.length === 0 ? 'good' : 'bad', 'reported'), ' ', when(at, now), ` after ${count(ms)} ms`]],
    ['Report', `${reportNumber(number)}, with ${many(devices, 'device')}`],
    ['Drivers that failed', failed.length === 0 ? none() : failed.join(', ')],
  ]
}

/** Null: the host was never asked. */
export const probePanel = (probe: Probe, last: string | null, now: number): Child =>
  probe === null
    ? null
    : panel(
        'Last question for a report',
        span({ class: 'dim' }, 'asked ', when(probe.asked_at, now), ` by ${probe.by}`),
        facts(answerOf(probe, last, now)),
      )
