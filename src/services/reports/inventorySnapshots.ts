/**
 * The last inventory that this process took of each host: one that shows nothing new is recognised by its digests. A cache; reports without changes
 * are known only here.
 *
 * INVENTORY-SNAPSHOT-1 an inventory is known when it was recorded as a whole, from the same signer, and nothing of the host was recorded since, in
 *    the same incarnation of the journal: another server may lack what was recorded;
 * INVENTORY-SNAPSHOT-2 what is prepared is known when it agreed with the journal, until an order of the host ends, and for `COMPARED_FOR_MS` at most.
 */
import type { BootId, HostName } from '../../identifiers.ts'
import type { Clock } from '../../clock.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import type { Journal } from '../../actors/runtime/ports.ts'
import { slotsDigest } from '../../wire/slots.ts'
import type { Liveness } from '../hosts/liveness.ts'

/** `complete`: the same inventory again would change nothing, unless what is recorded of the host has changed since. */
export type InventorySnapshot = {
  readonly boot: BootId
  readonly number: number
  readonly digest: string
  readonly complete: boolean
  readonly changedAt: number | null
  /** The key that it was signed with; null: none. */
  readonly signer: string | null
  /** Of the journal, before anything of it was recorded. */
  readonly incarnation: number
}
/** `slots` null: the host does not say what is prepared on it. */
export type Shown = Pick<InventorySnapshot, 'boot' | 'number' | 'digest' | 'signer'> & {
  readonly host: HostName
  readonly slots?: string | null
}
type Known = InventorySnapshot & {
  /** The slots that agreed, and when they were compared; null: none did, or an order has ended since. */
  readonly slots: { readonly digest: string | null; readonly at: number } | null
}
/** An operator may have changed something without an order. */
const COMPARED_FOR_MS = 600_000
const HOSTS_MAX = 100_000

export const createInventorySnapshots = (
  { clock, journal }: { readonly clock: Clock; readonly journal: Pick<Journal, 'incarnation'> },
  liveness: Pick<Liveness, 'changedAt'>,
) => {
  const known = new Map<HostName, Known>()
  const incarnation = (): number => journal.incarnation ?? 0
  /** What is known of the host, unless it may be lost, or something of the host was recorded since. */
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
    /** A later report of the same start was taken. */
    isOld: ({ host, bootId, number }: InventoryReport): boolean => {
      const last = known.get(host)
      return last?.boot === bootId && number < last.number
    },
    /** The last one came from this signer, and the host has not changed since. */
    isFrom: (host: HostName, signer: string | null): boolean => {
      const last = current(host)
      return last !== undefined && last.signer === signer
    },
    isKnown: ({ host, boot, number, digest, signer, slots = null }: Shown): boolean => {
      const last = current(host)
      if (last?.signer !== signer) return false
      if (!last.complete || last.boot !== boot || last.digest !== digest || !agrees(last, slots)) return false
      // a report in between was taken by another process and may have differed
      if (number > last.number + 1) return false
      remember(host, { ...last, number: Math.max(number, last.number) })
      return true
    },
    /** `compare`: whether the slots agree with the journal. An order that ends meanwhile is noted, and then they count as not compared. */
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
