/** How long a host needed to load an image into a card. Said with the result of an order that did so; hosts before release 0.3.0 do not say it. */
import * as v from 'valibot'
import type { DeepReadonly } from './deepReadonly.ts'
import { count } from './fields.ts'

export const Loaded = v.object({
  /** Until the image was there and verified. */
  fetchMs: count,
  /** Until the card's own tool had written it and the card held it. */
  programMs: count,
})
export type Loaded = DeepReadonly<v.InferOutput<typeof Loaded>>
