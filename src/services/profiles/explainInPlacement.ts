/** Asks Placement, as Nova would, about hosts that were first judged by the records, host by host. */
import type { Explanation, JudgedDevice, Obstacle } from '../../actors/explain/answer.ts'
import type { HostJudgement } from '../../actors/explain/host.ts'
import { type RequestedGroup, obstacle } from '../../actors/explain/judge.ts'
import type { CandidateGroup, Placement, PlacementError, PlacementResult } from '../../actors/placement/port.ts'
import { placementGroupOf } from '../../actors/placement/candidates.ts'
import type { Kernel } from '../kernel/kernel.ts'

/** How many hosts are asked about at once. */
const HOSTS_AT_ONCE = 8

/** Replaces the conclusion from the records by Placement's verdict. */
const agreed = (judgement: HostJudgement, fits: boolean): HostJudgement => {
  const kept = (found: readonly Obstacle[]): readonly Obstacle[] =>
    found.flatMap((one) => {
      const stops = one.stops.filter((stop) => stop !== 'placement')
      return stops.length > 0 ? [{ ...one, stops }] : []
    })
  const devicesOf = (devices: readonly JudgedDevice[]) =>
    devices.map((device) => ({ ...device, obstacles: kept(device.obstacles) }))
  const { shown, all } = judgement
  const groups = shown.groups.map((group) => {
    const devices = devicesOf(group.devices)
    return { ...group, devices, fits: group.fits || devices.some(({ obstacles }) => obstacles.length === 0) }
  })
  const now = { ...shown, fits, placement: true, groups, obstacles: kept(shown.obstacles) }
  return { ...judgement, all: all.map(devicesOf), shown: now }
}

const UNASKABLE: ReadonlySet<PlacementError> = new Set(['refused', 'unknownName'])

type Search = { readonly port: Placement; readonly groups: readonly CandidateGroup[] }
const verdictOf = async (
  { port, groups }: Search,
  judgement: HostJudgement,
): Promise<PlacementResult<HostJudgement>> => {
  const { shown, root } = judgement
  // a host without a compute node cannot be asked about, and a class that the host does not have needs no question
  if (root === null || !judgement.isNear) return { ok: true, value: judgement }
  const answer = await port.candidates({ groups, tree: root, eligible: false })
  if (!answer.ok && answer.error !== 'unknownName') return answer
  const ways = answer.ok ? answer.value : []
  const refused = (
    code: 'not_in_candidates' | 'node_not_eligible',
    reason: string,
  ): PlacementResult<HostJudgement> => ({
    ok: true,
    value: {
      ...judgement,
      shown: {
        ...shown,
        fits: false,
        placement: false,
        obstacles: [...shown.obstacles, obstacle(code, reason, 'placement')],
      },
    },
  })
  if (ways.length === 0) {
    const reason = answer.ok ? 'Placement offers no candidates on it' : answer.reason
    return shown.placement === false ? { ok: true, value: judgement } : refused('not_in_candidates', reason)
  }
  const eligible = await port.candidates({ groups, tree: root, eligible: true })
  // an older Placement does not support this query
  if (!eligible.ok && !UNASKABLE.has(eligible.error)) return eligible
  if (eligible.ok && eligible.value.length === 0)
    return refused('node_not_eligible', 'its compute node is disabled or does not report COMPUTE_ACCELERATORS')
  const fits = ways.some((way) => judgement.bindAccepts(way))
  return { ok: true, value: agreed(judgement, fits) }
}

const unknown = (judgement: HostJudgement): HostJudgement => ({
  ...judgement,
  shown: { ...judgement.shown, placement: null },
})

export const withPlacement = async (
  { placement: port }: Pick<Kernel, 'placement'>,
  asked: readonly RequestedGroup[],
  judged: readonly HostJudgement[],
): Promise<{ readonly judged: readonly HostJudgement[]; readonly placement: Explanation['placement'] }> => {
  if (port === null) return { judged, placement: 'not_configured' }
  const groups = asked.map(({ group }) => placementGroupOf(group))
  const now: HostJudgement[] = []
  for (let at = 0; at < judged.length; at += HOSTS_AT_ONCE) {
    const verdicts = await Promise.all(
      judged.slice(at, at + HOSTS_AT_ONCE).map((one) => verdictOf({ port, groups }, one)),
    )
    for (const one of verdicts) {
      if (!one.ok) return { judged: judged.map(unknown), placement: 'unreachable' }
      now.push(one.value)
    }
  }
  return { judged: now, placement: 'asked' }
}
