/**
 * How hosts are counted and listed: those that an operator has taken out of service as `retired`, all others by their
 * liveness.
 */
import type { Row } from '../runtime/views.ts'
import { STANDINGS } from './decider.ts'

export const RETIRED = 'retired'
export const LISTED_AS = [...STANDINGS, RETIRED] as const
export type ListedAs = (typeof LISTED_AS)[number]

export const OUT_OF_SERVICE = { out_of_service: true } as const
export const whereListedAs = (standing: ListedAs): Partial<Pick<Row<'hosts'>, 'liveness' | 'out_of_service'>> =>
  standing === RETIRED ? OUT_OF_SERVICE : { liveness: standing, out_of_service: null }
