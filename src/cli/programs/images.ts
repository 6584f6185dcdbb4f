/**
 * Chooses the source of images: a configured folder; otherwise Glance, if the program has a session with a cloud;
 * otherwise none.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageCatalogue } from '../../actors/neighbours.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { ImageFiles } from '../../vocabulary/images.ts'
import type { Log } from '../../vocabulary/log.ts'
import { createImageCache } from '../../neighbours/images/cache.ts'
import { folderCatalogue, folderFiles } from '../../neighbours/images/folder.ts'
import { createGlance, type Glance } from '../../neighbours/images/glance.ts'
import { createGlanceFiles } from '../../neighbours/images/glanceFiles.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { repeatedly } from '../../vocabulary/waiting.ts'
import type { Closer } from '../closer.ts'
import type { Config } from '../config/config.ts'

export type ImageSource = 'absent' | 'a folder' | 'the image service'
export type ImageStores = {
  readonly catalogue: ImageCatalogue
  /** Uses a cache in the data folder if images come from Glance. */
  readonly files: () => Promise<ImageFiles>
  /** Why images cannot be had at present; null: no reason is known, or the cloud has no image service. */
  readonly whyFailing: () => string | null
  readonly source: () => ImageSource
}
type Parts = {
  readonly config: Pick<Config, 'images' | 'glance' | 'data'>
  /** Null: the program has no session with a cloud. */
  readonly session: Session | null
  readonly clock: Clock
  readonly log: Log
  readonly open: Pick<Closer, 'add'>
}
/**
 * While Glance does not answer it is checked this often, so that its recovery is noticed even if nobody asks for an
 * image.
 */
const LOOK_MS = 30_000
/** Pauses between two attempts to get an image to a host. */
const PAUSES = { firstMs: 500, maxMs: 15_000 }

/** Logs at the start, and at each change, whether images can be had. */
const looking = (glance: Glance, { clock, log, open }: Parts): void => {
  let last: 'reachable' | 'unreachable' | 'absent' | null = null
  const tell = (reason: string | null): void => {
    const found = glance.isAbsent() ? 'absent' : 'reachable'
    const now = reason === null ? found : 'unreachable'
    if (last === now) return
    last = now
    if (reason !== null) log.warn({ store: 'glance', reason }, 'images.unreachable')
    else log.info({ store: 'glance' }, `images.${now}`)
  }
  const stop = repeatedly(clock, { everyMs: LOOK_MS }, async (isStopped) => {
    if (last !== 'reachable' || glance.whyFailing() !== null) await glance.look()
    if (!isStopped()) tell(glance.whyFailing())
  })
  open.add(stop)
}

export const openImages = (parts: Parts): ImageStores => {
  const { config, session, clock, log } = parts
  const { images: folder, glance: options, data } = config
  if (folder !== null || session === null)
    return {
      catalogue: folderCatalogue(folder, log),
      files: async () => folderFiles(folder, log),
      whyFailing: () => null,
      source: () => (folder === null ? 'absent' : 'a folder'),
    }
  const glance = createGlance(session, options)
  looking(glance, parts)
  return {
    catalogue: glance,
    files: async () => {
      const dir = join(data, 'images')
      await mkdir(dir, { recursive: true })
      const cache = createImageCache(dir, options.cacheMaxBytes, clock)
      return createGlanceFiles({ glance, cache, options: { ...options, pauses: PAUSES }, clock, log })
    },
    whyFailing: () => (glance.whyFailing() === null ? null : `images: ${glance.whyFailing()}`),
    source: () => (glance.isAbsent() ? 'absent' : 'the image service'),
  }
}
