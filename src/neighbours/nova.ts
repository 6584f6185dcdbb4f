/** Tells Nova how binds ended: `os-server-external-events` over HTTP. */
export type NovaOptions = {
  /** Endpoint of the compute service, version included. */
  readonly url: string
  readonly timeoutMs: number
  /** Go with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Holds the token; read before each request, since tokens are renewed. */
  readonly tokenFile?: string | null
  readonly fetch?: typeof fetch
}
