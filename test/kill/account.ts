/**
 * The client's record of its requests, the answers and its observations. The judge uses it and the events that Nova
 * received.
 */

export type Method = 'POST' | 'PATCH' | 'GET' | 'DELETE'
export const PHASES = ['POST', 'PATCH', 'order', 'report', 'event'] as const
/** The phase of a bind when the process is killed. */
export type Phase = (typeof PHASES)[number]

/** How one ARQ of a bind ended, as shown by a GET. */
export type Seen = { readonly state: 'Bound' | 'BindFailed'; readonly at: number; readonly handle: string | null }
/** One instance, from its ARQs' creation to their deletion. Moments are ms since the epoch; null: not (yet). */
export type Life = {
  readonly instance: string
  readonly host: string
  readonly deployable: string
  readonly hostWork: boolean
  /** As the 201 named them. */
  arqs: readonly string[]
  /** When the POST was sent that was answered 201. */
  askedAt: number
  createdAt: number
  bindSentAt: number | null
  /** When the 202 came, or when a GET showed after a kill that the unanswered PATCH was accepted. */
  acceptedAt: number | null
  acceptedBy: '202' | 'a later GET' | null
  /** By ARQ. */
  readonly seen: Map<string, Seen>
  leaveSentAt: number | null
  /** When the deletion was answered 204 (or, repeated after a kill, 404). */
  leftAt: number | null
  /** A bind that was refused with 409: nothing may have changed. */
  refused: boolean
  /** It is to hold its ARQs until the end of the run. */
  kept: boolean
}
export type Heard = {
  readonly at: number
  readonly arq: string
  readonly instance: string
  readonly status: string
}
/** The process served from `from` to `to`. */
export type Served = { readonly from: number; to: number }
export type Kill = {
  readonly at: number
  readonly aim: Phase
  /** Binds per phase at that moment, each shown by evidence. */
  readonly inFlight: Readonly<Record<Phase, number>>
  readonly readyMs: number
}
/** One ARQ as the lists show it in the end. */
export type Listed = {
  readonly uuid: string
  readonly state: string
  readonly hostname: string | null
  readonly instance_uuid: string | null
  readonly attach_handle_info: Readonly<Record<string, string>>
}
export type Account = {
  readonly lives: Life[]
  readonly heard: Heard[]
  readonly served: Served[]
  readonly kills: Kill[]
  /** POSTs without an answer: each may have left ARQs that the client does not know. */
  lostPosts: number
  /** Violations found during the run, as text. */
  readonly contradictions: string[]
  /** The same, of one instance: no violations when the database has lost requests of it. */
  readonly disputed: { readonly life: Life; readonly said: string }[]
  /** Instances and ARQs of which the database declares rows as lost, with when these were gone for the last time. */
  readonly lost: Map<string, number>
  /** ARQs of events that Nova took. */
  delivered: ReadonlySet<string>
  /** ARQs whose end is recorded as impossible to tell. */
  readonly undeliverable: Set<string>
  readonly deadlineMs: number
  /** How late a client may see an end for reasons of its own; the judge knows what is usual. */
  readonly graceMs?: number
  listedAtEnd: readonly Listed[]
}

export const newAccount = (deadlineMs: number): Account => ({
  lives: [],
  heard: [],
  served: [],
  kills: [],
  lostPosts: 0,
  contradictions: [],
  disputed: [],
  lost: new Map(),
  delivered: new Set(),
  undeliverable: new Set(),
  deadlineMs,
  listedAtEnd: [],
})

/** When requests of the instance were lost; null: none were. */
export const lostAt = ({ lost }: Account, { instance, arqs }: Life): number | null => {
  const moments = [instance, ...arqs].flatMap((id) => lost.get(id) ?? [])
  return moments.length === 0 ? null : Math.max(...moments)
}

export const inTurn = (info: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(info).toSorted(([one], [other]) => (one < other ? -1 : 1)))
