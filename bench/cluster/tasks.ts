/** What the callers of a cluster are asked to do: plain data, since they live in another process. */
import type { Target } from '../tasks.ts'

/** The controls they turn to, one after the other, as behind a load balancer. */
type Aimed = { readonly ports: readonly number[]; readonly lanes: number }
type Binds = Aimed & { readonly profile: string; readonly targets: readonly Target[]; readonly forMs: number }

export type ClusterTask =
  /** The whole way as Nova goes it: POST, PATCH, wait for the event, GET what was resolved of the instance. */
  | (Binds & { readonly kind: 'binds' })
  /** So many a second whatever the answers take, each deleted later; times count from the moment a bind was due. */
  | (Binds & { readonly kind: 'steady'; readonly perSecond: number })
  | (Aimed & { readonly kind: 'create'; readonly profile: string; readonly count: number })
  /** Accepted binds nobody waits for. */
  | (Aimed & { readonly kind: 'accept'; readonly arqs: readonly string[]; readonly targets: readonly Target[] })
  /** Asks for each until it is neither Initial nor BindStarted. */
  | (Aimed & { readonly kind: 'settle'; readonly arqs: readonly string[]; readonly limitMs: number })
  | (Aimed & { readonly kind: 'remove'; readonly arqs: readonly string[] })
  /** Everybody's ARQs, the first page of so many; null: all of them in one answer. */
  | (Aimed & { readonly kind: 'list'; readonly limit: number | null; readonly forMs: number })
