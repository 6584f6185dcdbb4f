/**
 * Reports how long accelerators were bound, by project, resource class and period.
 *
 * USAGE-1 a binding counts from the moment at which its request became Bound until the request gave its handle up, in
 *    whatever way. The append that ends a binding writes a row for it; a binding that has not ended is read from its
 *    request. Requests are read first, so none is missed;
 * USAGE-2 a binding that is read both as not ended and as ended is counted once, up to the moment at which the report
 *    began.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { DAY_MS } from '../../vocabulary/clock.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import { boundSince, usageRow } from '../../actors/arq/rows.ts'
import type { Caller, Control } from '../../actors/control.ts'
import type { PageCursor } from '../../actors/runtime/ports.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { type UsageQuery, type UsageReport, boundsOf, monthOf, openTally } from '../../actors/usage/tally.ts'
import type { Kernel } from '../kernel/kernel.ts'

const PAGE_ROWS = 1000
const LINES_MAX = 10_000
const PERIODS_MAX = 400

type Tally = ReturnType<typeof openTally>
/**
 * Marks a question for the usage of another project by a caller who may see only the own project; the answer is empty.
 */
const NOBODY = Symbol('nobody')
type Whose = string | null | typeof NOBODY
/** The project whose usage is asked for; null: all projects. */
const projectFor = ({ isAdmin, projectId }: Caller, { project }: UsageQuery): Whose => {
  if (isAdmin) return project
  return project === null || project === projectId ? projectId : NOBODY
}
const tooMany = (what: string) =>
  refuse({
    kind: 'conflict',
    reason: `The answer would have more than ${what}: ask for a longer period, or for less time.`,
  })

/** Adds the bindings that have not ended; returns the ids of their requests. */
const addOpen = async (
  { readers }: Kernel,
  where: object,
  asOf: number,
  tally: Tally,
): Promise<Outcome<ReadonlySet<string>>> => {
  const open = new Set<string>()
  for (let after: PageCursor | undefined; ;) {
    const page = { limit: PAGE_ROWS, ...(after && { after }) }
    const listed = await readers.list('arqs', { ...where, state: 'Bound' }, page)
    if (!listed.ok) return listed
    for (const row of listed.value.items) {
      const from = boundSince(row)
      if (from === null) continue
      const binding = usageRow(row, from, asOf)
      open.add(binding.id)
      tally.add(binding)
    }
    if (listed.value.next === null) return done(open)
    after = listed.value.next
    await turn()
  }
}
const addEnded = async (
  { readers }: Kernel,
  where: object,
  { from, asOf }: { readonly from: number; readonly asOf: number },
  { tally, open }: { readonly tally: Tally; readonly open: ReadonlySet<string> },
): Promise<Outcome<null>> => {
  for (let after: PageCursor = { value: from, key: '' }; ;) {
    const listed = await readers.list('usage', where, { limit: PAGE_ROWS, sort: 'until_at', after })
    if (!listed.ok) return listed
    for (const row of listed.value.items) if (!open.has(row.id)) tally.add(cut(row, asOf))
    if (tally.size() > LINES_MAX) return tooMany(`${LINES_MAX} lines`)
    if (listed.value.next === null) return done(null)
    after = listed.value.next
    await turn()
  }
}
const cut = (row: Row<'usage'>, asOf: number): Row<'usage'> => ({ ...row, until_at: Math.min(row.until_at, asOf) })

export const createUsage =
  (kernel: Kernel): Control['usage'] =>
  async (caller, asked): Promise<Outcome<UsageReport>> => {
    const asOf = kernel.clock.now()
    const { period } = asked
    const until = asked.until ?? asOf
    const from = asked.from ?? monthOf(until)
    if (until <= from) return refuse({ kind: 'conflict', reason: 'The end, until, must be after from.' })
    const days = (until - from) / DAY_MS
    if ((period === 'day' ? days : days / 31) > PERIODS_MAX && period !== 'total')
      return tooMany(`${PERIODS_MAX} periods`)
    const tally = openTally(boundsOf(from, until, period))
    const project = projectFor(caller, asked)
    if (project === NOBODY) return done({ from, until, asOf, lines: [] })
    const where = project === null ? {} : { project_id: project }
    const open = await addOpen(kernel, where, asOf, tally)
    if (!open.ok) return open
    const ended = await addEnded(kernel, where, { from, asOf }, { tally, open: open.value })
    return ended.ok ? done({ from, until, asOf, lines: tally.lines() }) : ended
  }
