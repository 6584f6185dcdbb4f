/** Combines the judgements of all hosts into one answer for the cloud. Pure. */
import type { Explanation, GroupSummary, JudgedDevice, NearestMiss, ObstacleCode, Warning } from './answer.ts'
import { alternativesIn, INSTEAD_OF_ALTERNATIVES } from '../arq/groups.ts'
import { attachingWarnings } from './attaching.ts'
import { distanceOf, type HostJudgement } from './host.ts'
import type { RequestedGroup } from './judge.ts'

const countsOf = (devices: readonly JudgedDevice[]): GroupSummary['removed'] => {
  const counts: Partial<Record<ObstacleCode, number>> = {}
  for (const { obstacles } of devices) for (const { code } of obstacles) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** The nearest device; at equal distances, the one on the first host in the order of `hosts`. Null: a device fits. */
const nearestOf = (hosts: readonly HostJudgement[], group: number): NearestMiss | null => {
  let best: { readonly miss: NearestMiss; readonly distance: number } | null = null
  for (const { shown, all } of hosts)
    for (const { deployable, name, obstacles: own } of all[group]!) {
      const obstacles = [...shown.obstacles, ...own]
      const distance = distanceOf(obstacles)
      if (distance === 0) return null
      if (!best || distance < best.distance)
        best = { miss: { host: shown.host, deployable, name, obstacles }, distance }
    }
  return best?.miss ?? null
}

/** Such a profile comes from an import, or from a release that stored the key without reading it. */
const alternativesWarnings = (asked: readonly RequestedGroup[]): readonly Warning[] =>
  asked.flatMap(({ group: wanted }, group) =>
    alternativesIn(wanted).map((key) => ({
      code: 'alternatives_not_read',
      group,
      reason: `group ${group} has ${key}, which neither Nova nor this service reads: it asks for the rest of the group`,
      change: INSTEAD_OF_ALTERNATIVES,
    })),
  )

/** `hosts`: in the order in which they are shown. */
export const summarised = (
  asked: readonly RequestedGroup[],
  hosts: readonly HostJudgement[],
  placement: Explanation['placement'],
  limit: number,
): Explanation => {
  const fitting = hosts.filter(({ shown }) => shown.fits).length
  const groups = asked.map(({ arqs }, group): GroupSummary => {
    const devices = hosts.flatMap(({ all }) => all[group]!)
    return {
      group,
      arqs: arqs.length,
      devices: devices.filter(({ obstacles }) => obstacles.length === 0).length,
      removed: countsOf(devices),
      nearest: nearestOf(hosts, group),
    }
  })
  return {
    fits: fitting > 0,
    hostsChecked: hosts.length,
    devicesChecked: hosts.reduce((sum, { all }) => sum + (all[0]?.length ?? 0), 0),
    hostsFitting: fitting,
    placement,
    groups,
    warnings: [
      ...attachingWarnings(asked.map((_, group) => new Set(hosts.flatMap((one) => [...one.attaches[group]!])))),
      ...alternativesWarnings(asked),
    ],
    hosts: hosts.slice(0, limit).map(({ shown }) => shown),
    hostsLeftOut: Math.max(0, hosts.length - limit),
  }
}
