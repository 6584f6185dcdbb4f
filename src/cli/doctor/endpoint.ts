/** Checks whether others can find this service: its endpoint in the service catalogue, and whether it answers there. */
import * as v from 'valibot'
import { textOf } from '../../vocabulary/errorText.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { NotInCatalogue } from '../../neighbours/openstack/send.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { SERVICE_TYPE } from '../programs/cloud.ts'
import { type Check, ok, problem, warning } from './check.ts'

export type EndpointFacts = {
  /** The URL in the catalogue. Null: there is none. */
  readonly url: string | null
  /** Why the catalogue could not be read, or why the endpoint does not answer. */
  readonly reason: string | null
  /** Null: there was no answer. */
  readonly status: number | null
  /** Whether the answer is that of the Accelerator API v2. */
  readonly isApi: boolean
}

const API = v.object({ id: v.literal('v2.0') })
const isApi = (text: string): boolean => v.is(API, jsonIn(text))

export const lookAtEndpoint = async (session: Pick<Session, 'entry' | 'call'>): Promise<EndpointFacts> => {
  let url: string | null = null
  try {
    ;({ url } = await session.entry(SERVICE_TYPE))
    const { status, text } = await session.call({ service: SERVICE_TYPE, method: 'GET', path: '' })
    return { url, reason: null, status, isApi: status === 200 && isApi(text) }
  } catch (error) {
    return { url, reason: error instanceof NotInCatalogue ? null : textOf(error), status: null, isApi: false }
  }
}

const EFFECT = 'Nova and the command line find no accelerators'
const endpoint: Check<EndpointFacts> = {
  name: 'own endpoint',
  judge: ({ url, reason, status, isApi: answers }) => {
    if (url === null && reason !== null)
      return problem(`the catalogue could not be read: ${reason}`, 'see what is said of keystone')
    if (url === null)
      return warning(
        `the catalogue has no service of the type ${SERVICE_TYPE} where this service looks: ${EFFECT}`,
        'register it: openstack service create --name cyborg accelerator, and an endpoint that ends in /v2 for each interface',
      )
    if (status === null)
      return warning(
        `${url} in the catalogue does not answer: ${reason}`,
        `start a control, or correct the endpoint (openstack endpoint set --url): until then ${EFFECT}`,
      )
    return answers
      ? ok(`${url} in the catalogue answers`)
      : warning(
          `${url} in the catalogue answered ${status}, not as this service does`,
          'correct the endpoint (openstack endpoint set --url): it ends in /v2',
        )
  },
}

export const ENDPOINT_CHECKS: readonly Check<EndpointFacts>[] = [endpoint]
