/** What drivers measured of their devices, as heartbeats carry it. */
import * as v from 'valibot'
import type { DeepReadonly } from '../vocabulary/deepReadonly.ts'
import { line, moment, name, prose } from '../vocabulary/fields.ts'
import { HEALTHS } from '../vocabulary/health.ts'

const NUMBERS_MAX = 64
export const MeasuredDevice = v.object({
  /** As in the inventory. */
  controlPath: name(1000),
  health: v.picklist(HEALTHS),
  /** Why it is not `ok`, the worst first. */
  reasons: v.pipe(v.array(prose(300)), v.maxLength(16)),
  /** By quantity. A later release may send others. */
  numbers: v.pipe(v.record(line(64), v.pipe(v.number(), v.finite())), v.maxEntries(NUMBERS_MAX)),
})
/** One reading of one driver. */
export const Measurements = v.object({
  driver: name(100),
  /** When it was read, ms since the epoch, by the clock of the host. */
  at: moment,
  /** Why not all devices are listed; without it, one that is not listed cannot be measured. */
  complaint: v.optional(prose(500)),
  devices: v.pipe(v.array(MeasuredDevice), v.maxLength(1000)),
})
export type MeasuredDevice = DeepReadonly<v.InferOutput<typeof MeasuredDevice>>
export type Measurements = DeepReadonly<v.InferOutput<typeof Measurements>>
