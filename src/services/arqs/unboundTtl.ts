/**
 * Deletes accelerator requests that nobody has bound for too long, when an operator has set a limit (rest-api 8.1).
 * Compute leaves such requests behind when it fails between creating and binding them.
 *
 * UNBOUND-1 the age is judged on the ARQ's own state in the append that deletes it. If a bind comes at the same moment,
 *    one of the two appends is first, and the other finds the ARQ bound, deleted, or changed since it was found;
 * UNBOUND-2 one process at a time does this, page by page; each round continues where the one before it ended.
 */
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import { type Arq, arq, arqKey } from '../../actors/arq/decider.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'
import { CLOCKS_MS, createTerms } from '../kernel/terms.ts'

const LEASE = 'unbound'
const LEASE_MS = 30_000
const PAGE = 200
/** The most ARQs deleted in one round. */
const PAGES_MAX = 5
const UNBOUND = ['Initial', 'Unbound'] as const

const sinceOf = ({ createdAt, updatedAt }: Pick<Arq, 'createdAt' | 'updatedAt'>): number => updatedAt ?? createdAt
const isLeft = (held: Arq, since: number): boolean =>
  UNBOUND.some((status) => status === held.status) && sinceOf(held) === since
const sinceOfRow = (row: Row<'arqs'>): number => sinceOf({ createdAt: row.created_at, updatedAt: row.updated_at })

type Place = { readonly value: number; readonly key: string }
export type UnboundTtl = { readonly now: () => Promise<void> }

export const createUnboundTtl = (kernel: Kernel): UnboundTtl => {
  const { clock, reads, sharing, region, ids, options, counts, log } = kernel
  const [holder, terms] = [ids.uuid(), createTerms(clock)]
  let place: Place | null = null

  const remove = async (uuid: ArqUuid, since: number): Promise<void> => {
    const key = arqKey(uuid)
    const work = newWork(kernel, { by: 'unbound_ttl' }, (draft): boolean => {
      if (!isLeft(draft.state(arq, key), since)) return false
      draft.decide(arq, key, { type: 'Remove' })
      return true
    })
    const recorded = await region.tell(key, work)
    if (!recorded.ok || !recorded.value) return
    counts.unboundDeleted++
    log.info({ arq: uuid }, 'arq.unbound_too_long')
  }
  /** Returns the last one of the page, if more may follow it. */
  const removeFrom = async (after: Place | null) => {
    const from = after === null ? {} : { after }
    const query = { view: 'arqs', where: { state: UNBOUND }, sort: 'created_at', limit: PAGE, ...from } as const
    const rows: readonly Row<'arqs'>[] = (await reads.page(query)) ?? []
    for (const row of rows) {
      const since = sinceOfRow(row)
      if (terms.hasPassed(row.uuid, since, options.unboundTtlMs)) await remove(row.uuid, since)
    }
    return rows.length === PAGE ? rows.at(-1) : undefined
  }
  /** False: all pages are done, and the next round begins with the oldest ARQ. */
  const page = async (before: number): Promise<boolean> => {
    const last = await removeFrom(place)
    const goesOn = last !== undefined && last.created_at <= before
    place = goesOn ? { value: last.created_at, key: last.uuid } : null
    return goesOn
  }
  return {
    now: async () => {
      if (options.unboundTtlMs === 0) return
      if ((await sharing.acquire(LEASE, holder, LEASE_MS)) === null) return
      // what a clock that was ahead has dated lies behind all younger ones, to which the pages below do not go on
      await removeFrom({ value: clock.now() + CLOCKS_MS, key: holder })
      const before = clock.now() - options.unboundTtlMs
      for (let n = 0; n < PAGES_MAX; n++) if (!(await page(before))) return
    },
  }
}
