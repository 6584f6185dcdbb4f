/**
 * The checks of `doctor` for the services of a cloud. Without a token only Keystone is checked: the other checks would
 * all fail for the same reason.
 */
import { silent } from '../../vocabulary/log.ts'
import { closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import { isThroughSession, type NovaAccess, novaEndpoint, openNova } from '../programs/nova.ts'
import { openSession } from '../programs/session.ts'
import type { DoctorOptions } from './options.ts'
import { type Finding, judgeAll } from './check.ts'
import { ENDPOINT_CHECKS, lookAtEndpoint } from './endpoint.ts'
import { judgeImages, lookAtImages } from './images.ts'
import { hasToken, KEYSTONE_CHECKS, lookAtKeystone } from './keystone.ts'
import { lookAtPlacement, PLACEMENT_CHECKS } from './neighbours.ts'
import { lookAtNova, NOVA_CHECKS } from './nova.ts'

type Options = Pick<DoctorOptions, 'nova' | 'keystone' | 'images' | 'glance' | 'placement' | 'clock'>
type Findings = Promise<readonly Finding[]>

const ofNova = async ({ call }: NovaAccess, { nova }: Pick<Options, 'nova'>): Findings =>
  judgeAll(NOVA_CHECKS, await lookAtNova(nova.url, call, nova.timeoutMs))

/** Checks Nova at its configured address where no account in the cloud is used for it. */
export const examineNova = async (_: string, options: Pick<Options, 'nova' | 'clock' | 'keystone'>): Findings => {
  if (isThroughSession(options)) return []
  const open = closer(silent)
  try {
    const access = openNova({ ...options, log: silent, open }, null)
    return access === null ? [] : await ofNova(access, options)
  } finally {
    await open.close()
  }
}

/**
 * Checks Nova where it is asked with the account of this service, and the endpoint of this service in the catalogue.
 */
const ofSession = async (keystone: KeystoneOptions, options: Options): Findings => {
  const { nova, clock } = options
  const open = closer(silent)
  try {
    const session = openSession({ keystone, endpoints: novaEndpoint(nova), clock, log: silent, open })
    if (session === null) return []
    const access = isThroughSession(options) ? openNova({ ...options, log: silent, open }, session) : null
    const parts = await Promise.all([access === null ? [] : ofNova(access, options), lookAtEndpoint(session)])
    return [...parts[0], ...judgeAll(ENDPOINT_CHECKS, parts[1])]
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
  const parts = await Promise.all([ofPlacement, ofImages, ofSession].map((look) => look(keystone, options)))
  return [...own, ...parts.flat()]
}
