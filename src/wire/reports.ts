/** Reports from a host (`host.reports.v1`): inventory, results of orders, heartbeats. */
import * as v from 'valibot'
import type { DeepReadonly } from '../vocabulary/deepReadonly.ts'
import { Cleaned } from '../vocabulary/cleaning.ts'
import { count, line, moment, name, ordinal, prose } from '../vocabulary/fields.ts'
import { ReportedDevice } from '../vocabulary/hardware.ts'
import type * as id from '../vocabulary/identifiers.ts'
import { Loaded } from '../vocabulary/loaded.ts'
import { ArqUuid, BootId, DeployableUuid, SlotUuid } from './identifiers.ts'
import { Measurements } from './measurements.ts'
import { OrderNumber } from './orders.ts'
import { PlaybookRun } from './playbooks.ts'
import { Slots } from './slots.ts'

const HostName: v.GenericSchema<string, id.HostName> = name(255)

export const BootNumber = ordinal
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
  number: ordinal,
  /** When the host observed it, ms since the epoch. */
  observedAt: moment,
}

/**
 * The full inventory of the host, one section for each enabled driver; `devices` is complete whenever status is `ok`.
 */
export const InventoryReport = v.object({
  ...Head,
  type: v.literal('Inventory'),
  version: name(40),
  /**
   * `new`: the host has no ledger, and asks what the journal holds prepared on it. Hosts up to release 0.2.0 do not say
   * it.
   */
  ledger: v.optional(v.literal('new')),
  /** What is prepared on the host. Hosts up to release 0.2.0 do not say it. */
  slots: v.optional(Slots),
  /** The last playbook of each driver. Absent: the host has none, or is of a release before 0.3.0. */
  playbooks: v.optional(v.pipe(v.array(PlaybookRun), v.maxLength(200))),
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
        v.object({ driver: name(100), status: v.literal('failed'), error: prose(2000) }),
      ]),
    ),
    v.maxLength(50),
  ),
})
export const Heartbeat = v.object({
  ...Origin,
  type: v.literal('Heartbeat'),
  observedAt: moment,
  status: v.object({
    drivers: v.record(line(100), v.picklist(['ok', 'failed', 'starting'])),
    ordersInHand: count,
    resultsWaiting: count,
  }),
  /**
   * What was measured since the heartbeat before, one reading for each driver. Hosts before release 0.3.0 do not say
   * it.
   */
  measured: v.optional(v.pipe(v.array(Measurements), v.maxLength(50))),
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
  trace: v.optional(line(100)),
  startedAt: moment,
  finishedAt: moment,
  result: v.variant('status', [
    /**
     * `cleaned`: of a release that was followed by a cleaning; `loaded`: an image was loaded. Hosts before release
     * 0.3.0 say neither.
     */
    v.object({
      status: v.literal('done'),
      bitstreamId: v.optional(prose(100)),
      cleaned: v.optional(Cleaned),
      loaded: v.optional(Loaded),
    }),
    /**
     * `final`: trying the same order again cannot help. `cleaned`: the slot is released, and its cleaning has failed.
     */
    v.object({ status: v.literal('failed'), reason: prose(2000), final: v.boolean(), cleaned: v.optional(Cleaned) }),
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
/** Digest of `slots`, where the report says them. */
export const SLOTS_HEADER = 'report-slots'
/** Present when the host waits for an answer, or gives one: the body has to be read. */
export const ASKS_HEADER = 'report-asks'
