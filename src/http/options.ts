/** What can be set about the API, and what it is when nobody sets it. */
import type { PolicyOptions } from './policy/policy.ts'

export type Options = {
  /** Stands before `/accelerator` in every link; null: scheme and host of the request. */
  readonly publicEndpoint: string | null
  /** Believe `Forwarded`, or `X-Forwarded-Proto` and `X-Forwarded-Host` where it is not sent. */
  readonly proxyHeaders: boolean
  readonly bodyLimitBytes: number
  /** Whoever has no answer by then is told to come again; more than an actor is waited for, or that would never be told. */
  readonly answerMs: number
  /** Offer microversion 2.4, which adds UUIDs beside integer ids. */
  readonly additiveMicroversion: boolean
  readonly compat: {
    /** Answer 500 to the three client mistakes for which the tests of existing clients expect it. */
    readonly tempestServerFaults: boolean
  }
  readonly policy: PolicyOptions
  /** A service token must carry one of these. */
  readonly serviceTokenRoles: readonly string[]
}

export const DEFAULTS: Options = {
  publicEndpoint: null,
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
  return { ...all, publicEndpoint: all.publicEndpoint?.replace(/\/+$/, '') ?? null }
}
