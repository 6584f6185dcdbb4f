/**
 * Finds the phase of each bind in flight at a kill, from open requests, the hosts' disks and, afterwards, the
 * timelines.
 */
import type { Account, Life, Phase } from './account.ts'
import { type Api, Lost, type OpenCall } from './api.ts'
import type { InHand } from './hosts.ts'

type Step = { readonly at: string; readonly step: string }
type Counts = Record<Phase, number>
/** What was observed at the moment of the kill. */
export type Snapshot = { readonly at: number; readonly open: readonly OpenCall[]; readonly lives: readonly Life[] }

const RECENT_MS = 30_000

export const snapshot = (at: number, api: Api, account: Account): Snapshot => ({
  at,
  open: [...api.open],
  lives: account.lives.filter(
    ({ acceptedAt, leaveSentAt }) =>
      acceptedAt !== null && at - acceptedAt < RECENT_MS && (leaveSentAt === null || at - leaveSentAt < 1000),
  ),
})

/** The phase of the bind of one ARQ, from its timeline; null: the bind had not started, or had ended. */
export const phaseOf = (steps: readonly Step[], killedAt: number, doneOnHost: boolean): Phase | null => {
  const before = (name: RegExp) => steps.some(({ step, at }) => name.test(step) && Date.parse(at) <= killedAt)
  if (!before(/^bind accepted$/) || before(/^(unbound|deleted)$/)) return null
  if (before(/^bound$|^bind failed$/)) return before(/^nova told/) ? null : 'event'
  if (before(/^prepared on the host$/)) return null
  return doneOnHost ? 'report' : 'order'
}

const stepsOf = async (api: Api, arq: string): Promise<readonly Step[]> => {
  try {
    const { status, body } = await api.call('GET', `/accelerator_requests/${arq}/timeline`)
    return status === 200 ? (body['steps'] as readonly Step[]) : []
  } catch (error) {
    if (error instanceof Lost) return []
    throw error
  }
}

/** Each bind counts once, in the phase of its slowest ARQ. */
export const phasesAt = async ({ at, open, lives }: Snapshot, inHand: InHand, api: Api): Promise<Counts> => {
  const sent = (method: string) => open.filter((call) => call.method === method && call.instance !== null).length
  const counts: Counts = { POST: sent('POST'), PATCH: sent('PATCH'), order: 0, report: 0, event: 0 }
  for (const { arqs } of lives) {
    const phases = await Promise.all(
      arqs.map(async (arq) => phaseOf(await stepsOf(api, arq), at, inHand.done.has(arq))),
    )
    const phase = (['order', 'report', 'event'] as const).find((one) => phases.includes(one))
    if (phase !== undefined) counts[phase]++
  }
  return counts
}
