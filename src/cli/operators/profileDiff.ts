/** Writes the differences between two versions of a device profile as lines. */
import type { Difference, Differences, Pair } from '../../vocabulary/profileDiff.ts'
import type { ProfileVersion } from './apiShapes.ts'

/** `group 0 resources:FPGA`, or the name of a field. */
export const partOf = ({ group, key }: Difference): string => (group === null ? key : `group ${group} ${key}`)

export const diffLines = ({ from, to }: Pair<ProfileVersion>, { parts }: Differences): readonly string[] => [
  `version ${from.version} of ${from.created_at}, and version ${to.version} of ${to.created_at}`,
  ...(parts.length === 0 ? ['they ask for the same'] : []),
  ...parts.flatMap((part) => [
    ...(part.from === null ? [] : [`- ${partOf(part)} = ${part.from}`]),
    ...(part.to === null ? [] : [`+ ${partOf(part)} = ${part.to}`]),
  ]),
]
