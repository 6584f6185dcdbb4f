/** Converts a group of a device profile to the request that Nova makes to Placement. Pure. */
import type { Group } from '../arq/messages.ts'
import type { CandidateGroup } from './port.ts'

export const placementGroupOf = (group: Group): CandidateGroup => {
  const named = (prefix: string) =>
    Object.entries(group).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value] as const] : [],
    )
  const traits = named('trait:')
  return {
    resources: Object.fromEntries(named('resources:').map(([name, amount]) => [name, Number(amount)])),
    required: traits.flatMap(([name, how]) => (how === 'required' ? [name] : [])),
    forbidden: traits.flatMap(([name, how]) => (how === 'forbidden' ? [name] : [])),
  }
}
