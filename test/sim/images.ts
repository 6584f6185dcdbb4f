/** The images of the simulation. */
import { catalogueOf, filesOf } from '../support/images.ts'

export const IMAGES = ['4a3bd0ae-0000-4000-8000-000000000001', '4a3bd0ae-0000-4000-8000-000000000002'] as const
export const UNKNOWN_IMAGE = '4a3bd0ae-0000-4000-8000-00000000dead'

const isThere = (image: string): boolean => (IMAGES as readonly string[]).includes(image)
export const imagesOf = () => catalogueOf(isThere)
export const imageFilesOf = () => filesOf(isThere)
