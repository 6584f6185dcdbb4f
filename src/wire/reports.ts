/** Reports from a host (`host.reports.v1`): inventory, results of orders, heartbeats. */
import * as v from 'valibot'
import type { DeepReadonly } from '../deepReadonly.ts'
import { ReportedDevice } from '../hardware.ts'
import type * as id from '../identifiers.ts'
import { ArqUuid, BootId, DeployableUuid, SlotUuid } from './identifiers.ts'
import { OrderNumber } from './orders.ts'

const text = (max: number) => v.pipe(v.string(), v.maxLength(max))
/** No store and no file name takes control characters. */
const HostName: v.GenericSchema<string, id.HostName> = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(255),
  v.regex(/^[^\p{Cc}\p{Cs}]+$/u),
)
const name = (max: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(max))

export const BootNumber = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
const Origin = {
  host: HostName,
  /** New at each start of the host program. */
  bootId: BootId,
  /** Rises with each start of the host program. Hosts up to release 0.2.0 do not say it. */
  bootNumber: v.optional(BootNumber),
}
const Head = {
  ...Origin,
  /** Rises by one with each report of one boot; older and repeated ones are ignored. */
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** When the host observed it, ms since the epoch. */
  observedAt: v.number(),
}

/** The full inventory of the host, one section for each enabled driver; `devices` is complete whenever status is `ok`. */
export const InventoryReport = v.object({
  ...Head,
  type: v.literal('Inventory'),
  version: name(40),
  /** Other names of the same host (node name, FQDN). */
  aliases: v.pipe(v.array(HostName), v.maxLength(100)),
  drivers: v.pipe(
    v.array(
      v.variant('status', [
        v.object({
          driver: name(100),
          status: v.literal('ok'),
          devices: v.pipe(v.array(ReportedDevice), v.maxLength(1000)),
        }),
        v.object({ driver: name(100), status: v.literal('failed'), error: text(2000) }),
      ]),
    ),
    v.maxLength(50),
  ),
})
export const Heartbeat = v.object({
  ...Origin,
  type: v.literal('Heartbeat'),
  observedAt: v.number(),
  status: v.object({
    drivers: v.record(v.string(), v.picklist(['ok', 'failed', 'starting'])),
    ordersInHand: v.number(),
    resultsWaiting: v.number(),
  }),
})
export const OrderResult = v.object({
  ...Origin,
  type: v.literal('OrderResult'),
  order: v.picklist(['PrepareSlot', 'ReleaseSlot', 'Program', 'Probe']),
  slot: SlotUuid,
  deployableUuid: DeployableUuid,
  number: OrderNumber,
  arq: v.optional(ArqUuid),
  /** `traceparent` of the work on the host. */
  trace: v.optional(text(100)),
  startedAt: v.number(),
  finishedAt: v.number(),
  result: v.variant('status', [
    v.object({ status: v.literal('done'), bitstreamId: v.optional(text(100)) }),
    /** `final`: trying the same order again cannot help. */
    v.object({ status: v.literal('failed'), reason: text(2000), final: v.boolean() }),
  ]),
})
export const Report = v.variant('type', [InventoryReport, Heartbeat, OrderResult])
export type Report = DeepReadonly<v.InferOutput<typeof Report>>
export type InventoryReport = DeepReadonly<v.InferOutput<typeof InventoryReport>>
export type Heartbeat = DeepReadonly<v.InferOutput<typeof Heartbeat>>
export type OrderResult = DeepReadonly<v.InferOutput<typeof OrderResult>>

/** Headers of an inventory report: enough to recognise an unchanged one without parsing its body. */
export const REPORT_HEADERS = {
  kind: 'report-kind',
  host: 'report-host',
  boot: 'report-boot',
  number: 'report-number',
  observedAt: 'report-observed-at',
  digest: 'report-digest',
} as const
