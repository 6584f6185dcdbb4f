/** What the service is told to count, and what Nova has yet to hear. */
import type { ArqUuid, HostName, InstanceUuid } from '../../identifiers.ts'

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
  /** Devices that count as bad, and are not offered. */
  readonly failingDevices: number
  /** Hosts by the worst that is recorded of them in Placement; empty where there is none. */
  readonly placement: Readonly<Record<string, number>>
  readonly standing: Standing
}
/** How the service itself gets on. */
export type Standing = {
  /** `late`: more than half of their time is over; counted up to `LATE_MAX`. `nextAt`: the deadline that comes first. */
  readonly binds: { readonly late: number; readonly nextAt: number | null }
  /** The oldest recorded moment that has passed and was not attended to; null: there is none. */
  readonly overdueSince: number | null
  /** `newestAt`: when the last row was written. `untoldSince`: when the oldest one was written that is not on the bus; null: all are. */
  readonly journal: {
    readonly newestAt: number | null
    readonly untoldSince: number | null
    /** The database has lost rows, and nothing is written until an operator adopts what it holds. */
    readonly isStopped: boolean
  }
  /** What this process has found since its start, and when it last did. */
  readonly found: Readonly<Record<Found, { readonly count: number; readonly lastAt: number | null }>>
  /** Entities whose view rows this process has compared with their journal. */
  readonly viewsChecked: number
}
export const LATE_MAX = 100
export const FOUND = ['viewsDiffer', 'orphans', 'slotDifferences', 'refusedReports', 'deadLetters'] as const
export type Found = (typeof FOUND)[number]
/** What the program around the actors knows. */
export type Surroundings = {
  /** The reader under whose name it is stored how far the journal is on the bus. */
  readonly relay: string
  readonly isStopped: () => Promise<boolean>
  /** Messages that this process stored among the dead letters since its start. */
  readonly deadLetters: () => { readonly count: number; readonly lastAt: number | null }
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
