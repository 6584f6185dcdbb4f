/** Checks of the API of a control process, and of Placement with the account of this service. */
import { ofNova } from '../../actors/placement/ofNova.ts'
import type { PlacementError, Provider, PlacementResult } from '../../actors/placement/port.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import { silent } from '../../vocabulary/log.ts'
import { createPlacement, versionOf } from '../../neighbours/openstack/placement.ts'
import { createSender } from '../../neighbours/openstack/send.ts'
import { createSession } from '../../neighbours/openstack/session.ts'
import { ask } from '../ask.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import type { Check } from './check.ts'
import { counted, listed, ok, problem } from './check.ts'
import { judgeSkew, skewOf } from './skew.ts'

export type Answer = {
  readonly url: string
  /** Null: there was no answer, and `reason` says why. */
  readonly status: number | null
  readonly reason: string
  /** The `date` header of the answer minus the local clock. Null: the answer had no such header. */
  readonly skewMs: number | null
}

const TIMEOUT_MS = 5000

/** `ca`: the certificates of the CAs that are trusted, in PEM; null: those that Node trusts. */
export const askFor = async (url: string, clock: Clock, ca: string | null = null): Promise<Answer> => {
  try {
    const { status, headers } = await ask(url, { timeoutMs: TIMEOUT_MS, ca })
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
const clock: Check<Answer> = { name: 'clock of the api', judge: ({ skewMs }) => judgeSkew(skewMs) }

export type PlacementFacts = {
  readonly version: PlacementResult<string>
  /** The providers of this service. Only an administrator or a service may ask for them. */
  readonly owned: PlacementResult<readonly Provider[]>
  /** The providers of PCI devices that Nova tracks itself. */
  readonly ofNova: PlacementResult<readonly Provider[]>
}
/** Signs in in the same way as the service. */
export const lookAtPlacement = async (
  { session: options, ca }: Pick<KeystoneOptions, 'session' | 'ca'>,
  clock: Clock,
): Promise<PlacementFacts> => {
  const sender = createSender(ca)
  try {
    const session = createSession({ options, send: sender.send, clock, log: silent })
    const version = await versionOf(session)
    const port = createPlacement(session)
    const owned = version.ok ? await port.owned() : version
    return { version, owned, ofNova: owned.ok ? await port.ofNova() : owned }
  } finally {
    await sender.close()
  }
}
const PLACEMENT_ADVICE: Readonly<Partial<Record<PlacementError, string>>> = {
  denied: 'give the account of keystone_authtoken the role service, or admin, in the project of the service users',
  refused: 'upgrade Placement',
  unknownName: 'upgrade os-traits where Placement runs, and start it anew: it lacks the trait of this service',
}
const placement: Check<PlacementFacts> = {
  name: 'placement',
  judge: ({ version, owned }) => {
    if (version.ok && owned.ok)
      return ok(`it answers, in version ${version.value}; ${counted(owned.value.length, 'provider')} of this service`)
    const fault = version.ok ? owned : version
    if (fault.ok) return null
    const advice = 'check the credentials, the endpoint in the service catalogue, and that Placement runs'
    return problem(fault.reason, PLACEMENT_ADVICE[fault.error] ?? advice)
  },
}

/**
 * Compares providers of the same compute node by the function in their names; `drift` finds more, because it knows the
 * attach handles.
 */
const overlap: Check<PlacementFacts> = {
  name: 'overlap with nova',
  judge: ({ owned, ofNova: theirs }) => {
    // an older os-traits lacks the trait, so no Nova uses it
    if (!owned.ok || (!theirs.ok && theirs.error === 'unknownName')) return null
    if (!theirs.ok) return problem(`devices of Nova cannot be read: ${theirs.reason}`, PLACEMENT_ADVICE.denied!)
    const place = (provider: Provider) => `${provider.root} ${ofNova(provider)?.function}`
    const places = new Set(theirs.value.map(place))
    const both = owned.value.filter((provider) => ofNova(provider) !== null && places.has(place(provider)))
    return both.length === 0
      ? null
      : problem(
          `${counted(both.length, 'device')} shown by Nova as well: ${listed(both.map(({ name }) => name))}`,
          'offer each in one place (accelerando drift names all): take it out of pci.passthrough_whitelist here, or out of [pci] device_spec there',
        )
  },
}

export const API_CHECKS: readonly Check<Answer>[] = [ready, clock]
export const PLACEMENT_CHECKS: readonly Check<PlacementFacts>[] = [placement, overlap]
