/** The checks of `doctor` for the services of a cloud. Without a token only Keystone is checked: the other checks would all fail for the same reason. */
import { silent } from '../../log.ts'
import { directly, inCatalogue } from '../../neighbours/novaCall.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import { openSession } from '../programs/session.ts'
import type { DoctorOptions } from './options.ts'
import { type Finding, judgeAll } from './check.ts'
import { ENDPOINT_CHECKS, lookAtEndpoint } from './endpoint.ts'
import { judgeImages, lookAtImages } from './images.ts'
import { hasToken, KEYSTONE_CHECKS, lookAtKeystone } from './keystone.ts'
import { lookAtPlacement, PLACEMENT_CHECKS } from './neighbours.ts'
import { lookAtNova, NOVA_CHECKS } from './nova.ts'

type Options = Pick<DoctorOptions, 'nova' | 'images' | 'glance' | 'placement' | 'clock'>
type Findings = Promise<readonly Finding[]>

/** Checks Nova at a configured address, with the token that is configured for it. */
export const examineNova = async (url: string, { nova }: Pick<DoctorOptions, 'nova'>): Findings =>
  judgeAll(NOVA_CHECKS, await lookAtNova(url, directly({ ...nova, url }), nova.timeoutMs))

const throughSession = async (session: Session, { nova }: Options): Findings => {
  const [found, own] = await Promise.all([
    nova.url === null ? lookAtNova(null, inCatalogue(session, nova), nova.timeoutMs) : null,
    lookAtEndpoint(session),
  ])
  return [...(found === null ? [] : judgeAll(NOVA_CHECKS, found)), ...judgeAll(ENDPOINT_CHECKS, own)]
}
/** Checks Nova in the catalogue, and the endpoint of this service. */
const ofCatalogue = async (keystone: KeystoneOptions, options: Options): Findings => {
  const open = closer(silent)
  const session = openSession({ keystone, clock: options.clock, log: silent, open })
  try {
    return session === null ? [] : await throughSession(session, options)
  } finally {
    await open.close()
  }
}
const ofPlacement = async (keystone: KeystoneOptions, { placement, clock }: Options): Findings =>
  placement.enabled ? judgeAll(PLACEMENT_CHECKS, await lookAtPlacement(keystone, clock)) : []

const ofImages = async (keystone: KeystoneOptions, { glance, images, clock }: Options): Findings =>
  // a configured folder replaces the image service
  images === null ? [judgeImages(await lookAtImages(keystone, glance, clock))] : []

export const examineCloud = async (keystone: KeystoneOptions, options: Options): Findings => {
  const facts = await lookAtKeystone(keystone, options.clock)
  const own = judgeAll(KEYSTONE_CHECKS, facts)
  if (!hasToken(facts)) return own
  const parts = await Promise.all([ofPlacement, ofImages, ofCatalogue].map((look) => look(keystone, options)))
  return [...own, ...parts.flat()]
}
