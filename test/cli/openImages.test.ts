/** Where a program takes images from, and what it says while they cannot be had. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closer } from '../../src/cli/closer.ts'
import { openImages } from '../../src/cli/programs/images.ts'
import { ailingOf, openSession } from '../../src/cli/programs/session.ts'
import { silent } from '../../src/log.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { faultyProxy } from '../neighbours/faultyProxy.ts'
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

const opened = (images: string | null, withSession = true, more: Partial<typeof glance> = {}) => {
  const [clock, log, open] = [handClock(), memoryLog(), closer(silent)]
  const { authUrl } = keystone
  const cache = { cacheMs: 0, entries: 1 }
  const account = { session: sessionOptions(authUrl), cache, challengeUrl: authUrl, ca: null }
  const session = openSession({ keystone: withSession ? account : null, clock, log, open })
  const stores = openImages({
    config: { images, glance: { ...glance, ...more }, data: folder.path },
    session,
    clock,
    log,
    open,
  })
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
  const { stores, close, log, logged } = opened(null)
  await until(() => logged().includes('images.reachable'))
  expect(log.said).toEqual([{ level: 'info', detail: { store: 'glance' }, message: 'images.reachable' }])
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
test('an image service that stops to answer is told once with the reason, looked at, and told again when it is back', async () => {
  const proxy = await faultyProxy(double.url)
  keystone.services = { image: proxy.url }
  const { stores, close, clock, log } = opened(null)
  const images = () => log.said.filter(({ message }) => message.startsWith('images.'))
  const logged = () => images().map(({ message }) => message)
  await until(() => logged().length === 1)
  await clock.pass(60_000)
  // who answers is not looked at again
  expect([logged(), proxy.asked.length]).toEqual([['images.reachable'], 1])
  proxy.inject({ harm: { kind: 'answer', status: 503, body: '' } })
  for (let n = 0; n < 3; n++) await stores.catalogue.find(randomUUID())
  expect(stores.whyFailing()).toBe('images: it answers 503')
  await clock.pass(30_000)
  await until(() => logged().length === 2)
  await clock.pass(30_000)
  expect(images().slice(1)).toEqual([
    { level: 'warn', detail: { store: 'glance', reason: 'it answers 503' }, message: 'images.unreachable' },
  ])
  proxy.heal()
  const back = async () => {
    await clock.pass(30_000)
    return logged().slice(1)
  }
  await expect.poll(back).toEqual(['images.unreachable', 'images.reachable'])
  expect([stores.whyFailing(), stores.source()]).toEqual([null, 'the image service'])
  await close()
  await proxy.close()
  keystone.services = { image: double.url }
})
test('an image that cannot be had is asked for after half a second, then ever later, at most after 15 seconds', async () => {
  const uuid = await upload()
  const proxy = await faultyProxy(double.url)
  proxy.inject({ harm: { kind: 'answer', status: 503, body: '' } })
  keystone.services = { image: proxy.url }
  const { stores, close, clock, logged } = opened(null, true, { totalMs: 600_000 })
  const opening = (await stores.files()).open(uuid, { ...term, withinMs: 600_000 })
  const attempts = () => logged().filter((message) => message === 'images.notYet').length
  await until(() => attempts() === 1)
  for (const [at, ms] of [500, 1000, 2000, 4000, 8000, 15_000, 15_000].entries()) {
    await clock.pass(ms - 1)
    expect(attempts()).toBe(at + 1)
    await clock.pass(1)
    await until(() => attempts() === at + 2)
  }
  await clock.pass(600_000)
  expect(await opening).toMatchObject({ found: false, why: 'unavailable' })
  await close()
  await proxy.close()
  keystone.services = { image: double.url }
})
