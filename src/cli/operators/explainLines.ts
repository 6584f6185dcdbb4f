/** The text of `accelerando explain`. */
import { counted } from '../doctor/check.ts'
import type { Explanation } from './apiShapes.ts'

type Obstacle = Explanation['hosts'][number]['obstacles'][number]
type Group = Explanation['groups'][number]
type Host = Explanation['hosts'][number]

const PLACEMENT: Readonly<Record<Explanation['placement'], string>> = {
  asked: 'Placement was asked',
  not_configured: 'no Placement is configured',
  unreachable: 'Placement could not be asked',
}
const STOPPED = {
  bind: 'a bind is refused',
  work: 'its host cannot serve a bind',
  placement: 'Nova is not shown it',
} as const

const obstacleLines = ({ code, reason, change, stops }: Obstacle, indent: string): readonly string[] => [
  `${indent}${code}: ${reason} (${stops.map((stop) => STOPPED[stop]).join(', ')})`,
  `${indent}  ${change}`,
]
const groupLines = ({ group, arqs, devices, removed, nearest }: Group): readonly string[] => {
  const counts = Object.entries(removed).map(([code, count]) => `${code} ${count}`)
  return [
    `group ${group}: ${counted(arqs, 'accelerator request')}, ${counted(devices, 'device')} without an obstacle`,
    ...(counts.length > 0 ? [`  obstacles: ${counts.join(', ')}`] : []),
    ...(nearest
      ? [
          `  nearest: ${nearest.name} on ${nearest.host}`,
          ...nearest.obstacles.flatMap((each) => obstacleLines(each, '    ')),
        ]
      : []),
  ]
}
const hostLines = ({ host, fits, obstacles, groups }: Host): readonly string[] => [
  `${host}: ${fits ? 'fits' : 'does not fit'}`,
  ...obstacles.flatMap((each) => obstacleLines(each, '  ')),
  ...groups.flatMap(({ group, devices, left_out: leftOut }) => [
    ...devices.flatMap(({ name, obstacles: found }) => [
      `  group ${group}: ${name}${found.length > 0 ? '' : ' fits'}`,
      ...found.flatMap((each) => obstacleLines(each, '    ')),
    ]),
    ...(leftOut > 0 ? [`  group ${group}: ${counted(leftOut, 'further device')}`] : []),
  ]),
]

export const explainLines = (explanation: Explanation): readonly string[] => [
  `${explanation.hosts_fitting} of ${counted(explanation.hosts_checked, 'host')} ${explanation.hosts_fitting === 1 ? 'fits' : 'fit'}; ` +
    `${counted(explanation.devices_checked, 'device')} looked at; ${PLACEMENT[explanation.placement]}`,
  ...(explanation.warnings ?? []).flatMap(({ code, reason, change }) => [`warning: ${code}: ${reason}`, `  ${change}`]),
  ...explanation.groups.flatMap(groupLines),
  ...explanation.hosts.flatMap(hostLines),
  ...(explanation.hosts_left_out > 0
    ? [`${counted(explanation.hosts_left_out, 'further host')}; --limit shows more`]
    : []),
]

/** The name of the first profile that a host fits; null: none. */
export const firstThatFits = (explanations: readonly Explanation[]): string | null =>
  explanations.find(({ fits }) => fits)?.profile?.name ?? null

/** The lines for several profiles, in the order in which they were named. */
export const alternativesLines = (explanations: readonly Explanation[]): readonly string[] => {
  const first = firstThatFits(explanations)
  return [
    first === null ? 'none of them fits' : `the first that fits: ${first}`,
    ...explanations.map(({ profile, fits }, at) => `${at + 1}. ${profile?.name}: ${fits ? 'fits' : 'does not fit'}`),
    ...explanations.flatMap((one) => ['', `${one.profile?.name}:`, ...explainLines(one).map((line) => `  ${line}`)]),
  ]
}
