/** The options of the API and their defaults. */
import type { PolicyOptions } from './policy/policy.ts'

export type Options = {
  /** Base URL before `/accelerator` in every link. Null: scheme and host of the request are used. */
  readonly publicEndpoint: string | null
  /**
   * Names under which clients may address the service, in addition to those of this machine and of `publicEndpoint`.
   */
  readonly trustedHosts: readonly string[]
  /** Whether clients may address the service under any name. */
  readonly anyHost: boolean
  /** Whether to trust `Forwarded` or, if that is not sent, `X-Forwarded-Proto` and `X-Forwarded-Host`. */
  readonly proxyHeaders: boolean
  readonly bodyLimitBytes: number
  /**
   * The time limit of a request, which is then answered with 503 and Retry-After. It must be longer than the time limit
   * for an actor, whose more specific error would otherwise never be sent.
   */
  readonly answerMs: number
  /**
   * Whether to offer microversions 2.4 (UUIDs beside integer ids, state of deployables in Placement) and 2.5 (versions
   * of device profiles).
   */
  readonly additiveMicroversion: boolean
  readonly compat: {
    /** Whether to answer 500 to the three client mistakes for which tests of existing clients expect it. */
    readonly tempestServerFaults: boolean
  }
  readonly policy: PolicyOptions
  /** A service token must carry one of these roles. */
  readonly serviceTokenRoles: readonly string[]
}

export const DEFAULTS: Options = {
  publicEndpoint: null,
  trustedHosts: [],
  anyHost: false,
  proxyHeaders: false,
  bodyLimitBytes: 1024 * 1024,
  answerMs: 13_000,
  additiveMicroversion: false,
  compat: { tempestServerFaults: true },
  policy: { enforceNewDefaults: false, rules: {} },
  serviceTokenRoles: ['service'],
}

export const withDefaults = (options: Partial<Options>): Options => {
  const all = { ...DEFAULTS, ...options }
  const own = all.publicEndpoint === null ? null : URL.parse(all.publicEndpoint)
  return {
    ...all,
    publicEndpoint: all.publicEndpoint?.replace(/\/+$/, '') ?? null,
    serviceTokenRoles: all.serviceTokenRoles.map((role) => role.toLowerCase()),
    trustedHosts: [...all.trustedHosts, ...(own === null ? [] : [own.hostname])],
  }
}
