/** What the service is told to count, and what Nova has yet to hear. */
import type { ArqUuid, HostName, InstanceUuid } from '../identifiers.ts'

/** How many there are by state; states of which there is none are left out. Moments are ms since the epoch. */
export type Overview = {
  readonly countedAt: number
  readonly arqs: Readonly<Record<string, number>>
  readonly handles: Readonly<Record<string, number>>
  /** By liveness. */
  readonly hosts: Readonly<Record<string, number>>
  /** By status. */
  readonly devices: Readonly<Record<string, number>>
  /** Orders that their hosts have not answered yet. */
  readonly orders: { readonly waiting: number; readonly oldestAt: number | null }
  /** Instances whose events Nova has not taken yet; `oldestAt`: the next try that is due first. */
  readonly deliveries: { readonly waiting: number; readonly oldestAt: number | null }
}
/** The events about one instance that Nova has not taken yet. */
export type Delivery = {
  readonly instance: InstanceUuid
  readonly hostname: HostName
  /** Of the bind that they are about. */
  readonly requestId: string
  /** What Nova is to be told, by accelerator request. */
  readonly statuses: Readonly<Record<ArqUuid, 'completed' | 'failed'>>
  readonly attempts: number
  readonly nextAt: number
  /** When it is given up; null: delivered meanwhile. */
  readonly until: number | null
}
