/** Chooses two versions of a device profile, and finds the differences between them. Pure. */
import { ownValue } from './record.ts'

/** What a version asks for. A group is known by its place, which each accelerator request of it carries. */
export type Content = {
  readonly description: string | null
  readonly groups: readonly Readonly<Record<string, string>>[]
}
export type Difference = {
  /** The place of the group; null: it is not about a group. */
  readonly group: number | null
  /** Of the group, such as `resources:FPGA`, else the name of the field. */
  readonly key: string
  readonly change: 'added' | 'removed' | 'changed'
  readonly from: string | null
  readonly to: string | null
}
/** The groups that only one of the versions has, and the differences, in the order of the groups. */
export type Differences = {
  readonly added: readonly number[]
  readonly removed: readonly number[]
  readonly parts: readonly Difference[]
  /** How many parts are the same in both. */
  readonly same: number
}

const changeOf = (from: string | null, to: string | null): Difference['change'] =>
  from === null ? 'added' : to === null ? 'removed' : 'changed'
type Fields = Readonly<Record<string, string>>
const compared = (group: number | null, one: Fields, other: Fields): readonly Difference[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].map((key) => {
    const [from, to] = [ownValue(one, key) ?? null, ownValue(other, key) ?? null]
    return { group, key, change: changeOf(from, to), from, to }
  })
const described = ({ description }: Content): Fields => (description === null ? {} : { description })
const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)

export const differencesOf = (one: Content, other: Content): Differences => {
  const [before, after] = [one.groups.length, other.groups.length]
  const all = [
    ...numbers(0, Math.max(before, after)).flatMap((at) => compared(at, one.groups[at] ?? {}, other.groups[at] ?? {})),
    ...compared(null, described(one), described(other)),
  ]
  const parts = all.filter(({ from, to }) => from !== to)
  return { added: numbers(before, after), removed: numbers(after, before), parts, same: all.length - parts.length }
}

export type Pair<Version> = { readonly from: Version; readonly to: Version }
/** The number of a version, as it is typed. */
export const VERSION_NUMBER = /^[1-9][0-9]{0,8}$/
/**
 * The two versions with these numbers, as they were typed; without a number the newest version, and the one before it.
 * A text says which number is wrong.
 */
export const pairOf = <Version extends { readonly version: number }>(
  versions: readonly Version[],
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
): Pair<Version> | string => {
  const [before, newest] = [versions.at(-2) ?? versions.at(-1), versions.at(-1)]
  if (before === undefined || newest === undefined) return 'it has no version'
  for (const name of ['from', 'to'] as const) {
    const text = asked[name]
    if (text === undefined) continue
    if (!VERSION_NUMBER.test(text)) return `${name}: it must be the number of a version (is ${text})`
    if (!versions.some(({ version }) => String(version) === text))
      return `${name}: there is no version ${text}, or it is too old to be kept; there are ${versions[0]!.version} to ${newest.version}`
  }
  const numbered = (text: string | undefined, otherwise: Version): Version =>
    versions.find(({ version }) => String(version) === text) ?? otherwise
  return { from: numbered(asked.from, before), to: numbered(asked.to, newest) }
}
