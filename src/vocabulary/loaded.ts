/**
 * How long a host needed to load an image into a card. Results of orders that loaded one contain it; hosts before
 * release 0.3.0 do not send it.
 */
import * as v from 'valibot'
import type { DeepReadonly } from './deepReadonly.ts'
import { count } from './fields.ts'

export const Loaded = v.object({
  /** Milliseconds until the image was available and verified. */
  fetchMs: count,
  /** Milliseconds until the card's own tool had written the image and the card held it. */
  programMs: count,
})
export type Loaded = DeepReadonly<v.InferOutput<typeof Loaded>>
