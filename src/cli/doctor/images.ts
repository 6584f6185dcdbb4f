/** Checks the image service: whether it can be reached, and whether this service may read images there. */
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { type NoImage, noImage } from '../../vocabulary/images.ts'
import { silent } from '../../vocabulary/log.ts'
import { createGlance, type GlanceOptions, IMAGE_SERVICE } from '../../neighbours/images/glance.ts'
import { NotInCatalogue } from '../../neighbours/openstack/send.ts'
import { closer } from '../closer.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import { openSession } from '../programs/session.ts'
import { type Finding, ok, problem, warning } from './check.ts'

/** Null: the service answers and lets this service read images. `absent`: the cloud has no image service. */
export const lookAtImages = async (
  keystone: KeystoneOptions,
  glance: GlanceOptions,
  clock: Clock,
): Promise<NoImage | 'absent' | null> => {
  const open = closer(silent)
  const session = openSession({ keystone, clock, log: silent, open })
  try {
    await session?.entry(IMAGE_SERVICE)
    return session && (await createGlance(session, glance).look())
  } catch (error) {
    if (error instanceof NotInCatalogue) return 'absent'
    return noImage('unavailable', textOf(error))
  } finally {
    await open.close()
  }
}

const ADVICE =
  'check the image service, its endpoint in the catalogue (keystone_authtoken.interfaces, region_name), and the account in keystone_authtoken; ' +
  'or name a folder with the option images. Without either nothing can be programmed'

export const judgeImages = (found: NoImage | 'absent' | null): Finding => {
  if (found === 'absent')
    return {
      check: 'images',
      ...warning(
        'the catalogue has no image service where this service looks: binds of profiles that name a bitstream or a function are refused',
        'nothing, if no profile does; otherwise check keystone_authtoken.interfaces and region_name, or name a folder with the option images',
      ),
    }
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
