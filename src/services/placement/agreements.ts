/**
 * What is remembered of providers that agreed, so that they need not be read each time (placement 9.2).
 *
 * AGREED-1 a provider agrees as long as Placement shows the generation in which it agreed, and the same is wanted of it: inventory and traits
 *    change no generation only where they do not change;
 * AGREED-2 the generation and a digest of what was wanted are recorded with the provider, so that a process that has just started, or takes a host
 *    over, need not read everything anew;
 * AGREED-3 each process relies on it only so many times in a row, and reads then.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../wire/canonical.ts'
import type { Agreed } from '../../actors/placement/decider.ts'
import type { Provider } from '../../actors/placement/port.ts'
import type { Wanted } from '../../actors/placement/wanted.ts'

/** A provider that does not seem to have changed is not read, so many times in a row. */
const UNREAD_MAX = 5
const AGREED_MAX = 100_000

export const digestOf = (wanted: Wanted): string => createHash('sha256').update(canonicalJson(wanted)).digest('base64')
export const agreedIn = (wanted: Wanted, generation: number): Agreed => ({ generation, digest: digestOf(wanted) })

/** Which providers agreed with what was wanted when they had that generation, and how often that was relied on. */
export const createAgreements = () => {
  const agreed = new Map<string, { readonly mark: string; left: number }>()
  const markOf = ({ generation, digest }: Agreed) => `${generation} ${digest}`
  const note = (uuid: string, mark: string): { left: number } => {
    if (agreed.size >= AGREED_MAX) agreed.clear()
    const noted = { mark, left: UNREAD_MAX }
    agreed.set(uuid, noted)
    return noted
  }
  return {
    /** `recorded`: in which generation it agreed, by whatever process. */
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
