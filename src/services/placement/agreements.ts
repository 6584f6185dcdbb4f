/**
 * Remembers which providers agreed with the records, so that they need not be read each time (placement 9.2).
 *
 * AGREED-1 a provider still agrees if its generation in Placement and the wanted content are both unchanged: a write of
 *    inventory or traits that leaves the generation as it was has changed nothing;
 * AGREED-2 the generation and a digest of the wanted content are recorded with the provider, so a process that has just
 *    started, or takes over a host, need not read everything again;
 * AGREED-3 a process skips the read of a provider only a limited number of times in a row.
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../wire/canonical.ts'
import type { Agreed } from '../../actors/placement/decider.ts'
import type { Provider } from '../../actors/placement/port.ts'
import type { Wanted } from '../../actors/placement/wanted.ts'

/** How many times in a row the read of an unchanged provider is skipped. */
const UNREAD_MAX = 5
const AGREED_MAX = 100_000

export const digestOf = (wanted: Wanted): string => createHash('sha256').update(canonicalJson(wanted)).digest('base64')
export const agreedIn = (wanted: Wanted, generation: number): Agreed => ({ generation, digest: digestOf(wanted) })

/**
 * By provider: the generation and the wanted content at which it agreed, and how many more times its read may be
 * skipped.
 */
export const createAgreements = () => {
  const agreed = new Map<ResourceProviderUuid, { readonly mark: string; left: number }>()
  const markOf = ({ generation, digest }: Agreed) => `${generation} ${digest}`
  const note = (uuid: ResourceProviderUuid, mark: string): { left: number } => {
    if (agreed.size >= AGREED_MAX) agreed.clear()
    const noted = { mark, left: UNREAD_MAX }
    agreed.set(uuid, noted)
    return noted
  }
  return {
    /** `recorded`: the agreement that any process recorded last. */
    holds: (wanted: Wanted, { generation }: Provider, recorded: Agreed | undefined): boolean => {
      const mark = markOf(agreedIn(wanted, generation))
      const own = agreed.get(wanted.uuid)
      if (own?.mark === mark) return own.left-- > 0
      return recorded !== undefined && markOf(recorded) === mark && note(wanted.uuid, mark).left-- > 0
    },
    note: (wanted: Wanted, { generation }: Provider): void =>
      void note(wanted.uuid, markOf(agreedIn(wanted, generation))),
  }
}
export type Agreements = ReturnType<typeof createAgreements>
