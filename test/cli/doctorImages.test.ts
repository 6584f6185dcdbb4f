/** What `doctor` says of the image service, and what it advises. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { judgeImages, lookAtImages } from '../../src/cli/doctor/images.ts'
import { systemClock } from '../../src/clock.ts'
import { noImage } from '../../src/images.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type GlanceDouble, glanceDouble } from '../neighbours/openstack/glanceDouble.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'

let keystone: KeystoneDouble
let glance: GlanceDouble
beforeAll(async () => {
  keystone = await keystoneDouble()
  glance = await glanceDouble(keystone.holderOf)
})
afterAll(async () => {
  await glance.close()
  await keystone.close()
})
const look = async () => {
  const { authUrl } = keystone
  const options = {
    session: sessionOptions(authUrl),
    cache: { cacheMs: 0, entries: 1 },
    challengeUrl: authUrl,
    ca: null,
  }
  return judgeImages(await lookAtImages(options, { timeoutMs: 2000, idleMs: 2000, trustedProjects: [] }, systemClock))
}

test('that it answers', async () => {
  keystone.services = { image: glance.url }
  expect(await look()).toMatchObject({ check: 'images', verdict: 'ok' })
})
test('that its endpoint may have the version', async () => {
  keystone.services = { image: `${glance.url}/v2/` }
  expect(await look()).toMatchObject({ verdict: 'ok' })
})
test('that the catalogue lacks it', async () => {
  keystone.services = {}
  expect(await look()).toMatchObject({
    verdict: 'warning',
    says: expect.stringContaining('the catalogue has no image service'),
    advice: expect.stringContaining('nothing, if no profile does; otherwise check keystone_authtoken'),
  })
})
test('that it does not answer', async () => {
  keystone.services = { image: 'http://127.0.0.1:9' }
  expect(await look()).toMatchObject({ verdict: 'problem', says: expect.stringContaining('cannot be used') })
})
test('that this service may not read', () => {
  expect(judgeImages(noImage('forbidden'))).toMatchObject({
    verdict: 'problem',
    advice: expect.stringContaining('a role in its project'),
  })
})
