/**
 * The description of an image in the form in which a host keeps it beside the bytes, so that it can judge the image
 * while nobody can be asked.
 */
import type { ImageUuid } from '../../vocabulary/identifiers.ts'
import * as v from 'valibot'
import type { Image } from '../../vocabulary/images.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'

const Kept = v.object({
  uuid: v.string(),
  name: v.nullable(v.string()),
  size: v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0))),
  digest: v.nullable(v.object({ algorithm: v.string(), value: v.string() })),
  tags: v.pipe(v.array(v.string()), v.readonly()),
  properties: v.record(v.string(), v.string()),
})

export const descriptionText = (image: Image): string => JSON.stringify(image satisfies v.InferOutput<typeof Kept>)

/** Null: the text is not the whole description of this image. */
export const describedIn = (text: string, uuid: ImageUuid): Image | null => {
  const read = v.safeParse(Kept, jsonIn(text))
  return read.success && read.output.uuid === uuid ? read.output : null
}
