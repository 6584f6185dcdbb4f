/** Names that must satisfy the rules of other services. Pure. */
import type { HostName } from '../vocabulary/identifiers.ts'

/** Placement takes provider names of at most 200 characters. */
const NAME_MAX = 200

/**
 * `<host>_<unit>`. Throws when the host name is too long, because a shortened name would not be unique in the cloud.
 */
export const deployableName = (hostname: HostName, unit: string): string => {
  const name = `${hostname}_${unit}`
  if (name.length > NAME_MAX) throw new Error(`hostname: '${name}' must not be longer than ${NAME_MAX} characters`)
  return name
}

/** Builds a trait from its parts: upper case, each run of other characters becomes one `_`, at most 255 characters. */
export const traitName = (...parts: readonly string[]): string =>
  parts
    .join('_')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9_]+/g, '_')
    .slice(0, 255)

/** `rc` and `trait0`, `trait1`, ... in this order. A trait that is given twice is reported once. */
export const attributesOf = (
  resourceClass: string,
  traits: readonly string[],
): readonly { readonly key: string; readonly value: string }[] => [
  { key: 'rc', value: resourceClass },
  ...[...new Set(traits)].map((value, n) => ({ key: `trait${n}`, value })),
]
