/**
 * What the client of Glance does when Glance, the connection or the host fails: on the double, and on the real Glance
 * of the rig.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ImageFile, ImageFiles } from '../../src/vocabulary/images.ts'
import { type GlanceLab, type GlancePlace, openGlanceLab } from '../support/glanceLab.ts'
import type { Upload } from '../support/imageUpload.ts'
import { type Held, revoke, signIn } from '../support/signIn.ts'
import { imageContract } from './images.contract.ts'

const term = (withinMs = 15_000) => ({ withinMs, signal: new AbortController().signal })
const BYTES = 400_000
const isFile = ({ path }: { readonly path: string }) => path.endsWith('/file')

export const glanceContract = (place: () => GlancePlace): void => {
  let lab: GlanceLab
  beforeAll(async () => void (lab = await openGlanceLab(place())), 60_000)
  afterAll(() => lab?.close())
  afterEach(() => lab.proxy.heal())

  const opened = async (files: ImageFiles, uuid: string): Promise<ImageFile> => {
    const file = await files.open(uuid, term())
    if (!file.found) throw new Error(`${file.why}: ${file.detail}`)
    return file
  }
  const contentOf = ({ path }: ImageFile): Buffer => readFileSync(path)
  /** An image of random bytes, or of these. */
  const image = async (bytes: Buffer = randomBytes(BYTES)) => ({ uuid: await lab.put({}, bytes), bytes })
  const during = async <Value>(work: () => Promise<Value>) => {
    const before = lab.downloads()
    const value = await work()
    return { value, downloads: lab.downloads() - before }
  }

  imageContract(() => ({ catalogue: lab.glance, files: lab.files(), put: lab.put }))

  describe('Glance', () => {
    test('answers, and lets this service read', async () => {
      expect(await lab.glance.look()).toBe(null)
      expect(lab.glance.whyFailing()).toBe(null)
    })
    test('a search finds public images and those of trusted projects, whatever another project gives its own', async () => {
      const { operator, trusted, tenant } = lab.people
      const value = randomUUID()
      const put = (more: Upload, by: Held) => lab.put({ function_uuid: value, ...more }, randomBytes(10), by)
      const public_ = await put({ visibility: 'public' }, await signIn(place().authUrl, 'admin', { project: 'admin' }))
      const own = await put({ visibility: 'private' }, operator)
      const theirs = await put({}, trusted)
      for (const visibility of ['private', 'shared', 'community']) await put({ visibility, version: '99' }, tenant)
      const found = await lab.glance.search({ by: 'function_id', value })
      if (!found.found) throw new Error(found.why)
      expect(found.images.map(({ uuid }) => uuid).toSorted()).toEqual([public_, own, theirs].toSorted())
      expect(found.among).toContain('glance.trusted_projects')
    })
    test('an image of another project is had where its id is named', async () => {
      const bytes = randomBytes(1000)
      const uuid = await lab.put({}, bytes, lab.people.tenant)
      const owner = lab.people.tenant.projectId
      expect(await lab.glance.find(uuid)).toMatchObject({ found: true, image: { properties: { owner } } })
      expect(Buffer.compare(contentOf(await opened(lab.files(), uuid)), bytes)).toBe(0)
    })
    test('an image without data cannot be programmed', async () => {
      const uuid = await lab.put({}, null)
      expect(await lab.files().open(uuid, term())).toMatchObject({ why: 'inactive', detail: 'its status is queued' })
    })
    test.each([
      [{ imageMaxBytes: 1000 }, 'of which 1000 are allowed'],
      [{ cacheMaxBytes: 2000 }, 'of which 2000 are allowed'],
    ])('an image that is too large is not downloaded: %j', async (limits, detail) => {
      const { uuid } = await image()
      const { value, downloads } = await during(() => lab.files(limits).open(uuid, term()))
      expect(value).toEqual({ found: false, why: 'too_large', detail: `${BYTES} bytes, ${detail}` })
      expect(downloads).toBe(0)
    })
    test('is asked once for bytes that are in the cache, under whatever id, by several at once', async () => {
      const { uuid, bytes } = await image()
      const twin = await lab.put({}, bytes)
      const files = lab.files()
      const all = await during(() => Promise.all([uuid, uuid, twin].map((one) => opened(files, one))))
      expect(all.downloads).toBe(1)
      for (const file of all.value) expect(Buffer.compare(contentOf(file), bytes)).toBe(0)
    })
    test('when the kept file has changed it is fetched anew', async () => {
      const { uuid, bytes } = await image()
      const files = lab.files()
      const file = await opened(files, uuid)
      file.close()
      writeFileSync(file.path, randomBytes(BYTES))
      const again = await during(() => opened(files, uuid))
      expect([again.downloads, Buffer.compare(contentOf(again.value), bytes)]).toEqual([1, 0])
    })
    test('the connection is cut in the middle: the download is continued there', async () => {
      const { uuid, bytes } = await image()
      lab.proxy.inject({ harm: { kind: 'cut', afterBytes: 200_000 }, when: isFile, times: 1 })
      const file = await opened(lab.files(), uuid)
      expect(Buffer.compare(contentOf(file), bytes)).toBe(0)
      const { detail } = lab.log.said.findLast(({ message }) => message === 'images.downloaded')!
      expect(detail).toMatchObject({ image: uuid, bytes: BYTES, resumed_at: expect.any(Number) })
      expect((detail as { resumed_at: number }).resumed_at).toBeGreaterThan(0)
    })
    test('what a killed host has left is continued by the next one', async () => {
      const { uuid, bytes } = await image()
      const known = await lab.glance.find(uuid)
      const { algorithm, value } = known.found ? known.image.digest! : expect.unreachable()
      const dir = join(lab.folder('killed'), `${algorithm}_${value}`)
      mkdirSync(dir, { recursive: true })
      writeFileSync(join(dir, 'part'), bytes.subarray(0, 123_456))
      const file = await opened(lab.files({}, 'killed'), uuid)
      expect(Buffer.compare(contentOf(file), bytes)).toBe(0)
      expect(lab.log.said.at(-1)!.detail).toMatchObject({ image: uuid, resumed_at: 123_456 })
      expect(existsSync(join(dir, 'part'))).toBe(false)
    })
    test.each([
      ['other bytes', 123_456],
      ['more bytes than the image has', BYTES + 1],
      ['all bytes, and others', BYTES],
    ])('what it has left is %s: begun anew', async (_, count) => {
      const { uuid, bytes } = await image()
      const known = await lab.glance.find(uuid)
      const { algorithm, value } = known.found ? known.image.digest! : expect.unreachable()
      const name = randomUUID()
      const dir = join(lab.folder(name), `${algorithm}_${value}`)
      mkdirSync(dir, { recursive: true })
      writeFileSync(join(dir, 'part'), randomBytes(count))
      expect(Buffer.compare(contentOf(await opened(lab.files({}, name), uuid)), bytes)).toBe(0)
    })
    test('wrong bytes once: fetched again. Twice: a failure for good, and nothing is kept of them', async () => {
      const { uuid, bytes } = await image(Buffer.from('x'.repeat(1000)))
      const wrong = { kind: 'answer', status: 200, body: 'y'.repeat(1000) } as const
      lab.proxy.inject({ harm: wrong, when: isFile, times: 1 })
      expect(Buffer.compare(contentOf(await opened(lab.files(), uuid)), bytes)).toBe(0)
      lab.proxy.inject({ harm: wrong, when: isFile })
      const { value, downloads } = await during(() => lab.files({}, 'wrong').open(uuid, term()))
      expect([value, downloads]).toEqual([{ found: false, why: 'corrupt' }, 2])
      const [key] = readdirSync(lab.folder('wrong'))
      expect(readdirSync(join(lab.folder('wrong'), key!))).toEqual([])
    })
    test('more bytes come than the image has: a failure for good', async () => {
      const { uuid } = await image(Buffer.from('x'.repeat(1000)))
      lab.proxy.inject({ harm: { kind: 'answer', status: 200, body: 'x'.repeat(100_000) }, when: isFile })
      const got = await lab.files().open(uuid, term())
      expect(got).toEqual({ found: false, why: 'corrupt', detail: 'more bytes came than it has' })
    })
    test.each([
      ['answers 503', { kind: 'answer', status: 503 }],
      ['answers 429', { kind: 'answer', status: 429 }],
      ['resets the connection', { kind: 'resetBefore' }],
      ['is slow', { kind: 'slow', ms: 300 }],
      ['keeps silent', { kind: 'silentBefore' }],
      ['sends nothing that can be read', { kind: 'answer', status: 200, body: '<html>' }],
    ] as const)('that %s for a while is asked again', async (name, harm) => {
      const { uuid, bytes } = await image()
      const times = harm.kind === 'silentBefore' ? 1 : 2
      // an answer that is no description is judged as one: that is for good
      const when = name.startsWith('sends') ? isFile : undefined
      lab.proxy.inject({ harm, times, ...(when && { when }) })
      const file = await opened(lab.files(), uuid)
      expect(Buffer.compare(contentOf(file), bytes)).toBe(0)
    })
    test('bytes that stop coming are given up after a while, and asked for again', async () => {
      const { uuid, bytes } = await image()
      lab.proxy.inject({ harm: { kind: 'stall', afterBytes: 100_000 }, when: isFile, times: 1 })
      expect(Buffer.compare(contentOf(await opened(lab.files(), uuid)), bytes)).toBe(0)
    })
    test('nobody waits longer than the order: the last reason is told, and a retry may help', async () => {
      const { uuid } = await image()
      lab.proxy.inject({ harm: { kind: 'answer', status: 503 }, when: isFile })
      const began = performance.now()
      const got = await lab.files().open(uuid, term(2000))
      expect(got).toEqual({ found: false, why: 'unavailable', detail: 'the image service answers 503' })
      expect(performance.now() - began).toBeLessThan(10_000)
      lab.proxy.heal()
      const abort = new AbortController()
      abort.abort(new Error('a newer order came'))
      const aborted = await lab.files().open(uuid, { withinMs: 5000, signal: abort.signal })
      expect(aborted).toMatchObject({ found: false, why: 'unavailable' })
    })
    test('that has forbidden the bytes ends the work', async () => {
      const { uuid } = await image()
      lab.proxy.inject({ harm: { kind: 'answer', status: 403 }, when: isFile })
      expect(await lab.files().open(uuid, term())).toEqual({ found: false, why: 'forbidden' })
    })
    test('that does not answer is not needed for an image in the cache', async () => {
      const bytes = randomBytes(BYTES)
      const uuid = await lab.put({ vendor: 'intel', shell_id: '', function_uuid: randomUUID() }, bytes)
      const files = lab.files()
      const file = await opened(files, uuid)
      file.close()
      lab.proxy.inject({ harm: { kind: 'answer', status: 503 } })
      const again = await opened(files, uuid)
      expect(Buffer.compare(contentOf(again), bytes)).toBe(0)
      expect(again.image).toEqual(file.image)
      expect(again.image.properties).toMatchObject({ vendor: 'intel', shell_id: '' })
      expect(lab.glance.whyFailing()).toMatch(/503/)
      expect(await lab.files().open(uuid, term(800))).toMatchObject({ why: 'unavailable' })
    })
    test('the token is revoked between description and bytes', async () => {
      const { uuid, bytes } = await image()
      await lab.glance.find(uuid)
      const { authUrl } = place()
      const admin = await signIn(authUrl, 'admin', { project: 'admin' })
      const { token } = await lab.session.entry('image')
      const withdraw = () => revoke(authUrl, admin, { token, userId: '', projectId: null })
      lab.proxy.inject({ harm: { kind: 'first', run: withdraw }, when: isFile, times: 1 })
      expect(Buffer.compare(contentOf(await opened(lab.files(), uuid)), bytes)).toBe(0)
    })
    test('the cache keeps its size: what is not used for longest goes, what is in use stays', async () => {
      const files = lab.files({ cacheMaxBytes: 2.5 * BYTES }, 'small')
      const [old, used, fresh, last] = await Promise.all([image(), image(), image(), image()])
      const held = await opened(files, used.uuid)
      const gone = await opened(files, old.uuid)
      gone.close()
      const next = await opened(files, fresh.uuid)
      expect([existsSync(held.path), existsSync(gone.path), existsSync(next.path)]).toEqual([true, false, true])
      const full = await files.open(last.uuid, term(700))
      expect(full).toEqual({ found: false, why: 'unavailable', detail: 'images that are in use fill the cache' })
      held.close()
      expect(statSync((await opened(files, last.uuid)).path).size).toBe(BYTES)
      expect(existsSync(held.path)).toBe(false)
    })
    test('no password and no token is in the log', () => {
      const text = JSON.stringify(lab.log.said)
      expect(text).toContain('images.downloaded')
      expect(text).not.toContain('rig-secret')
      expect(text).not.toContain('gAAAA')
    })
  })
}
