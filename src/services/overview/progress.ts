/**
 * The health of the service itself: late binds, overdue work, the journal, the publication to the bus, and violations
 * of what must never happen.
 */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import { FOUND, type Found, LATE_MAX, type Progress } from '../../actors/answers/tallied.ts'
import { instance } from '../../actors/instance/decider.ts'
import { type Counts, SLOT_DIFFERENCES } from '../../actors/runtime/counts.ts'
import { REFUSALS } from '../../actors/runtime/refusals.ts'
import type { Kernel } from '../kernel/kernel.ts'

const sumOf = (counts: Readonly<Record<string, number>>, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
/**
 * Refusals that need attention. A host whose key waits for approval keeps on reporting, so its refused reports are left
 * out.
 */
const ALARMING = REFUSALS.filter((reason) => reason !== 'not_approved')

const NUMBERS: Readonly<Record<Exclude<Found, 'deadLetters'>, (counts: Counts) => number>> = {
  viewsDiffer: ({ viewsDiffer }) => viewsDiffer,
  orphans: ({ orphans }) => orphans,
  slotDifferences: ({ slotDifferences }) => sumOf(slotDifferences, SLOT_DIFFERENCES),
  refusedReports: ({ refusedReports }) => sumOf(refusedReports, ALARMING),
}

export const createProgress = ({
  reads,
  journal,
  landmarks,
  surroundings,
  counts,
  clock,
  guard,
  options,
}: Kernel): (() => Promise<Outcome<Progress>>) => {
  const binds = async (): Promise<Progress['binds']> => {
    const where = { kind: instance.kind }
    // the moment 0 means: as soon as a worker looks
    const open = (await reads.page({ view: 'due', where, sort: 'at', limit: LATE_MAX })) ?? []
    const halfway = clock.now() + options.bindDeadlineMs / 2
    const late = open.filter(({ at }) => at > 0 && at <= halfway)
    return { late: late.length, nextAt: late[0]?.at ?? null }
  }
  const overdueSince = async (): Promise<number | null> => {
    const [oldest] = await reads.dueBefore(clock.now(), 1)
    return oldest?.at ?? null
  }
  const untoldSince = async (): Promise<number | null> => {
    if (surroundings === null) return null
    const [row] = await journal.feed(await journal.checkpoint(surroundings.relay), 1)
    return row?.at ?? null
  }
  const found = (): Progress['found'] =>
    Object.fromEntries(
      FOUND.map((name) => [
        name,
        name === 'deadLetters'
          ? (surroundings?.deadLetters() ?? { count: 0, lastAt: null })
          : { count: NUMBERS[name](counts), lastAt: counts.lastAt[name] },
      ]),
    ) as Progress['found']
  const newestAt = async (): Promise<number | null> => (await landmarks?.newest())?.at ?? null
  const isStopped = async (): Promise<boolean> => (await surroundings?.isStopped()) ?? false
  const read = <Value>(ask: () => Promise<Value>): Promise<Outcome<Value>> => {
    const asked = async (): Promise<Outcome<Value>> => done(await ask())
    return guard(asked(), 'journal')
  }
  return async () => {
    const moments = await allOf([read(overdueSince), read(untoldSince), read(newestAt)])
    const [bound, stopped] = await Promise.all([read(binds), read(isStopped)])
    if (!moments.ok) return moments
    if (!bound.ok) return bound
    if (!stopped.ok) return stopped
    const [overdue = null, untold = null, newest = null] = moments.value
    return done({
      binds: bound.value,
      overdueSince: overdue,
      journal: { newestAt: newest, untoldSince: untold, isStopped: stopped.value },
      found: found(),
      viewsChecked: counts.viewsChecked,
    })
  }
}
