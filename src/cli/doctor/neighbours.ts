/** Checks of the services that answer over HTTP: the API of a control process, and Nova. */
import { messageOf } from '../../errorText.ts'
import type { Clock } from '../../clock.ts'
import { ask } from '../ask.ts'
import type { Check } from './check.ts'
import { ok, problem, span, warning } from './check.ts'

export type Answer = {
  readonly url: string
  /** Null: there was no answer, and `reason` says why. */
  readonly status: number | null
  readonly reason: string
  /** The `date` header of the answer minus the local clock. Null: the answer had none. */
  readonly skewMs: number | null
}

const TIMEOUT_MS = 5000
/** HTTP dates have a resolution of one second. */
const SKEW = { errorMs: 1000, warnMs: 2000 }

const skewOf = (date: string | undefined, now: number): number | null => {
  const told = Date.parse(date ?? '')
  return Number.isNaN(told) ? null : told + 500 - now
}

export const askFor = async (url: string, clock: Clock): Promise<Answer> => {
  try {
    const { status, headers } = await ask(url, { timeoutMs: TIMEOUT_MS })
    return { url, status, reason: '', skewMs: skewOf(headers.date, clock.now()) }
  } catch (error) {
    return { url, status: null, reason: messageOf(error), skewMs: null }
  }
}

const ready: Check<Answer> = {
  name: 'api',
  judge: ({ url, status, reason }) => {
    if (status === null) return problem(`${url} does not answer: ${reason}`, 'check that a control is running there')
    if (status === 200) return ok(`${url} is ready`)
    return status === 503
      ? problem(`${url} is not ready`, 'its log and /readyz of its admin listener say why')
      : problem(`${url} answered ${status}`, 'check that this is the address of the API of a control')
  },
}
const clock: Check<Answer> = {
  name: 'clock of the api',
  judge: ({ skewMs }) => {
    if (skewMs === null) return null
    const off = Math.max(0, Math.abs(skewMs) - SKEW.errorMs)
    const says = `${span(skewMs)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine (give or take 1 s)`
    return off < SKEW.warnMs ? ok(says) : warning(says, 'set both clocks by NTP')
  },
}
const nova: Check<Answer> = {
  name: 'nova',
  judge: ({ url, status, reason }) => {
    if (status === null)
      return problem(
        `${url} does not answer: ${reason}`,
        'fix it or correct nova.url: Nova is not notified when binds end',
      )
    return status >= 500
      ? warning(
          `${url} answered ${status}`,
          'events are sent again until Nova accepts them, for at most nova.tell_for_seconds',
        )
      : ok(`${url} answers`)
  },
}

export const API_CHECKS: readonly Check<Answer>[] = [ready, clock]
export const NOVA_CHECKS: readonly Check<Answer>[] = [nova]
