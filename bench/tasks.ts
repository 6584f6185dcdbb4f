/** What the load generator is asked to do, and what it answers: plain data, since it lives in another process. */

/** A deployable that may be bound, and how many of its handles are free. */
export type Target = { readonly hostname: string; readonly rp: string; readonly free: number }
type Aimed = { readonly port: number; readonly lanes: number }
/** `pid`: the measured program, whose CPU time is read at both ends of the measured time. */
type Timed = Aimed & { readonly pid: number; readonly forMs: number }

export type Task =
  /** The whole way: POST, PATCH, GET every millisecond until Bound; ends with the time or with the free handles. */
  | (Timed & { readonly kind: 'binds'; readonly profile: string; readonly targets: readonly Target[] })
  | (Timed & { readonly kind: 'posts'; readonly profile: string })
  | (Timed & { readonly kind: 'gets'; readonly instances: readonly string[] })
  /** Accepted binds nobody waits for. */
  | (Aimed & {
      readonly kind: 'flood'
      readonly profile: string
      readonly targets: readonly Target[]
      readonly count: number
    })
  | (Aimed & { readonly kind: 'remove'; readonly arqs: readonly string[] })
  /** Asks for each until it is neither Initial nor BindStarted. */
  | (Aimed & { readonly kind: 'settle'; readonly arqs: readonly string[]; readonly limitMs: number })

export type Made = { readonly arq: string; readonly instance: string }
export type Measured = {
  readonly made: readonly Made[]
  /** Milliseconds of each stage, one number a time it was walked. */
  readonly stages: Readonly<Record<string, readonly number[]>>
  readonly tookMs: number
  readonly serverCpuMs: number
  readonly ownCpuMs: number
  /** Of the database's own processes; read by who directs the run. */
  readonly databaseCpuMs?: number
  /** States at the end of `settle`, counted. */
  readonly states: Readonly<Record<string, number>>
  readonly failures: readonly string[]
}
