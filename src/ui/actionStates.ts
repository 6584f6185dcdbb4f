/** The states on which depends what can be done, where the state that a page shows does not say enough. Pure. */
import type { Arq, HandleDetail, Host, Overview } from './shapes.ts'
import type { Loaded } from './loaded.ts'
import { listedAs } from './view/lists.ts'

/** A key of the host waits for an operator. */
export const withKey = (state: string): string => `${state}, a key waits`
export const withKeys = (states: readonly string[]): readonly string[] => [...states, ...states.map(withKey)]
export const hostActionState = (host: Pick<Host, 'liveness' | 'retired' | 'public_key' | 'offered_key'>): string => {
  const word = listedAs(host)
  return host.public_key === null && host.offered_key !== null ? withKey(word) : word
}

/** Quarantined, and its host has not answered an order; or quarantined, and its host would not clean it. */
export const AT_WORK = 'quarantined, its host at work'
export const UNCLEANED = 'quarantined, without cleaning'
export const handleActionState = ({
  state,
  order,
  cleaning,
}: Pick<HandleDetail, 'state' | 'order' | 'cleaning'>): string => {
  if (state !== 'quarantined') return state
  return order === null ? (cleaning.policy === 'by_host' ? state : UNCLEANED) : AT_WORK
}

export const NO_NOVA = 'no Nova'
export const SETTLED = 'settled'
/** Whether there is a Nova, as far as is known. */
export const canTell = (overview: Loaded<Overview>): boolean =>
  !overview.ok || overview.value.program['nova'] !== 'absent'
/** Of the requests of an instance: whether Nova can be told once more. */
export const instanceActionState = (members: readonly Pick<Arq, 'state'>[], overview: Loaded<Overview>): string => {
  if (members.length === 0) return 'none'
  if (!canTell(overview)) return NO_NOVA
  return members.some(({ state }) => state === 'BindStarted') ? 'binding' : SETTLED
}
