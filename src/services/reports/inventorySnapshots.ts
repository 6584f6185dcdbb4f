/**
 * Caches the last inventory that this process took from each host, so that a report without changes is recognised by
 * its digests. Reports without changes are not recorded, so only this cache knows of them.
 *
 * INVENTORY-SNAPSHOT-1 an inventory is known if it was recorded completely, came from the same signer, and nothing of
 *    the host was recorded since, in the same incarnation of the journal: a server after a failover may lack recorded
 *    rows;
 * INVENTORY-SNAPSHOT-2 the prepared slots are known if they agreed with the journal, until an order of the host ends,
 *    for `COMPARED_FOR_MS` at most.
 */
import type { BootId, HostName } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import type { Journal } from '../../actors/runtime/ports.ts'
import { slotsDigest } from '../../wire/slots.ts'
import type { Liveness } from '../hosts/liveness.ts'

/** `complete`: the same inventory again would change nothing, unless something of the host was recorded since. */
export type InventorySnapshot = {
  readonly boot: BootId
  readonly number: number
  readonly digest: string
  readonly complete: boolean
  readonly changedAt: number | null
  /** The key that signed the report; null: it was unsigned. */
  readonly signer: string | null
  /** The incarnation of the journal before this inventory was recorded. */
  readonly incarnation: number
}
/** `slots`: digest of the prepared slots; null: the host does not report them. */
export type Shown = Pick<InventorySnapshot, 'boot' | 'number' | 'digest' | 'signer'> & {
  readonly host: HostName
  readonly slots?: string | null
}
type Known = InventorySnapshot & {
  /**
   * The slots that agreed with the journal, and when they were compared; null: none did, or an order has ended since.
   */
  readonly slots: { readonly digest: string | null; readonly at: number } | null
}
/** After this time, slots are compared again: an operator may have changed something without an order. */
const COMPARED_FOR_MS = 600_000
const HOSTS_MAX = 100_000

export const createInventorySnapshots = (
  { clock, journal }: { readonly clock: Clock; readonly journal: Pick<Journal, 'incarnation'> },
  liveness: Pick<Liveness, 'changedAt'>,
) => {
  const known = new Map<HostName, Known>()
  const incarnation = (): number => journal.incarnation ?? 0
  /** Undefined if the journal may have lost its rows, or if something of the host was recorded since. */
  const current = (host: HostName): Known | undefined => {
    const last = known.get(host)
    const holds = last?.incarnation === incarnation() && last.changedAt === liveness.changedAt(host)
    return holds ? last : undefined
  }
  const remember = (host: HostName, one: Known): void => {
    if (known.size < HOSTS_MAX || known.has(host)) known.set(host, one)
  }
  const agrees = ({ slots }: Known, digest: string | null): boolean =>
    digest === null || (slots !== null && slots.digest === digest && clock.monotonic() - slots.at < COMPARED_FOR_MS)
  return {
    incarnation,
    /** Whether a later report of the same start was already taken. */
    isOld: ({ host, bootId, number }: InventoryReport): boolean => {
      const last = known.get(host)
      return last?.boot === bootId && number < last.number
    },
    /** Whether the cached inventory came from this signer and nothing of the host was recorded since. */
    isFrom: (host: HostName, signer: string | null): boolean => {
      const last = current(host)
      return last !== undefined && last.signer === signer
    },
    isKnown: ({ host, boot, number, digest, signer, slots = null }: Shown): boolean => {
      const last = current(host)
      if (last?.signer !== signer) return false
      if (!last.complete || last.boot !== boot || last.digest !== digest || !agrees(last, slots)) return false
      // numbers are missing: another process took the reports in between, and they may have differed
      if (number > last.number + 1) return false
      remember(host, { ...last, number: Math.max(number, last.number) })
      return true
    },
    /** `compare`: whether the slots agree with the journal. If an order ends meanwhile, they count as not compared. */
    take: async (
      report: InventoryReport,
      snapshot: InventorySnapshot,
      compare: () => Promise<boolean>,
    ): Promise<void> => {
      const { host, slots } = report
      const at = clock.monotonic()
      remember(host, { ...snapshot, slots: { digest: null, at } })
      if (!(await compare())) return
      const last = known.get(host)
      if (!last?.slots || last.number !== snapshot.number) return
      remember(host, { ...snapshot, slots: { digest: slots ? slotsDigest(slots) : null, at } })
    },
    orderEnded: (host: HostName): void => {
      const last = known.get(host)
      if (last) remember(host, { ...last, slots: null })
    },
  }
}
