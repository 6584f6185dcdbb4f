/**
 * A page before it is drawn. The server loads and renders it, and sends it along as JSON, so that the browser can take
 * the page over.
 */
import type {
  Arq,
  Deployable,
  Delivery,
  Device,
  DeviceDetail,
  Drift,
  Handle,
  HandleDetail,
  Host,
  HostDetail,
  IgnoredDrift,
  Impact,
  Overview,
  Profile,
  ProfileVersions,
  Timeline,
} from '../shapes.ts'
import type { Letter, LetterDetail } from '../letterShapes.ts'
import type { Differences, Pair } from '../../vocabulary/profileDiff.ts'
import type { System } from '../systemShapes.ts'
import type { Loaded, PageError } from '../loaded.ts'
import type { DeliveryCounts } from './deliveryTabs.ts'
import type { Capacity, EventLine, Explanation, Program, Usage } from '../answerShapes.ts'
import type { Cut, Filter, Turn } from './rows.ts'
import type { Tone } from './states.ts'
import type { Ways } from './ways.ts'
import type { CommandLine } from './words.ts'

export type Who = {
  readonly user: string
  readonly project: string
  /** False: the API authenticates nobody, so there is nothing to sign out of. */
  readonly signedIn: boolean
}
/** What a page says about the action that was just carried out. */
export type Done = {
  readonly tone: Tone
  readonly text: string
  /** The events of the action; absent: it has none, or its ending says what came of it. */
  readonly recorded?: {
    /** In the order in which they were recorded; null: it is not known where to look for them. */
    readonly events: Loaded<readonly EventLine[]> | null
    /** There may be more events than those. */
    readonly cut: boolean
    /** The page with the events of the action. */
    readonly all: string
    /** The page on which an answer that is still missing will appear; null: none is missing. */
    readonly follow: string | null
  }
}
/** What is asked for before an action. */
export type Field = {
  readonly name: string
  readonly title: string
  readonly hint?: string
  /** The name of what is known of the entity, and filled in; absent: the name of the field. */
  readonly from?: string
  /** Absent: one line. */
  readonly kind?: 'area' | 'hidden' | 'date'
  readonly optional?: true
  /** In characters. */
  readonly max: number
}
export type Choice = { readonly value: string; readonly title: string }
/** With what was typed or is known; `choices` are proposed; any other value may be typed. */
export type FilledField = Field & { readonly value: string; readonly choices: readonly Choice[] }
/** An action on the entity that a page shows. */
export type Offer = {
  readonly name: string
  readonly label: string
  readonly grave: boolean
  /** Why the action is impossible; null: it is possible. */
  readonly not: string | null
}

/** A deployable with its attach handles; `tally`: the number of all its handles in each state. */
export type Part = {
  readonly deployable: Deployable
  readonly handles: Loaded<Cut<Handle> & { readonly tally: Readonly<Record<string, number>> }>
}
/** Two versions of a profile. `versions`: all that are kept, oldest first. */
export type VersionPair = Pair<ProfileVersions['versions'][number]> & {
  readonly profile: Profile
  readonly versions: ProfileVersions['versions']
  readonly differences: Differences
}
type Filtered = { readonly filter: Readonly<Record<string, string>>; readonly turn: Turn }
export type Bodies = {
  home: {
    readonly overview: Loaded<Overview>
    readonly failed: Loaded<readonly Arq[]>
    readonly latest: Loaded<readonly Arq[]>
  }
  arqs: Filtered & { readonly list: Loaded<readonly Arq[]>; readonly counts: Readonly<Record<string, number>> | null }
  arq: {
    readonly arq: Loaded<Arq>
    readonly timeline: Loaded<Timeline>
    readonly offers: readonly Offer[]
    /** The other requests of the instance. */
    readonly others: readonly string[]
    /** Of these, the one before (`later`) and the one after this request (`earlier`), by UUID. */
    readonly turn: Turn
    /** The moment that is shown, as it was asked for; null: the present. */
    readonly asOf: string | null
    readonly ways: Ways
  }
  opened: {
    /** Null: no file was given. */
    readonly file: Loaded<{ readonly name: string; readonly timeline: Timeline }> | null
    readonly ways: Ways
  }
  instance: {
    readonly uuid: string
    readonly list: Loaded<Cut<{ readonly arq: Arq; readonly timeline: Loaded<Timeline> }>>
    readonly offers: readonly Offer[]
  }
  hosts: Filtered & { readonly list: Loaded<readonly Host[]>; readonly counts: Readonly<Record<string, number>> | null }
  host: {
    readonly host: Loaded<HostDetail>
    readonly devices: Loaded<Cut<Device> & { readonly states: Readonly<Record<string, number>> }>
    readonly offers: readonly Offer[]
  }
  devices: Filtered & {
    readonly list: Loaded<readonly Device[]>
    readonly counts: Readonly<Record<string, number>> | null
  }
  device: {
    readonly device: Loaded<DeviceDetail>
    /** `from`: how many parts come before those that are shown. */
    readonly parts: Loaded<Cut<Part> & { readonly from: number }>
    readonly offers: readonly Offer[]
  }
  handles: Filtered & {
    readonly list: Loaded<readonly Handle[]>
    readonly counts: Readonly<Record<string, number>> | null
  }
  handle: { readonly handle: Loaded<HandleDetail>; readonly offers: readonly Offer[] }
  profiles: Filtered & { readonly list: Loaded<readonly Profile[]>; readonly offers: readonly Offer[] }
  profile: {
    readonly profile: Loaded<Profile>
    /** Oldest first; empty where the service announces no versions of profiles, or the user may not see them. */
    readonly versions: ProfileVersions['versions']
    readonly offers: readonly Offer[]
  }
  versions: { readonly id: string; readonly pair: Loaded<VersionPair> }
  drift: {
    readonly drift: Loaded<Drift>
    readonly marker: string | null
    readonly next: string | null
    /** The only host that is shown; null: all. */
    readonly host: string | null
    /** What can be done about a host with differences that can be repaired. */
    readonly offers: readonly Offer[]
    /** What can be done about a single difference that no pass repairs. */
    readonly offersOfOne: readonly Offer[]
    /** The differences that are ignored now, also those that are not there any more. */
    readonly ignored: Loaded<Cut<IgnoredDrift>>
    readonly offersOfIgnored: readonly Offer[]
  }
  deliveries: {
    readonly list: Loaded<readonly Delivery[]>
    readonly state: Delivery['state']
    /** Null: they could not be counted. */
    readonly counts: DeliveryCounts | null
    /** What can be done about one that is undelivered. */
    readonly offers: readonly Offer[]
    readonly turn: Turn
  }
  letters: {
    readonly list: Loaded<readonly Letter[]>
    readonly state: Letter['state']
    /** The only topic whose messages are shown; null: all. */
    readonly topic: string | null
    readonly counts: DeliveryCounts | null
    readonly turn: Turn
  }
  letter: {
    readonly letter: Loaded<LetterDetail>
    readonly form: 'text' | 'hex'
    readonly offers: readonly Offer[]
  }
  explain: {
    /** Null: no question was asked. */
    readonly explanation: Loaded<Explanation> | null
    readonly profile: string
    readonly draft: string
    readonly host: string
  }
  capacity: {
    readonly capacity: Loaded<Capacity>
    readonly filter: Filter
    /** What is known of Placement; null: the user may not read it. */
    readonly placement: string | null
  }
  usage: { readonly usage: Loaded<Usage>; readonly filter: Filter }
  events: {
    /** Oldest first. */
    readonly events: Loaded<{ readonly lines: readonly EventLine[]; readonly next: string; readonly more: boolean }>
    readonly filter: Filter
    /** The id after which the page begins. */
    readonly after: string
    readonly paused: boolean
  }
  programs: { readonly list: Loaded<readonly Program[]>; readonly turn: Turn; readonly offers: readonly Offer[] }
  system: {
    readonly system: Loaded<System>
    readonly overview: Loaded<Overview>
    readonly permissions: Readonly<Record<string, boolean>>
  }
  act: {
    readonly kind: string
    readonly id: string
    readonly back: string
    readonly label: string
    readonly sentence: string
    readonly grave: boolean
    readonly command: CommandLine
    readonly fields: readonly FilledField[]
    /** Whom it concerns depends on what is typed, so that can be checked first. */
    readonly checks: boolean
    /** The id of the command that the form sends. */
    readonly commandId: string
    /** The id of the newest event when the form was shown; empty: it is not known. */
    readonly since: string
    /** The digest of the values that the command was sent with; null: it was not sent. */
    readonly sent: string | null
    /** Null: no dry run was made. */
    readonly concerned: Loaded<Impact> | null
    /** What is known of the entity. */
    readonly facts: readonly (readonly [name: string, value: string])[]
    /** The differences that would be repaired; null: the action repairs none. */
    readonly repairs: Loaded<Drift['drift']> | null
    readonly error: PageError | null
    /** Why the action is impossible, if that is known beforehand; null: it is possible as far as is known. */
    readonly not: string | null
  }
  sign_in: {
    readonly error: PageError | null
    readonly identity: string
    readonly user: string
    readonly back: string
    /** How the last session ended; null: nobody has just signed out. */
    readonly ended: Done | null
  }
  trouble: { readonly error: PageError }
}
export type ViewName = keyof Bodies
export type Screen<N extends ViewName = ViewName> = {
  readonly [V in N]: {
    readonly view: V
    readonly title: string
    /** The address of the page, from the root of the console, such as `arqs/<uuid>`. */
    readonly here: string
    /** The time of the server, in ms since the epoch. */
    readonly now: number
    /** Null: nobody is signed in. */
    readonly who: Who | null
    readonly done: Done | null
    readonly search: string
    readonly body: Bodies[V]
  }
}[N]
