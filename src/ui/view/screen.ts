/** A page before it is drawn: what the server loads, renders, and sends along, so that the browser can take the page over. JSON throughout. */
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
  Impact,
  Overview,
  Profile,
  ProfileVersions,
  Timeline,
} from '../shapes.ts'
import type { Told, Trouble } from '../told.ts'
import type { Capacity, EventLine, Explanation, Program, Usage } from '../answerShapes.ts'
import type { Cut, Filter, Turn } from './rows.ts'

export type Who = {
  readonly user: string
  readonly project: string
  /** False: the API authenticates nobody, so there is nothing to sign out of. */
  readonly signedIn: boolean
}
/** What can be done with the thing that a page shows. */
export type Offer = {
  readonly name: string
  readonly label: string
  readonly grave: boolean
  /** Why it cannot be done; null: it can. */
  readonly not: string | null
}

/** A deployable with its attach handles; `tally`: how many of all of them are in each state. */
export type Part = {
  readonly deployable: Deployable
  readonly handles: Told<Cut<Handle> & { readonly tally: Readonly<Record<string, number>> }>
}
type Filtered = { readonly filter: Readonly<Record<string, string>>; readonly turn: Turn }
export type Bodies = {
  home: {
    readonly overview: Told<Overview>
    readonly failed: Told<readonly Arq[]>
    readonly latest: Told<readonly Arq[]>
  }
  arqs: Filtered & { readonly list: Told<readonly Arq[]>; readonly counts: Readonly<Record<string, number>> | null }
  arq: {
    readonly arq: Told<Arq>
    readonly timeline: Told<Timeline>
    readonly offers: readonly Offer[]
    readonly others: readonly string[]
  }
  instance: {
    readonly uuid: string
    readonly list: Told<Cut<{ readonly arq: Arq; readonly timeline: Told<Timeline> }>>
  }
  hosts: Filtered & { readonly list: Told<readonly Host[]>; readonly counts: Readonly<Record<string, number>> | null }
  host: {
    readonly host: Told<HostDetail>
    readonly devices: Told<Cut<Device>>
    readonly offers: readonly Offer[]
  }
  devices: Filtered & {
    readonly list: Told<readonly Device[]>
    readonly counts: Readonly<Record<string, number>> | null
  }
  device: {
    readonly device: Told<DeviceDetail>
    /** `from`: so many come before those that are shown. */
    readonly parts: Told<Cut<Part> & { readonly from: number }>
    readonly offers: readonly Offer[]
  }
  handles: Filtered & {
    readonly list: Told<readonly Handle[]>
    readonly counts: Readonly<Record<string, number>> | null
  }
  handle: { readonly handle: Told<HandleDetail>; readonly offers: readonly Offer[] }
  profiles: Filtered & { readonly list: Told<readonly Profile[]> }
  profile: {
    readonly profile: Told<Profile>
    /** Oldest first; none where the service announces no versions of profiles, or the caller may not see them. */
    readonly versions: ProfileVersions['versions']
    readonly offers: readonly Offer[]
  }
  drift: { readonly drift: Told<Drift>; readonly marker: string | null; readonly next: string | null }
  deliveries: { readonly list: Told<readonly Delivery[]>; readonly turn: Turn }
  explain: {
    /** Null: nothing was asked. */
    readonly told: Told<Explanation> | null
    readonly profile: string
    readonly draft: string
    readonly host: string
  }
  capacity: { readonly capacity: Told<Capacity>; readonly filter: Filter }
  usage: { readonly usage: Told<Usage>; readonly filter: Filter }
  events: {
    /** Oldest first. */
    readonly told: Told<{ readonly lines: readonly EventLine[]; readonly next: string; readonly more: boolean }>
    readonly filter: Filter
    /** The id after which the page begins. */
    readonly after: string
    readonly paused: boolean
  }
  programs: { readonly list: Told<readonly Program[]>; readonly turn: Turn }
  system: {
    readonly overview: Told<Overview>
    readonly permissions: Told<Readonly<Record<string, boolean>>>
    readonly versions: Told<{ readonly min: string; readonly max: string }>
  }
  act: {
    readonly kind: string
    readonly id: string
    readonly back: string
    readonly label: string
    readonly sentence: string
    readonly grave: boolean
    readonly command: string
    readonly reason: 'asked' | 'none'
    /** Null: nobody was asked. */
    readonly concerned: Told<Impact> | null
    readonly typed: string
    readonly trouble: Trouble | null
    /** It was refused for good reasons that are known beforehand. */
    readonly not: string | null
  }
  sign_in: { readonly trouble: Trouble | null; readonly identity: string; readonly user: string; readonly back: string }
  trouble: { readonly trouble: Trouble }
}
export type ViewName = keyof Bodies
export type Screen<N extends ViewName = ViewName> = {
  readonly [V in N]: {
    readonly view: V
    readonly title: string
    /** Where the page is, from the root of the console: `arqs/<uuid>`. */
    readonly here: string
    /** The time of the server, in ms since the epoch. */
    readonly now: number
    /** Null: nobody is signed in. */
    readonly who: Who | null
    /** What was done a moment ago. */
    readonly done: string | null
    readonly search: string
    readonly body: Bodies[V]
  }
}[N]
