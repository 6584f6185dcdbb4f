/**
 * The input of the invariants: the journal, and independent records of clients, hosts, Nova and topics. All but the
 * journal are optional.
 */
import type {
  ArqUuid,
  DeviceUuid,
  HandleUuid,
  HostName,
  InstanceUuid,
  ProjectId,
  ResourceProviderUuid,
  SlotUuid,
} from '../vocabulary/identifiers.ts'
import type { Memory } from '../actors/runtime/memory.ts'
import type { NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import type { ReserveSilent } from '../actors/placement/wanted.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import type { Row, ViewName } from '../actors/runtime/views.ts'

/** A moment, expressed as the number of journal rows committed by then. */
export type JournalCount = number

/** One request, as the client itself recorded it. */
export type ClientRequest = {
  readonly act:
    | 'create'
    | 'bind'
    | 'unbind'
    | 'remove'
    | 'removeByInstance'
    | 'get'
    | 'list'
    | 'disable'
    | 'enable'
    | 'other'
  /** When the request was sent, and when its answer arrived. */
  readonly from: JournalCount
  readonly to: JournalCount
  /** The same times by the client's own clock, in ms; they order the observations of clients without the journal. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly caller: { readonly projectId: ProjectId; readonly isAdmin: boolean; readonly isService: boolean }
  /** HTTP status; null: no answer came, so anything may have happened. */
  readonly status: number | null
  /** ARQs named in the request, or in the answer to `create`. */
  readonly arqs?: readonly ArqUuid[]
  readonly instance?: InstanceUuid
  readonly device?: DeviceUuid
  /** ARQs in the answer to a read. */
  readonly shown?: readonly {
    readonly uuid: ArqUuid
    readonly state: string
    readonly projectId: ProjectId | null
    readonly handle: HandleUuid | null
  }[]
}
/**
 * One event as Nova received it. `rowCount`: how many journal rows there were then. `outcome`: how Nova treated the
 * event, even if its answer did not arrive.
 */
export type Heard = NovaEvent & { readonly rowCount: JournalCount; readonly outcome: NovaVerdict['outcome'] }
/**
 * The events on a host, in order: order numbers written to its disk, driver calls, and results published on the bus.
 */
export type HostStep =
  | { readonly did: 'started'; readonly boot: string }
  | {
      readonly did: 'noted'
      readonly slot: SlotUuid
      readonly number: number
      readonly done: boolean
      /** The ARQ for which the slot is prepared from now on; null: none. Absent: the same as before, or unknown. */
      readonly preparedFor?: ArqUuid | null
    }
  | {
      readonly did: 'prepare' | 'release' | 'program' | 'reported'
      readonly slot: SlotUuid
      readonly number: number
      /**
       * For a programming: the other slots of the deployable that were prepared in its hardware. Absent: none, or
       * unknown.
       */
      readonly beside?: readonly string[]
      /** For a preparation: the image that the card held at that time; null: none. Absent: unknown. */
      readonly holds?: string | null
    }
export type HostTrace = {
  readonly name: string
  readonly steps: readonly HostStep[]
  /** Slots that are prepared in the host's hardware now, where the hardware can be inspected. */
  readonly prepared?: readonly string[]
  /** Images that the host's cards hold now, by name of the deployable, where the hardware can be inspected. */
  readonly loaded?: Readonly<Record<string, string>>
  /**
   * The cleanings that succeeded on the host, each as `<slot> <number of its order>`, where cleanings can be observed.
   */
  readonly cleaned?: readonly string[]
}

/** One message of a topic. */
export type TopicMessage = {
  /** The name of the topic without the prefix. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly key: string
  /** Attributes of the CloudEvent; all null if it cannot be parsed or is a tombstone. */
  readonly id: string | null
  readonly type: string | null
  readonly position: string | null
  /** ms since the epoch. */
  readonly time: number | null
  /** Null: a tombstone. */
  readonly body: unknown
}
/** The messages of all partitions of all topics from the oldest on, in order of offset. */
export type Topics = {
  readonly messages: readonly TopicMessage[]
  /** `<topic>/<partition>` of the partitions whose oldest messages were deleted by retention. */
  readonly cut: ReadonlySet<string>
  /** The checkpoint of the relay, which has published everything up to this position; null: unknown. */
  readonly publishedTo: string | null
  /** False: a relay took over so recently that the topics may still hold the states of its predecessor. */
  readonly settled: boolean
  /**
   * From this position on, the journal may hold rows that the audit has not read; null: the journal was read to its
   * end.
   */
  readonly open: string | null
}

export type LostRow = Pick<JournalRow, 'key' | 'version' | 'commandId' | 'events' | 'at' | 'cause'>
export type Loss = {
  readonly rows: readonly LostRow[]
  /** Between these times, in ms by the clients' clock, answers may have told of these rows. */
  readonly fromMs: number
  readonly toMs: number
  /** The earliest time at which the rows may have been gone; absent: `toMs`. */
  readonly goneMs?: number
  /** When an operator adopted the remaining rows, by the clock of the database; null: not yet. Absent: unknown. */
  readonly adoptedAt?: number | null
}

/** Placement as recorded by an observer between this service and Placement. */
export type PlacementSeen = {
  /** The providers at the end of the observation. */
  readonly providers: readonly {
    readonly uuid: ResourceProviderUuid
    readonly name: string
    readonly inventories: Readonly<Record<string, unknown>>
    readonly traits: readonly string[]
    /** The units of the provider that each consumer has. */
    readonly allocated: Readonly<Record<string, number>>
  }[]
  /**
   * The requests of this service that changed a provider. `foreign`: it was not ours at that time; `allocated`: some of
   * its units were allocated.
   */
  readonly writes: readonly {
    readonly uuid: ResourceProviderUuid
    readonly what: string
    readonly foreign: boolean
    readonly allocated: boolean
  }[]
  /** The setting that says after which silence of a host all its units are reserved. */
  readonly reserveSilent: ReserveSilent
}

/** Rows that may be too many for memory: an array, or an object that reads them again for each iteration. */
export type Rows<Item> = Iterable<Item> & {
  readonly length: number
  /** Counts from the end when negative. */
  readonly at: (index: number) => Item | undefined
}

/** `position`: known if the row was read from a store or from topics. */
export type Recorded = JournalRow & { readonly position?: string }
export type Evidence = {
  /** All rows in commit order. */
  readonly journal: readonly Recorded[]
  /** ms since the epoch, by the clock of the journal's `at`. */
  readonly now: number
  /** True: faults have ended and enough time has passed, so that all work must be finished. */
  readonly quiet?: boolean
  /** Hosts that still cannot carry out orders, so that their orders need not be finished. */
  readonly unable?: readonly string[]
  /** The age from which on unbound requests are deleted, as an operator has set it; 0 or absent: never. */
  readonly unboundTtlMs?: number
  /** How long after its deadline an action may happen. Default 30 s. */
  readonly slackMs?: number
  /** Periods in which nothing was expected to work: outages, and jumps of a clock. */
  readonly pauses?: readonly { readonly from: number; readonly to: number }[]
  readonly views?: { readonly [N in ViewName]?: readonly Row<N>[] }
  /** The memory of live actors. */
  readonly memories?: readonly Memory[]
  readonly hosts?: readonly HostTrace[]
  readonly nova?: readonly Heard[]
  readonly clients?: readonly ClientRequest[]
  readonly topics?: Topics
  readonly placement?: PlacementSeen
  /** The rows that the database has lost, oldest loss first. */
  readonly lost?: readonly Loss[]
}
/** Evidence of any size, as the invariants read it. */
export type Records = Omit<Evidence, 'journal' | 'views'> & {
  readonly journal: Rows<Recorded>
  readonly views?: { readonly [N in ViewName]?: Rows<Row<N>> }
}
/** The proof of a violation. */
export type Proof =
  | {
      readonly of: 'journal'
      readonly key: string
      readonly version: number
      readonly position?: string
      readonly commandId: string
      readonly at: number
      readonly events: readonly string[]
    }
  | ({ readonly of: 'topic' } & Pick<TopicMessage, 'topic' | 'partition' | 'offset' | 'key' | 'id' | 'position'>)
  | { readonly of: 'view'; readonly view: ViewName; readonly key: string }
  | { readonly of: 'host'; readonly host: HostName; readonly step: HostStep | null }
  | { readonly of: 'client'; readonly asked: ClientRequest }
  | { readonly of: 'nova'; readonly heard: Heard }
  | {
      readonly of: 'placement'
      readonly uuid: ResourceProviderUuid
      /** The write, or the provider as Placement shows it; null: there is no such provider. */
      readonly seen: PlacementSeen['writes'][number] | PlacementSeen['providers'][number] | null
    }
export type Violation = {
  readonly invariant: string
  readonly meaning: string
  readonly found: string
  readonly proof: readonly Proof[]
}
