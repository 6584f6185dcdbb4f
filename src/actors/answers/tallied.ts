/**
 * The API's answers about the whole service: counts by state, signs of trouble, and the events that Nova has not taken
 * yet.
 */
import type { ArqUuid, DeviceUuid, HostName, InstanceUuid } from '../../vocabulary/identifiers.ts'

/** Numbers of entities by state; a state that no entity has is left out. Moments are ms since the epoch. */
export type Overview = {
  readonly countedAt: number
  readonly arqs: Readonly<Record<string, number>>
  readonly handles: Readonly<Record<string, number>>
  /** Number of hosts by liveness; `retired`: those that an operator has taken out of service. */
  readonly hosts: Readonly<Record<string, number>>
  /** Number of devices by the status that an operator has set. */
  readonly devices: Readonly<Record<string, number>>
  /** Number of devices by their one state (`device/standing.ts`). */
  readonly deviceStates: Readonly<Record<string, number>>
  readonly vanished: Faulty
  readonly failing: Faulty
  /** Orders that hosts have not answered yet. */
  readonly orders: { readonly waiting: number; readonly oldestAt: number | null }
  /**
   * Instances with events that Nova has not taken yet; `oldestAt`: the earliest moment at which one of them is tried
   * again. `undelivered`: instances about which Nova is not notified any more, although it has not taken an event of a
   * request that is still there.
   */
  readonly deliveries: { readonly waiting: number; readonly oldestAt: number | null; readonly undelivered: number }
  /** Devices that count as failing, which are not offered. */
  readonly failingDevices: number
  /** Number of hosts by the worst state that is recorded of them in Placement; a state that no host has is left out. */
  readonly placement: Readonly<Record<string, number>>
  readonly progress: Progress
}
/** The devices of one bad state. */
export type Faulty = {
  readonly devices: number
  /** How many requests, and how many servers, hold a part of one. */
  readonly arqs: number
  readonly instances: number
  /** Since when the first of them is in that state, as far as that is recorded; null: there are none. */
  readonly since: number | null
  /** At most `CARDS_SHOWN`: those in use first, and of these the latest. `place`: its PCI address, if it has one. */
  readonly cards: readonly { readonly uuid: DeviceUuid; readonly host: HostName; readonly place: string | null }[]
}
export const CARDS_SHOWN = 3
/** Whether the service keeps up with its own work. */
export type Progress = {
  /**
   * `late`: open binds that have used more than half of their time, counted up to `LATE_MAX`. `nextAt`: the earliest
   * deadline of a bind.
   */
  readonly binds: { readonly late: number; readonly nextAt: number | null }
  /** The oldest due moment that has passed and whose work was not done; null: there is none. */
  readonly overdueSince: number | null
  /**
   * `newestAt`: when the newest row was written. `untoldSince`: when the oldest row was written that is not on the bus
   * yet; null: all are.
   */
  readonly journal: {
    readonly newestAt: number | null
    readonly untoldSince: number | null
    /** The database has lost rows, and nothing is written until an operator accepts the rows that are left. */
    readonly isStopped: boolean
  }
  /** The irregularities that this process has counted since its start, and when it counted each kind last. */
  readonly found: Readonly<Record<Found, { readonly count: number; readonly lastAt: number | null }>>
  /** Entities whose view rows this process has compared with their journal. */
  readonly viewsChecked: number
}
export const LATE_MAX = 100
export const FOUND = ['viewsDiffer', 'orphans', 'slotDifferences', 'refusedReports', 'deadLetters'] as const
export type Found = (typeof FOUND)[number]
/** Facts about this process that the actors do not know. */
export type Surroundings = {
  /** The name of the reader whose checkpoint is the last journal position that is on the bus. */
  readonly relay: string
  readonly isStopped: () => Promise<boolean>
  /** Dead letters that nobody has handled, or, where they were not read, those that this process has stored. */
  readonly deadLetters: () => { readonly count: number; readonly lastAt: number | null }
}
export const DELIVERY_STATES = ['waiting', 'undelivered'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]
export type DeliveriesAsked = {
  readonly state: DeliveryState
  readonly limit: number
  readonly marker?: InstanceUuid
}
/**
 * The events about one instance that Nova has not taken. `waiting`: Nova is told again. `undelivered`: only if an
 * operator asks for it.
 */
export type Delivery = {
  readonly state: DeliveryState
  readonly instance: InstanceUuid
  readonly hostname: HostName
  /** The request id of the bind that the events are about. */
  readonly requestId: string
  /** The status that Nova is to be told for each ARQ. */
  readonly statuses: Readonly<Record<ArqUuid, 'completed' | 'failed'>>
  /** Of several events the one that was tried most often. */
  readonly attempts: number
  /** Null: Nova is not notified any more. */
  readonly nextAt: number | null
  /** When delivery ends, or has ended for the first of the events; null: the events were delivered meanwhile. */
  readonly until: number | null
  /** What Nova answered last about the instance, for each ARQ whose event is undelivered and has an answer. */
  readonly answers: Readonly<Record<ArqUuid, string>>
}
