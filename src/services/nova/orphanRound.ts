/**
 * Deletes the requests that `orphans.ts` finds, without a command, if an operator has set how long Nova must not know
 * their server.
 *
 * GATHER-1 only the holder of a lease does this, one page of requests in a round. If a page takes longer than the
 *    lease, two processes may ask at once. This is harmless: a request that has changed since Nova was asked is not
 *    deleted. First answers are kept in the holder's memory, so the next holder starts again;
 * GATHER-2 nothing is deleted while Nova knows none of the servers that have accelerators: that is probably a wrong or
 *    empty Nova. An operator can still delete them by command.
 */
import type { InstanceUuid } from '../../vocabulary/identifiers.ts'
import type { Orphan } from '../../actors/answers/orphan.ts'
import type { PageCursor } from '../../actors/runtime/ports.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { isAheadOf } from '../kernel/terms.ts'
import { SETTLED_MS, askAll, collectOne, nextHolders, orphanOf } from './orphans.ts'

const LEASE = 'orphans'
const LEASE_MS = 30_000
const LEAST_MS = 60_000
const NOTED_MAX = 10_000
const CAUSE = { by: 'orphan collection' } as const

/**
 * `since`: when Nova was first seen not to know the server, by the monotonic clock. `orphan`: the server's requests at
 * that time.
 */
type Noted = { readonly since: number; readonly orphan: Orphan }
type Sweep = {
  after: PageCursor | null
  known: number
  readonly noted: Map<InstanceUuid, Noted>
  readonly due: Orphan[]
}
const begun = (): Sweep => ({ after: null, known: 0, noted: new Map(), due: [] })

const isSame = (one: Orphan, other: Orphan): boolean =>
  one.changedAt === other.changedAt && one.arqs.length === other.arqs.length

export type OrphanRound = () => Promise<void>

export const createOrphanRound = (kernel: Kernel): OrphanRound => {
  const { clock, sharing, ids, options, novaServers, log } = kernel
  const holder = ids.uuid()
  const everyMs = options.collectOrphansMs === 0 ? 0 : Math.max(LEAST_MS, options.collectOrphansMs)
  let before: ReadonlyMap<InstanceUuid, Noted> = new Map()
  let sweep: Sweep | null = null
  let nextAt = -Infinity

  const over = (noted: ReadonlyMap<InstanceUuid, Noted>) => {
    before = noted
    sweep = null
    nextAt = clock.monotonic() + everyMs
  }
  const note = ({ noted, due }: Sweep, orphan: Orphan) => {
    const now = clock.monotonic()
    const known = before.get(orphan.instance)
    const since = known && isSame(known.orphan, orphan) ? known.since : now
    const termMs = isAheadOf(orphan.changedAt, clock.now()) ? Math.max(everyMs, SETTLED_MS) : everyMs
    if (since <= now - termMs) due.push(orphan)
    if (noted.size < NOTED_MAX) noted.set(orphan.instance, { since, orphan })
  }
  const end = async ({ known, due, noted }: Sweep) => {
    over(noted)
    if (due.length > 0 && known === 0) return log.warn({ unknown: due.length }, 'orphans.none_known')
    for (const orphan of due) {
      const collected = await collectOne(kernel, CAUSE, orphan)
      if (!collected.ok) log.warn({ instance: orphan.instance, fault: collected.fault }, 'orphans.refused')
    }
  }
  /**
   * Nova cannot be asked, or not reliably: earlier answers are dropped, and each server must again be unknown for the
   * whole time.
   */
  const fail = (reason: unknown) => {
    over(new Map())
    log.warn({ reason }, 'orphans.not_asked')
  }
  const page = async (now: Sweep): Promise<void> => {
    const blind = now.after === null ? await novaServers!.blind() : null
    if (blind !== null) return fail(blind)
    const holders = await nextHolders(kernel, now.after === null ? {} : { after: now.after })
    if (!holders.ok) return fail(holders.fault)
    for (const [instance, answer] of await askAll(novaServers!, holders.value.instances)) {
      if (answer.is === 'known') now.known++
      if (answer.is !== 'unknown') continue
      const held = await orphanOf(kernel, instance)
      if (held.ok && 'arqs' in held.value) note(now, held.value)
    }
    now.after = holders.value.next
    if (now.after === null) await end(now)
  }
  return async () => {
    if (everyMs === 0 || novaServers === null) return
    if (sweep === null && clock.monotonic() < nextAt) return
    if ((await sharing.acquire(LEASE, holder, LEASE_MS)) === null) return over(new Map())
    await page((sweep ??= begun()))
  }
}
