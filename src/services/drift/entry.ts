/** One difference that a drift comparison found: the fields of every kind, and those of some kinds. */
import type { ResourceProviderUuid } from '../../identifiers.ts'
import type { DriftEntry } from '../../actors/answers/drift.ts'

type Subject = Pick<DriftEntry, 'kind' | 'name' | 'deployable'> & { readonly provider: ResourceProviderUuid }
export const driftEntry = (subject: Subject, more: Partial<Omit<DriftEntry, keyof Subject>>): DriftEntry => ({
  repairs: [],
  state: null,
  reason: null,
  reserving: [],
  consumer: null,
  arqs: [],
  ...subject,
  ...more,
})
