/** One difference that a drift comparison found: the fields of every kind, and those of some kinds. */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import type { FoundDifference } from '../../actors/answers/drift.ts'

type Subject = Pick<FoundDifference, 'kind' | 'name' | 'deployable'> & { readonly provider: ResourceProviderUuid }
export const driftEntry = (subject: Subject, more: Partial<Omit<FoundDifference, keyof Subject>>): FoundDifference => ({
  repairs: [],
  state: null,
  reason: null,
  reserving: [],
  consumer: null,
  arqs: [],
  parts: [],
  ...subject,
  ...more,
})
