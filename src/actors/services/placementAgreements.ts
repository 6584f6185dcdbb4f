/** What a process remembers of providers that agreed, so that it need not read them each time. */
import { canonicalJson } from '../../wire/canonical.ts'
import type { Provider } from '../placement/port.ts'
import type { Wanted } from '../placement/wanted.ts'

/** A provider that does not seem to have changed is not read, so many times in a row. */
const UNREAD_MAX = 5
const AGREED_MAX = 100_000

/** Which providers agreed with what was wanted when they had that generation, and how often that was relied on. */
export const createAgreements = () => {
  const agreed = new Map<string, { readonly mark: string; left: number }>()
  const markOf = (wanted: Wanted, { generation }: Provider) => `${generation} ${canonicalJson(wanted)}`
  return {
    holds: (wanted: Wanted, provider: Provider): boolean => {
      const held = agreed.get(wanted.uuid)
      return held?.mark === markOf(wanted, provider) && held.left-- > 0
    },
    note: (wanted: Wanted, provider: Provider): void => {
      if (agreed.size >= AGREED_MAX) agreed.clear()
      agreed.set(wanted.uuid, { mark: markOf(wanted, provider), left: UNREAD_MAX })
    },
  }
}
export type Agreements = ReturnType<typeof createAgreements>
