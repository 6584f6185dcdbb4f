/** Image stores for tests of other things. */
import type { ImageCatalogue } from '../../src/actors/neighbours.ts'
import { type Image, type ImageFiles, type ImageProblem, noImage } from '../../src/vocabulary/images.ts'

export const imageOf = (uuid: string): Image => ({
  uuid,
  name: null,
  size: null,
  digest: null,
  tags: ['FPGA'],
  properties: {},
})
/** Has every image that `holds`. */
export const catalogueOf = (
  holds: (image: string) => boolean = () => true,
  properties: (image: string) => Image['properties'] = () => ({}),
): ImageCatalogue => ({
  find: async (uuid) =>
    holds(uuid) ? { found: true, image: { ...imageOf(uuid), properties: properties(uuid) } } : noImage('unknown'),
  search: async () => ({ found: true, images: [] }),
})
/** Each in a file of its own in `/images`. */
export const filesOf = (
  holds: (image: string) => boolean = () => true,
  properties: (image: string) => Image['properties'] = () => ({}),
): ImageFiles => ({
  open: async (uuid) =>
    holds(uuid)
      ? {
          found: true,
          image: { ...imageOf(uuid), properties: properties(uuid) },
          path: `/images/${uuid}`,
          close: () => {},
        }
      : noImage('unknown'),
})
/** Has none, for this reason. */
export const noCatalogue = (why: ImageProblem = 'none'): ImageCatalogue => ({
  find: async () => noImage(why),
  search: async () => noImage(why),
})
