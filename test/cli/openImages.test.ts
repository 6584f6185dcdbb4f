/** Where a program takes images from, and what it says while they cannot be had. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { openImages } from '../../src/cli/programs/images.ts'
import { ailingOf, openSession } from '../../src/cli/programs/session.ts'
import { silent } from '../../src/log.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { type GlanceDouble, glanceDouble } from '../neighbours/openstack/glanceDouble.ts'
import { type KeystoneDouble, keystoneDouble } from '../neighbours/openstack/keystoneDouble.ts'
import { uploadImage } from '../support/imageUpload.ts'
import { handClock, memoryLog, until } from '../support/lab.ts'
import { tempFolder } from '../support/program.ts'
import { signIn } from '../support/signIn.ts'

const glance = {
  timeoutMs: 5000,
  idleMs: 5000,
  totalMs: 5000,
  imageMaxBytes: 1000,
  cacheMaxBytes: 1000,
  downloadsMax: 1,
  allowUnverified: false,
  trustedProjects: [],
}
const folder = tempFolder('open-images')
let keystone: KeystoneDouble
let double: GlanceDouble
beforeAll(async () => {
  keystone = await keystoneDouble()
  double = await glanceDouble(keystone.holderOf)
  keystone.services = { image: double.url }
})
afterAll(async () => {
  await double.close()
  await keystone.close()
  folder.remove()
})
const term = { withinMs: 4000, signal: new AbortController().signal }

const opened = (images: string | null, withSession = true) => {
  const [clock, log, open] = [handClock(), memoryLog(), closer(silent)]
  const { authUrl } = keystone
  const cache = { cacheMs: 0, entries: 1 }
  const account = { session: sessionOptions(authUrl), cache, challengeUrl: authUrl, ca: null }
  const session = openSession({ keystone: withSession ? account : null, clock, log, open })
  const stores = openImages({ config: { images, glance, data: folder.path }, session, clock, log, open })
  return { clock, log, session, stores, close: open.close, logged: () => log.said.map(({ message }) => message) }
}
const upload = async () => {
  const { token } = await signIn(keystone.authUrl, 'cyborg', { project: 'service' })
  return uploadImage(double.url, token, {}, Buffer.from('bits'))
}

test('without a folder and without an account there are none', async () => {
  const { stores, close } = opened(null, false)
  expect(await stores.catalogue.find(await upload())).toEqual({ found: false, why: 'none' })
  expect(await (await stores.files()).open(await upload(), term)).toEqual({ found: false, why: 'none' })
  expect([stores.whyFailing(), stores.source()]).toEqual([null, 'absent'])
  await close()
})
test('a folder comes before the image service, which is not asked', async () => {
  const uuid = await upload()
  const dir = join(folder.path, 'own')
  mkdirSync(dir)
  const { stores, close, logged } = opened(dir)
  expect(await stores.catalogue.find(uuid)).toEqual({ found: false, why: 'unknown' })
  writeFileSync(join(dir, uuid), 'bits')
  expect(await stores.catalogue.find(uuid)).toMatchObject({ found: true })
  expect(await (await stores.files()).open(uuid, term)).toMatchObject({
    found: true,
    path: expect.stringContaining(dir),
  })
  expect(stores.source()).toBe('a folder')
  expect(logged()).toEqual([])
  await close()
})
test('with an account they come from the image service, which is looked at once', async () => {
  const { stores, close, logged } = opened(null)
  await until(() => logged().includes('images.reachable'))
  const file = await (await stores.files()).open(await upload(), term)
  expect(file).toMatchObject({ found: true, path: expect.stringContaining(join(folder.path, 'images', 'sha512_')) })
  expect([stores.whyFailing(), stores.source()]).toEqual([null, 'the image service'])
  await close()
})
test('a cloud without an image service: said at the start and for as long as it lasts, once', async () => {
  keystone.services = {}
  const { stores, close, logged, clock, session } = opened(null)
  await until(() => logged().includes('images.absent'))
  expect([stores.whyFailing(), stores.source()]).toEqual([null, 'absent'])
  expect(ailingOf(session!)).toBe(null)
  await clock.pass(60_000)
  await clock.pass(60_000)
  expect(logged()).toEqual(['images.absent'])
  const uuid = await upload()
  expect(await stores.catalogue.find(uuid)).toMatchObject({ found: false, why: 'unavailable' })
  keystone.services = { image: double.url }
  await close()
})
