/**
 * How hosts are counted and listed: those that an operator has taken out of service as `retired`, all others by their
 * liveness.
 */
import type { PageQuery } from '../runtime/ports.ts'
import { STANDINGS } from './decider.ts'

export const RETIRED = 'retired'
export const LISTED_AS = [...STANDINGS, RETIRED] as const
export type ListedAs = (typeof LISTED_AS)[number]

/**
 * A removed host is none of these, whatever its column says: a control of release 0.2.0 does not know the column, and
 * leaves it as it was when it removes a host.
 */
export const OUT_OF_SERVICE = {
  out_of_service: true,
  liveness: STANDINGS.filter((standing) => standing !== 'removed'),
} as const
export const whereListedAs = (standing: ListedAs): PageQuery<'hosts'>['where'] => {
  if (standing === RETIRED) return OUT_OF_SERVICE
  return standing === 'removed' ? { liveness: standing } : { liveness: standing, out_of_service: null }
}
