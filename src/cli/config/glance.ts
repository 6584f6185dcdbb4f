/** The options of the image service. They have an effect only if images come from Glance and not from a folder. */
import * as k from './kinds.ts'
import { row } from './row.ts'

const MIB = 1024 * 1024
const TIB = 1024 * 1024 * MIB

export const GLANCE = {
  'glance.timeout_seconds': row('glance.timeoutMs', k.seconds(0.1, 120), 10, {
    about: 'Time limit for the description of an image, for a page of a list, and for the beginning of a download.',
  }),
  'glance.idle_seconds': row('glance.idleMs', k.seconds(0.5, 600), 30, {
    about: 'A download of which nothing comes for so long is interrupted, and continued.',
  }),
  'glance.total_seconds': row('glance.totalMs', k.seconds(1, 86_400), 900, {
    about:
      'Time limit for getting an image to a host, with all retries. Programming has less time than that if its own deadline comes earlier.',
  }),
  'glance.image_max_bytes': row('glance.imageMaxBytes', k.count(1, TIB, 'bytes'), 1024 * MIB, {
    about: 'A larger image is not downloaded.',
  }),
  'glance.cache_max_bytes': row('glance.cacheMaxBytes', k.count(1, TIB, 'bytes'), 8192 * MIB, {
    about:
      'Size of the images that a host keeps, in `images` of its data folder. Those that were not used for longest leave first.',
  }),
  'glance.downloads_max': row('glance.downloadsMax', k.count(1, 16), 2, { about: 'Downloads of a host at one time.' }),
  'glance.trusted_projects': row('glance.trustedProjects', k.fewNames(16), [], {
    about:
      'Ids of projects whose images a search by accel:bitstream_name, accel:function_id or accel:function_name finds, beside public images and those of the ' +
      "service's own project. Images of other projects are used only where their id is named.",
  }),
  'glance.allow_unverified': row('glance.allowUnverified', k.toggle, false, {
    about: 'Program images of which the image service has no digest. Their bytes are not verified.',
  }),
}
