/** Finds the differences between two versions of a device profile. Pure. */
import type { ProfileVersion } from './apiShapes.ts'

export type Difference = { readonly part: string; readonly from: string | null; readonly to: string | null }

const partsOf = ({ description, groups }: ProfileVersion): ReadonlyMap<string, string> =>
  new Map([
    ...(description === null ? [] : [['description', description] as const]),
    ...groups.flatMap((group, at) =>
      Object.entries(group).map(([key, value]) => [`group ${at} ${key}`, value] as const),
    ),
  ])

export const differencesOf = (one: ProfileVersion, other: ProfileVersion): readonly Difference[] => {
  const [before, after] = [partsOf(one), partsOf(other)]
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((part) => ({ part, from: before.get(part) ?? null, to: after.get(part) ?? null }))
    .filter(({ from, to }) => from !== to)
}

export const diffLines = (
  one: ProfileVersion,
  other: ProfileVersion,
  differences: readonly Difference[],
): readonly string[] => [
  `version ${one.version} of ${one.created_at}, and version ${other.version} of ${other.created_at}`,
  ...(differences.length === 0 ? ['they ask for the same'] : []),
  ...differences.flatMap(({ part, from, to }) => [
    ...(from === null ? [] : [`- ${part} = ${from}`]),
    ...(to === null ? [] : [`+ ${part} = ${to}`]),
  ]),
]
