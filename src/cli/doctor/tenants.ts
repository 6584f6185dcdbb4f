/** Checks whether anything ends the requests that a project may create, where callers are not all trusted. */
import { type Check, counted, ok, span, warning } from './check.ts'

/** Of the requests of a project; zero: no limit. */
export type TenantFacts = { readonly arqsPerProject: number; readonly unboundTtlMs: number }

export const TENANT_CHECKS: readonly Check<TenantFacts>[] = [
  {
    name: 'requests of a project',
    judge: ({ arqsPerProject, unboundTtlMs }) => {
      if (arqsPerProject === 0)
        return warning(
          'any user may create accelerator requests without end',
          `set quota.arqs_per_project, to the same value for every control, such as 1000${unboundTtlMs === 0 ? ', and arq.unbound_ttl, such as 86400' : ''}`,
        )
      return unboundTtlMs === 0
        ? ok(`${counted(arqsPerProject, 'request')} at most; unbound ones stay (arq.unbound_ttl)`)
        : ok(`${counted(arqsPerProject, 'request')} at most; unbound ones stay for ${span(unboundTtlMs)}`)
    },
  },
]
