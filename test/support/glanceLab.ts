/** The client of Glance behind a proxy that does harm, with a cache of its own. The Glance is real, or its double. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/vocabulary/clock.ts'
import type { ImageFiles } from '../../src/vocabulary/images.ts'
import { createImageCache } from '../../src/neighbours/images/cache.ts'
import { createGlance, type Glance } from '../../src/neighbours/images/glance.ts'
import { createGlanceFiles, type FilesOptions } from '../../src/neighbours/images/glanceFiles.ts'
import { createSender } from '../../src/neighbours/openstack/send.ts'
import { createSession } from '../../src/neighbours/openstack/session.ts'
import { createStream } from '../../src/neighbours/openstack/stream.ts'
import { sessionOptions } from '../contracts/keystone.contract.ts'
import { faultyProxy } from '../neighbours/faultyProxy.ts'
import { type Upload, uploadImage } from './imageUpload.ts'
import { memoryLog } from './lab.ts'
import { tempFolder } from './program.ts'
import { signIn } from './signIn.ts'

const FILES: FilesOptions = {
  totalMs: 20_000,
  imageMaxBytes: 10_000_000,
  cacheMaxBytes: 20_000_000,
  downloadsMax: 2,
  pauses: { firstMs: 50, maxMs: 500 },
  allowUnverified: false,
}
export type GlancePlace = {
  readonly authUrl: string
  readonly glanceUrl: string
  /** Time limit for a request; a real service on a busy machine needs more. */
  readonly timeoutMs?: number
}

export const openGlanceLab = async ({ authUrl, glanceUrl, timeoutMs = 1000 }: GlancePlace) => {
  const proxy = await faultyProxy(glanceUrl)
  const folder = tempFolder('glance')
  const log = memoryLog()
  const sender = createSender(null)
  const stream = createStream(sender.agent)
  /** The catalogue names the service, not the proxy. */
  const turned = <Sent extends { readonly url: string }>(sent: Sent): Sent => ({
    ...sent,
    url: sent.url.replace(glanceUrl, proxy.url),
  })
  const session = createSession({
    options: { ...sessionOptions(authUrl), timeoutMs },
    send: (request) => sender.send(turned(request)),
    stream: (request) => stream(turned(request)),
    clock: systemClock,
    log,
  })
  const trusted = await signIn(authUrl, 'beta-member', { project: 'beta' })
  const trustedProjects = [trusted.projectId!]
  const glance: Glance = createGlance(session, { timeoutMs, idleMs: 500, trustedProjects })
  const operator = await signIn(authUrl, 'cyborg', { project: 'service' })
  const tenant = await signIn(authUrl, 'alpha-member', { project: 'alpha' })
  let caches = 0
  /** The same `cache` is one that a host which was killed has left. */
  const files = (options: Partial<FilesOptions> = {}, cache = `cache-${caches++}`): ImageFiles => {
    const all = { ...FILES, ...options }
    const dir = join(folder.path, cache)
    mkdirSync(dir, { recursive: true })
    const kept = createImageCache(dir, all.cacheMaxBytes, systemClock)
    return createGlanceFiles({ glance, cache: kept, options: all, clock: systemClock, log })
  }
  return {
    proxy,
    log,
    session,
    glance,
    files,
    folder: (cache: string) => join(folder.path, cache),
    /** Of the service's project and an admin; of a project that is trusted; of another project. */
    people: { operator, trusted, tenant },
    put: (description: Upload, bytes: Uint8Array | null, by = operator) =>
      uploadImage(glanceUrl, by.token, description, bytes),
    /** How often bytes were asked for. */
    downloads: () => proxy.asked.filter((line) => line.endsWith('/file')).length,
    close: async () => {
      await sender.close()
      await proxy.close()
      folder.remove()
    },
  }
}
export type GlanceLab = Awaited<ReturnType<typeof openGlanceLab>>
