/**
 * The quota of accelerator requests of a project, decided in the append that creates them.
 *
 * QUOTA-1 each append that creates requests also writes a row of their project's quota, so all creations of a project,
 *    by any control, have an order;
 * QUOTA-2 the stored requests are counted after the total of admitted ones was read; requests admitted since then are
 *    added, so the sum is never too small. Deletions may make it too large, so a creation is refused only by a sum that
 *    was read for that creation;
 * QUOTA-3 without a quota, creations write no such row, so they do not wait for one another.
 */
import type { ArqUuid, EntityKey, ProjectId } from '../../vocabulary/identifiers.ts'
import { type Fault, type Outcome, done } from '../../vocabulary/fault.ts'
import { arqKey } from '../../actors/arq/decider.ts'
import { quota, quotaKey } from '../../actors/arq/quota.ts'
import type { Caller } from '../../actors/control.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, causeOf, newWork } from '../kernel/kernel.ts'

const PROJECTS_MAX = 10_000

/** At most `existing` requests existed when `admitted` requests had been admitted in total. */
type Sum = { readonly admitted: number; readonly existing: number }
type Guess = {
  readonly keys: readonly EntityKey[]
  readonly fresh: readonly EntityKey[]
  readonly sum: Sum
  /** True: the sum was read for this creation; false: it is remembered from an earlier one. */
  readonly read: boolean
}

const exceeded = (limit: number, asked: number, existing: number): Fault => ({
  kind: 'forbidden',
  rule:
    `The quota of the project is ${limit} accelerator requests (quota.arqs_per_project); ` +
    `it has ${existing}, and ${asked} more were asked for.`,
})

/**
 * Creates these requests for the caller's project; the plan creates them in the draft. Faults: forbidden, when the
 * quota is exceeded.
 */
export type Admit = <Value>(
  caller: Caller,
  arqs: readonly ArqUuid[],
  plan: (draft: Draft) => Value,
) => Promise<Outcome<Value | null>>

export const createAdmission = (kernel: Kernel): Admit => {
  const { units, region, readers, options } = kernel
  const limit = options.arqsPerProject
  const sums = new Map<ProjectId, Sum>()

  const readSum = async (project: ProjectId): Promise<Outcome<Sum>> => {
    const held = await region.readCurrent(quota, quotaKey(project))
    if (!held.ok) return held
    const listed = await readers.list('arqs', { project_id: project }, { limit })
    if (!listed.ok) return listed
    const sum = { admitted: held.value.state.admitted, existing: listed.value.items.length }
    if (sums.size >= PROJECTS_MAX) sums.clear()
    sums.set(project, sum)
    return done(sum)
  }
  const admit = (draft: Draft, key: EntityKey<'quota'>, { sum, read }: Guess, asked: number): boolean => {
    const since = draft.state(quota, key).admitted - sum.admitted
    if (since >= 0 && sum.existing + since + asked <= limit) {
      draft.decide(quota, key, { type: 'Admit', count: asked })
      return true
    }
    return read && since === 0 ? draft.refuse(exceeded(limit, asked, sum.existing)) : false
  }

  return async (caller, arqs, plan) => {
    const fresh = arqs.map(arqKey)
    if (limit === 0) return units.createTogether(fresh, newWork(kernel, causeOf(caller), plan))
    const key = quotaKey(caller.projectId)
    return transact(kernel, {
      subject: `the number of accelerator requests of project ${caller.projectId}`,
      cause: causeOf(caller),
      guess: async (attempt): Promise<Outcome<Guess>> => {
        const known = attempt === 0 ? sums.get(caller.projectId) : undefined
        const sum = known === undefined ? await readSum(caller.projectId) : done(known)
        return sum.ok ? done({ keys: [key], fresh, sum: sum.value, read: known === undefined }) : sum
      },
      plan: (draft, guess) => (admit(draft, key, guess, arqs.length) ? plan(draft) : MOVED),
    })
  }
}
