/** The body of a request to program a deployable: a JSON patch whose first operation names an image. */
import * as v from 'valibot'
import { invalid } from '../faults.ts'
import type { Body } from '../route.ts'
import { refusalOf } from '../schemas.ts'
import { UUID_SHAPE } from '../shapes.ts'
import { canonicalUuid } from '../../vocabulary/uuid.ts'

/** Whether the text is a UUID is checked after the shape, so that the refusal can name the field. */
const ImageUuid = v.pipe(v.string(), v.metadata({ ...UUID_SHAPE }))
const Image = v.looseObject({ image_uuid: ImageUuid })
const Operation = v.strictObject({
  op: v.picklist(['replace', 'add']),
  path: v.picklist(['/program', '/bitstream_id', '/bitstream']),
  value: v.union([v.tupleWithRest([Image], v.unknown()), Image, ImageUuid], 'it must be [{"image_uuid": "<uuid>"}]'),
})
/** Later operations have always been ignored, so their content is not checked. */
const Patch = v.tupleWithRest([Operation], v.unknown())

const imageIn = (value: v.InferOutput<typeof Operation>['value']): string =>
  typeof value === 'string' ? value : 'image_uuid' in value ? value.image_uuid : value[0].image_uuid

/** Reads the image's UUID. */
export const program: Body<string> = {
  schema: Patch,
  read: (json) => {
    const parsed = v.safeParse(Patch, json)
    if (!parsed.success) return refusalOf(parsed.issues)
    const image = canonicalUuid(imageIn(parsed.output[0].value))
    return image === null ? invalid('image_uuid', 'it must be a UUID') : { ok: true, value: image }
  },
}
