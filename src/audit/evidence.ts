/** What invariants are judged by: the journal, and what everybody else wrote down for himself. All but the journal may be absent. */
import type { Memory } from '../actors/runtime/memory.ts'
import type { NovaEvent, NovaVerdict } from '../actors/neighbours.ts'
import type { JournalRow } from '../actors/runtime/ports.ts'
import type { Row, ViewName } from '../actors/runtime/views.ts'

/** A moment, as the number of journal rows that were committed then. */
export type JournalCount = number

/** One request of a client, as the client itself wrote it down. */
export type Asked = {
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
  /** When it was sent, and when its answer was there. */
  readonly from: JournalCount
  readonly to: JournalCount
  /** The same by the client's own clock, which alone can order what clients saw; ms. */
  readonly fromMs?: number
  readonly toMs?: number
  readonly caller: { readonly projectId: string; readonly isAdmin: boolean; readonly isService: boolean }
  /** HTTP status; null: no answer came, so anything may have happened. */
  readonly status: number | null
  /** ARQs it named, or was told of by the answer to `create`. */
  readonly arqs?: readonly string[]
  readonly instance?: string
  readonly device?: string
  /** What a read showed. */
  readonly shown?: readonly {
    readonly uuid: string
    readonly state: string
    readonly projectId: string | null
    readonly handle: string | null
  }[]
}
/** One event as Nova got it. `outcome` is what Nova did with it, whether or not its answer came through. */
export type Heard = NovaEvent & { readonly place: JournalCount; readonly outcome: NovaVerdict['outcome'] }
/** What happened on a host, in order: numbers that reached its disk, driver calls, and results that went to the bus. */
export type HostStep =
  | { readonly did: 'started'; readonly boot: string }
  | { readonly did: 'noted'; readonly slot: string; readonly number: number; readonly done: boolean }
  | { readonly did: 'prepare' | 'release' | 'program' | 'told'; readonly slot: string; readonly number: number }
export type HostTrace = {
  readonly name: string
  readonly steps: readonly HostStep[]
  /** Slots that its hardware holds prepared now, where somebody could look. */
  readonly prepared?: readonly string[]
}

/** One message as it lies on a topic. */
export type TopicMessage = {
  /** Without the prefix. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly key: string
  /** The CloudEvent's own attributes; all null: it cannot be read, or it is a tombstone. */
  readonly id: string | null
  readonly type: string | null
  readonly position: string | null
  /** ms since the epoch. */
  readonly time: number | null
  /** Null: a tombstone. */
  readonly body: unknown
}
/** All partitions of all topics from their beginnings, offset after offset. */
export type Topics = {
  readonly messages: readonly TopicMessage[]
  /** `<topic>/<partition>` of those whose oldest messages are gone, by age. */
  readonly cut: ReadonlySet<string>
  /** Up to it the relay has told everything; null: nobody knows. */
  readonly told: string | null
  /** No relay took over so lately that the states of its predecessor may still stand. */
  readonly settled: boolean
  /** From it on the journal may hold more than was read; null: it was read to its end. */
  readonly open: string | null
}

export type Evidence = {
  /** All rows in commit order; with their positions, where they came from a store or from topics. */
  readonly journal: readonly (JournalRow & { readonly position?: string })[]
  /** ms since the epoch, by the clock of the journal's `at`. */
  readonly now: number
  /** Faults have stopped and time was given: what should be over by now is over. */
  readonly quiet?: boolean
  /** Hosts that cannot do what they are told, now as well: nobody can expect their orders to be over. */
  readonly unable?: readonly string[]
  /** How late what a deadline asks for may be; 30 s when not given. */
  readonly slackMs?: number
  /** While nothing could be expected to work: outages, and what a clock jumped over. */
  readonly pauses?: readonly { readonly from: number; readonly to: number }[]
  readonly views?: { readonly [N in ViewName]?: readonly Row<N>[] }
  /** What living actors remember. */
  readonly memories?: readonly Memory[]
  readonly hosts?: readonly HostTrace[]
  readonly nova?: readonly Heard[]
  readonly clients?: readonly Asked[]
  readonly topics?: Topics
}
/** What proves a violation. */
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
  | { readonly of: 'host'; readonly host: string; readonly step: HostStep | null }
  | { readonly of: 'client'; readonly asked: Asked }
  | { readonly of: 'nova'; readonly heard: Heard }
export type Violation = {
  readonly invariant: string
  readonly meaning: string
  readonly found: string
  readonly proof: readonly Proof[]
}
