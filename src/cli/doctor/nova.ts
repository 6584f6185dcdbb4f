/**
 * Checks Nova: whether it answers, its versions, and whether this service may send it events and see the servers of all
 * projects.
 */
import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import type { NovaVerdict } from '../../actors/neighbours.ts'
import { novaThrough } from '../../neighbours/nova.ts'
import { decoded, faultText, noteOf } from '../../neighbours/novaAnswer.ts'
import type { NovaCall } from '../../neighbours/novaCall.ts'
import { MICROVERSION } from '../../neighbours/novaCall.ts'
import { serversThrough } from '../../neighbours/novaServers.ts'
import { NotInCatalogue, reasonOf } from '../../neighbours/openstack/send.ts'
import { type Check, ok, problem, warning } from './check.ts'

/** Nova's answer to the request for its versions. */
export type NovaAnswers =
  | { readonly is: 'silent'; readonly reason: string }
  /** The catalogue has no compute service. */
  | { readonly is: 'absent' }
  | { readonly is: 'failing'; readonly status: number }
  | { readonly is: 'strange'; readonly status: number; readonly said: string }
  | { readonly is: 'known'; readonly highest: string }
export type NovaFacts = {
  /** The configured address. Null: Nova was looked up in the catalogue. */
  readonly url: string | null
  readonly answers: NovaAnswers
  /** Nova's verdict on an event about a server that does not exist. Null: Nova was not asked. */
  readonly event: Pick<NovaVerdict, 'outcome' | 'code' | 'note'> | null
  /** Why Nova does not show this service the servers of all projects; null: it does, or was not asked. */
  readonly blind: string | null
}

const VERSION = v.object({
  version: v.object({ version: v.pipe(v.string(), v.regex(/^2\.\d{1,4}$/)), status: v.optional(v.string()) }),
})
const minor = (version: string): number => Number(version.split('.')[1])

const ask = async (call: NovaCall, timeoutMs: number): Promise<NovaAnswers> => {
  try {
    const { status, text } = await call({ method: 'GET', path: '/' })
    if (status >= 500) return { is: 'failing', status }
    const read = v.safeParse(VERSION, decoded(text)?.value)
    if (status === 200 && read.success) return { is: 'known', highest: read.output.version.version }
    return { is: 'strange', status, said: noteOf(faultText(text)) }
  } catch (error) {
    if (error instanceof NotInCatalogue) return { is: 'absent' }
    return { is: 'silent', reason: reasonOf(error, timeoutMs) }
  }
}

/** Sends an event about a server that does not exist: Nova checks the permission to send it, and does nothing. */
const probe = async (call: NovaCall, timeoutMs: number): Promise<NovaFacts['event']> => {
  const [tag, server_uuid] = [randomUUID(), randomUUID()]
  const event = { name: 'accelerator-request-bound', server_uuid, tag, status: 'completed' } as const
  const [verdict] = await novaThrough(call, timeoutMs).notify([event], `req-${randomUUID()}`)
  return verdict ?? null
}

/** `url`: the configured address; null: Nova is in the catalogue. */
export const lookAtNova = async (url: string | null, call: NovaCall, timeoutMs: number): Promise<NovaFacts> => {
  const answers = await ask(call, timeoutMs)
  if (answers.is !== 'known' || minor(answers.highest) < minor(MICROVERSION))
    return { url, answers, event: null, blind: null }
  const [event, blind] = await Promise.all([probe(call, timeoutMs), serversThrough(call, timeoutMs).blind()])
  return { url, answers, event, blind }
}

const ACCOUNT = 'give the account of this service the roles admin and service in the project of the service users'
const placeOf = ({ url }: NovaFacts): string => url ?? 'the compute service of the catalogue'

const reached: Check<NovaFacts> = {
  name: 'nova',
  judge: (facts) => {
    const { url, answers } = facts
    const [place, mend] = [placeOf(facts), url === null ? 'correct its endpoint in the catalogue' : 'correct nova.url']
    if (answers.is === 'absent')
      return warning(
        'the catalogue has no compute service where this service looks: nobody is told when binds end, and no server can be asked for',
        'nothing, if there is no Nova; otherwise check keystone_authtoken.interfaces and region_name, or set nova.url',
      )
    if (answers.is === 'silent')
      return problem(
        `${place} does not answer: ${answers.reason}`,
        `start it or ${mend}: Nova is not notified when binds end`,
      )
    if (answers.is === 'failing')
      return warning(
        `${place} answered ${answers.status}`,
        'events are sent again until Nova accepts them, for at most nova.tell_for_seconds',
      )
    if (answers.is === 'strange')
      return problem(
        `${place} answered ${answers.status}, without the versions of the Compute API${answers.said === '' ? '' : `: ${answers.said}`}`,
        answers.status === 401
          ? 'check the token: nova.token_file, or the account in keystone_authtoken'
          : `${mend}: it ends in the version of the API, /v2.1`,
      )
    return minor(answers.highest) < minor(MICROVERSION)
      ? problem(
          `${place} offers microversions up to ${answers.highest}; ${MICROVERSION} is needed for the events of this service`,
          'upgrade Nova: the release Ussuri is the first that takes them',
        )
      : ok(`${place} answers, in versions up to ${answers.highest}`)
  },
}

const events: Check<NovaFacts> = {
  name: 'events to nova',
  judge: ({ event, blind }) => {
    if (event === null) return null
    // 404 for a server that does not exist shows that the account may send events
    if (event.outcome !== 'gone' && event.outcome !== 'delivered')
      return problem(`Nova does not take them: ${event.note ?? `it answers ${event.code}`}`, ACCOUNT)
    return blind === null
      ? ok('Nova takes them, about the servers of all projects')
      : problem(
          `Nova does not show this service the servers of all projects (${blind}): it answers events about them with 404, and they wait until their time is over`,
          ACCOUNT,
        )
  },
}

export const NOVA_CHECKS: readonly Check<NovaFacts>[] = [reached, events]
