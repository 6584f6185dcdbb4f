/** Checks the image service: whether it can be reached, and whether this service may read images there. */
import type { Clock } from '../../clock.ts'
import type { NoImage } from '../../images.ts'
import { silent } from '../../log.ts'
import { createGlance, type GlanceOptions } from '../../neighbours/images/glance.ts'
import { closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import { openSession } from '../programs/session.ts'
import { type Finding, ok, problem } from './check.ts'

/** Null: it answers, and lets this service read. */
export const lookAtImages = async (
  keystone: KeystoneOptions,
  glance: GlanceOptions,
  clock: Clock,
): Promise<NoImage | null> => {
  const open = closer(silent)
  const session = openSession({ keystone, clock, log: silent, open })
  const found = session && (await createGlance(session, glance).look())
  await open.close()
  return found
}

const ADVICE =
  'check the image service, its endpoint in the catalogue (keystone_authtoken.interfaces, region_name), and the account in keystone_authtoken; ' +
  'or name a folder with the option images. Without either nothing can be programmed'

export const judgeImages = (found: NoImage | null): Finding => {
  if (found === null) return { check: 'images', ...ok('the image service answers, and lets this service read') }
  const judged =
    found.why === 'forbidden'
      ? problem(
          'the image service does not let this service read',
          'give the account in keystone_authtoken a role in its project that may list images',
        )
      : problem(`the image service cannot be used: ${found.detail ?? found.why}`, ADVICE)
  return { check: 'images', ...judged }
}
